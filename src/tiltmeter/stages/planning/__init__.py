"""Planning before a run: trials, rounds, shards, power and cost."""
