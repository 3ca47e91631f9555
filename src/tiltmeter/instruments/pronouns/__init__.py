"""The pronouns that a text uses, and the people that they refer to."""
