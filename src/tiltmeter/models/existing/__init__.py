"""Models that return outputs that exist already."""
