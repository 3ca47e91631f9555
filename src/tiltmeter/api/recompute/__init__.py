"""Whether a run, or a folder that was exported from one, is what follows from its replies."""
