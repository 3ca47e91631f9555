"""Languages: how an answer is written, which language it is in."""
