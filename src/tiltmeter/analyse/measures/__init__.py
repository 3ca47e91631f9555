"""Measures over items, one file per kind of measure: each turns counts into rows of estimates."""
