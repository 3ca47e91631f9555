"""Plans: calls, cost and detectable differences, before anything is asked."""
