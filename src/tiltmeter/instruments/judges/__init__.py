"""Instruments that ask another model about an output."""
