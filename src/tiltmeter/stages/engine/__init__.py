"""The engine: takes requests, stores replies, and keeps limits, retries and a budget."""
