"""Results for others: deposits, exchange formats, trackers, JUnit."""
