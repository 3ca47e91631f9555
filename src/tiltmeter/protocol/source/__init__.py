"""Protocol files as written: line numbers, keys, and a subset of JSON Schema."""
