"""Statistics of judges: agreement, error rates against gold, and estimates corrected for them."""
