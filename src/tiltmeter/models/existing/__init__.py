"""Outputs that exist already, as models."""
