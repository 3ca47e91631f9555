"""Models with a tilt of known size, for tests, tutorials and self-checks: in this process or served
over HTTP.
"""
