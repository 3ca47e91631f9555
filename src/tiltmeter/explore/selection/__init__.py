"""Selections of outputs: the view in an address, the rows that it selects, one output in full."""
