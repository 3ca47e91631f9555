"""Pages of the explorer: pairs, wall, counts, search, contact sheet, corrections, reports."""
