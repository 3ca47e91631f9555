"""Annotation pages: items, marks, saved labels and the end page."""
