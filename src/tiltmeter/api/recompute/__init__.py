"""Checks that a run, or a folder exported from one, follows from its stored replies."""
