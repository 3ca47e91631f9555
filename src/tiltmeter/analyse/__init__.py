"""Labels → estimates → verdicts. Nothing is imported here, so that a page that needs one name of
this package does not load numpy and polars. `run_estimates` and `strata` compute.
"""
