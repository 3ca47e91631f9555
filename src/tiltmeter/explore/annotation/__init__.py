"""Pages to annotate on: items, marks of pronouns, saved labels, and the end page."""
