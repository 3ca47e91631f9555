"""The first sentence of a report: claims as facts and as clauses; situations and their words."""
