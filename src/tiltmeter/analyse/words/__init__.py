"""The wording of results: numerals, estimates, sentences, headlines, short names of models."""
