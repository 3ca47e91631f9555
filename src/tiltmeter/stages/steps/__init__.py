"""Steps of a run: connect, generate, label, discover, import, merge."""
