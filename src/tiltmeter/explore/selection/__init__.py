"""Selections of outputs: the view in an address, the outputs in it, one output in detail."""
