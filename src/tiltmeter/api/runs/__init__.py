"""Runs: their folders, their results, and the verbs that fill and read them."""
