"""What is read from a run for a purpose: one function a question, named after what it returns.

By subject: settings, trials, calls, outputs, labels, artefacts, whole tables. Each takes an open
run and returns plain values or small named tuples; what stands in a column as JSON comes as what it
is.
"""
