"""The page of one run: its content and the facts of the run."""
