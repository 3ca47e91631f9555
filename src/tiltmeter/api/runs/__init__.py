"""Runs: their folders and results, and the commands that fill and read them."""
