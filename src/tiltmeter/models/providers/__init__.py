"""The dialects of providers: one file each, with two pure functions, `build` and `parse`."""
