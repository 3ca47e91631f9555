"""Estimates corrected for a judge's errors, by gold labels."""
