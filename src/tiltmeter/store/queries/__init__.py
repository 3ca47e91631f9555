"""Queries of a run, each for one purpose: one function per question, named after its result.

By subject: settings, trials, calls, outputs, labels, artefacts, whole tables. Each takes an open
run and returns plain values or small named tuples; JSON in a column is parsed.
"""
