"""Runs that stop early once their claims are decided: the claims before the first output, the
results of each look at the labels, and estimates corrected for looks (docs/how-to/stopping.md).
"""
