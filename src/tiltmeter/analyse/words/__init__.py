"""Text for numbers: numerals, estimates, sentences, headlines, short names of models."""
