"""The dialects of providers: one file each, two pure functions each."""
