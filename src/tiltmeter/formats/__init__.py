"""A finished run in the formats of others: evidence for an auditor, a folder to deposit, a
citation.
"""
