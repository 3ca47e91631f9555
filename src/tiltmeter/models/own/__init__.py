"""Models that are the user's own code: a Python function, a command. Only the person who runs the
audit can name code to execute; a run, a protocol or a project's file cannot.
"""
