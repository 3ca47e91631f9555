"""Label counts per item and condition: the tables that every measure is computed from."""
