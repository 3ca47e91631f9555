"""The explorer: what a run's numbers were counted from, to look at. index and detail read runs,
page shows, server serves.
"""
