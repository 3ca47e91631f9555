"""A planted model behind HTTP, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def planted_server(settings: str) -> Iterator[str]:
    """Yields the base URL."""
    command = [sys.executable, "-m", "tiltmeter.models.serve", settings, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
