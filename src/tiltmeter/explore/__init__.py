"""The explorer: pages to look at the outputs that a run's numbers were counted from. selection/
reads runs, browse/ builds pages, annotation/ collects labels, server serves.
"""
