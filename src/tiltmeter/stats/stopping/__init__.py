"""Runs that stop early with their error rates kept: group-sequential tests of a family of claims.

Imports nothing, like all of `stats`. A ``StoppingDesign`` (``design``) is frozen before the first
output; the data of a claim up to a look are in ``paths`` (items) and ``blocks`` (whole outputs);
``sequential`` computes a p that is valid at any stop, ``decision`` applies the family's rule and
futility (``rules``), ``boundaries`` and ``after`` are for estimates after stopping, and ``planned``
simulates a design before the run, many runs at once (``follow``).
"""
