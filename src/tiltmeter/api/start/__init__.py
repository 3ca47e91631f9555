"""Audits of the user's own: new files, and prompts or outputs that exist already."""
