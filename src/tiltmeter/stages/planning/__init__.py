"""Trials, rounds, shards, power and cost, before a run."""
