"""Runs that stop when they know: their claims before the first output, what each look makes of the
labels, and what looks make of the estimates (docs/how-to/stopping.md).
"""
