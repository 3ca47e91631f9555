"""The page of one run: its parts put together, with the facts of the run."""
