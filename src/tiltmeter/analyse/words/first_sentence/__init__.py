"""The first sentence: claims as facts, as clauses, together; the situations and their words."""
