"""The engine: requests in, stored replies out, within limits, retries and a budget."""
