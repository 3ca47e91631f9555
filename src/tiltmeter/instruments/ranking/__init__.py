"""Reads who an answer ranks first, second, … of a few people whom its prompt names."""
