"""Differences between runs: comparisons of two runs, histories of many."""
