"""Audits of one's own: new files, and prompts that exist already."""
