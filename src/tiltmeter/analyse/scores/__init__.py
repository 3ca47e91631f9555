"""Scores of whole outputs, published forms of scores and means, and changes by a mitigation."""
