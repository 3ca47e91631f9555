"""Selections of outputs: the view in an address, the rows that it names, one output in full."""
