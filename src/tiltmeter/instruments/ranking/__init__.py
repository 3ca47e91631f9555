"""Reading of who an answer ranks first, second, … among a few people named in its prompt."""
