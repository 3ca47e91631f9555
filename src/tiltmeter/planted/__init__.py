"""Models with a tilt of known size, for tests, tutorials, self-checks; in process or over HTTP."""
