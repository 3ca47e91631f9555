"""Batches: requests held back, submitted together, collected later."""
