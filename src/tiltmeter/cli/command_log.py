"""The log of a command, in a file or on standard error: the typed words, the versions, each call
and its result, the exit code; never a prompt, answer or key.
"""

from __future__ import annotations

import logging
import platform
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from ..errors import UsageError
from ..records import __version__
from ..report.page_model.sanitize import visible
from ..secret_filter import environment_secrets, mask

LOG = logging.getLogger("tiltmeter")
FORM = "%(asctime)s %(levelname)s %(message)s"


class _Masked(logging.Formatter):
    """A formatter of records as one line without keys."""

    def __init__(self, form: str) -> None:
        super().__init__(form)
        self.secrets = environment_secrets()

    def format(self, record: logging.LogRecord) -> str:
        return visible(mask(self.secrets, " ".join(super().format(record).split())))


class _LogFile(logging.FileHandler):
    """A handler that appends every record to a file; if that fails, it warns and stops."""

    def handleError(self, record: logging.LogRecord) -> None:
        LOG.removeHandler(self)
        with suppress(OSError):  # the rest of its buffer
            self.close()
        click.echo(f"warning: {self.baseFilename} cannot be written: the log ends here", err=True)


class _Screen(logging.Handler):
    """A handler that prints the larger steps on standard error, above any progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(self.format(record), err=True)


def start(path: str | None, verbose: bool, typed: Sequence[str], defaults: str) -> None:
    """Begins a log: in a file if a path is given, on standard error if verbose. defaults: a line
    about this folder's settings. Raises UsageError if the file cannot be written.
    """
    LOG.setLevel(logging.DEBUG)
    if path is not None:
        LOG.addHandler(_file(path))
    if verbose:
        screen = _Screen(logging.INFO)
        screen.setFormatter(_Masked("%(message)s"))
        LOG.addHandler(screen)
    LOG.info("tiltmeter %s, %s", __version__, defaults)
    LOG.debug("Python %s, %s", platform.python_version(), platform.platform())
    LOG.debug("typed: tiltmeter %s", shlex.join(typed))


def _file(path: str) -> _LogFile:
    try:
        Path(path).touch(0o600)
        file = _LogFile(path, encoding="utf-8", delay=False)
    except OSError as error:
        raise UsageError(
            f"--log {path} cannot be written: {error.strerror}. Name a file in a folder of yours."
        ) from None
    file.setFormatter(_Masked(FORM))
    return file


def stop(code: int) -> None:
    """Ends the log with a line about the exit code."""
    LOG.info("exit code %d", code)
    for handler in [each for each in LOG.handlers if isinstance(each, (_LogFile, _Screen))]:
        LOG.removeHandler(handler)
        handler.close()
