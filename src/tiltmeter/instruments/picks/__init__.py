"""Words that an answer picks from a list, or of its own."""
