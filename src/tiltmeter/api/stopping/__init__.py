"""Runs that stop early: the looks of a run, and their forecast."""
