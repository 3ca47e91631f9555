"""Power: how often a row's own test rejects, and the smallest shift that the test detects."""
