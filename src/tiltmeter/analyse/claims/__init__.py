"""Claims of a run: families, evidence, verdicts, thresholds, and the outputs behind each claim."""
