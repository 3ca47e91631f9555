"""Which pronouns a text uses, and of whom."""
