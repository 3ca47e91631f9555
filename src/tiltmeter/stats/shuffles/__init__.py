"""Tests by shuffling: signs, labels and whole rows reassigned at random, many draws at once."""
