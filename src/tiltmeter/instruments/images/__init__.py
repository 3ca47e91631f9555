"""Attributes and colours of pictures."""
