"""Runs that stop early: their looks (interim analyses), and their forecast."""
