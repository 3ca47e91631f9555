"""Reading of a protocol's file: its schema, its parts, and errors with a line number."""
