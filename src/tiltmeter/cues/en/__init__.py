"""Rules and tables for English."""
