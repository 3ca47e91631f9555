"""Words that an answer picks from a given list, or freely."""
