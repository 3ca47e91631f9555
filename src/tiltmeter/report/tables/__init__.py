"""Tables of a page: estimates, cross tables, judges, composition, quotes."""
