"""Labels → estimates → verdicts. Nothing is imported here: a page that needs one name of this room
does not wait for numpy and polars. `run_estimates` and `strata` compute.
"""
