"""Providers of batches on one's own machine, one for each wire format, with a ledger of what was billed.

Written from the public documentation and held by the types of the providers' own SDKs
(tests/models/test_batch_formats.py). Each line of a batch is answered by the planted model that the
ordinary endpoints of the same server ask.
"""
