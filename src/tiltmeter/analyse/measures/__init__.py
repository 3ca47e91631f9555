"""Measures over items: counts in, estimate rows out; one file per kind of measure."""
