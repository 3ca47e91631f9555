"""Checks of an installation: the doctor, and audits with planted tilts that must be detected."""
