"""Dataclasses of a page: plain text and numbers that every renderer lays out."""
