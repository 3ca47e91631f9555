"""The explorer: pages to look at the outputs that a run's numbers were counted from. index and
detail read runs, page builds a view, server serves.
"""
