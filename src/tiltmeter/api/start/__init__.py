"""New audits of the user's own: template files, and prompts or outputs that exist already."""
