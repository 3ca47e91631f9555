"""Checks of an installation: the doctor, and planted audits that must be read back."""
