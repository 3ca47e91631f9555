"""Models that are somebody's own code: a Python function, a command. What executes is named by the
person who runs the audit, never by a run, a protocol or a project's file.
"""
