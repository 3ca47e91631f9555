"""Dataclasses of a page: plain text and numbers for renderers to lay out."""
