"""Dataclasses of a page: plain text and numbers that renderers lay out."""
