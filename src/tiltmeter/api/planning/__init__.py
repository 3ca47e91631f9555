"""Plans made before a run: calls, cost and detectable differences."""
