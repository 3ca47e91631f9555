"""Pages of several runs: reports side by side, changes, histories."""
