"""Computes estimates from labels, and verdicts from estimates. This file imports nothing, so that a
caller of one name does not load numpy and polars. Start at `run_estimates` and `strata`.
"""
