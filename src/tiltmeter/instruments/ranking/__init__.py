"""Parsers of answers that rank a few people named in the prompt."""
