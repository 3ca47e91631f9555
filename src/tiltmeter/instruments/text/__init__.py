"""Tools for the layout of answers (JSON, lists, marked thinking) and for non-answers in prose."""
