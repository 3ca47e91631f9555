"""Scores of whole outputs: divergence, concentration, and the published forms of both."""
