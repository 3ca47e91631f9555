"""Checks that a run, or a folder exported from a run, follows from the stored replies."""
