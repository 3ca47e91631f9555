"""One answer out of named options: read from text, or from the probabilities of the next token."""
