"""Runs: their folders, their results, and the commands that fill and read them."""
