"""A finished run in the formats of others: evidence for auditors, a deposit, a citation."""
