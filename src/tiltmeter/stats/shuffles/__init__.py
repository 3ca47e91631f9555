"""Tests by shuffling: signs, labels and whole rows dealt anew, many draws at once."""
