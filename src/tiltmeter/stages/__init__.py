"""The stages of a run: plan, generate, label, discover, import; and the engine that asks models."""
