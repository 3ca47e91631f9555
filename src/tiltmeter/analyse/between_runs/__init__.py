"""Differences between runs: comparisons of two, histories of many."""
