"""The form of answers: JSON, lists, thoughts, and prose that is not an answer."""
