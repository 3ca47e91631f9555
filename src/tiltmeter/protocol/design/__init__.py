"""Designs: the tables of a protocol joined to cells, its contrasts, pairs and selections."""
