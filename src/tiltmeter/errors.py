"""All errors that tiltmeter raises on purpose. docs/reference/messages.md has each class's `slug`.

TiltmeterError             exit 1   the message says what to type
├── UsageError             exit 2   a request for something that does not exist or fit
│   ├── UnknownName                 an unknown name; the message suggests the nearest one
│   ├── ProtocolError               a protocol file or its data is wrong: file, place, remedy
│   └── MissingExtra                an optional part is not installed: the install line
├── RunError                        a run folder cannot be used in this way
│   ├── RunMismatch                 it holds something else: the difference is named
│   ├── RunBusy                     another process writes to it
│   └── StoreError                  disk full, damaged file, newer schema
├── ModelError                      a model cannot answer at all: the run stops at once
│   ├── MissingKey                  no key in the environment
│   └── Incapable                   it lacks what the audit needs (log-probabilities, vision)
├── TransientError                  one call failed and may be sent again (engine only)
├── Unanswered                      one trial stays without an answer (engine only)
├── BudgetError                     the cost cap would be passed, or a price is unknown
├── PilotStopped           exit 6   the first replies show that nothing would be measured
├── Interrupted                     stopped by the user; everything received is stored
└── BatchesOut             exit 5   nothing is wrong: a provider works on batches; come back
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable
from pathlib import Path

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # on the disk, for this user, for one file
TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)
MORE_FILES = (
    "Raise the limit (ulimit -n 4096) or lower --concurrency, and run the same command again."
)


class TiltmeterError(Exception):
    """Base of all errors; `str(error)` is one or two lines for a person."""

    slug = "error"
    exit_code = 1
    possibly_paid = False  # True if a request was sent that the provider may charge for


class UsageError(TiltmeterError):
    """A request for something that does not exist or does not fit."""

    slug = "usage"
    exit_code = 2


class UnknownName(UsageError):
    """An unknown name; the message suggests the nearest known one."""

    slug = "unknown-name"

    def __init__(self, what: str, name: str, known: Iterable[str], hint: str = "") -> None:
        names = list(known)
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        if near:
            tail = f" Did you mean '{near[0]}'?"
        elif names:
            tail = f" There is: {', '.join(names[:12])}{', …' if len(names) > 12 else ''}."
        else:
            tail = ""
        super().__init__(f"No {what} '{name}'.{tail}{' ' + hint if hint else ''}")


class ProtocolError(UsageError):
    """A protocol file, or data that it names, is wrong."""

    slug = "protocol"


def install_line(extra: str) -> str:
    """Returns the command that installs an extra: from the clone, else from a package index."""
    if (Path(__file__).parents[2] / "pyproject.toml").is_file():
        return f"pip install '.[{extra}]'"
    clone = _installed_from()
    where = "tiltmeter" if clone is None else "." if clone == Path.cwd() else str(clone)
    return f"pip install '{where}[{extra}]'"


def _installed_from() -> Path | None:
    """Returns the folder that `pip install .` copied this package from, if it is still there."""
    import json
    from importlib import metadata
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        record = metadata.distribution("tiltmeter").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    address = urlsplit(str(json.loads(record)["url"]) if record else "")
    folder = Path(url2pathname(address.path))
    is_there = address.scheme == "file" and (folder / "pyproject.toml").is_file()
    return folder if is_there else None


class MissingExtra(UsageError):
    """An optional part is needed and not installed."""

    slug = "missing-extra"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}'. Type: {install_line(extra)}")


class RunError(TiltmeterError):
    """A run folder cannot be used in this way."""

    slug = "run"


class RunMismatch(RunError):
    """The run folder holds another protocol, or the same with a changed option."""

    slug = "run-mismatch"


class RunBusy(RunError):
    """Another process is writing to the run."""

    slug = "run-busy"


class StoreError(RunError):
    """The run file cannot be read or written."""

    slug = "store"


class ModelError(TiltmeterError):
    """A model cannot answer at all: wrong key, unknown model, not a chat server.

    raw: the body of the one reply that caused the error; None if every reply would cause it.
    """

    slug = "model"

    def __init__(self, message: str, raw: str | None = None, possibly_paid: bool = False) -> None:
        super().__init__(message)
        self.raw, self.possibly_paid = raw, possibly_paid


class MissingKey(ModelError):
    """The environment holds no key for this model."""

    slug = "missing-key"


class Incapable(ModelError):
    """The model lacks something that the audit needs."""

    slug = "incapable"


class TransientError(TiltmeterError):
    """One call failed in a way that may pass: 429, 5xx, time-out, lost connection.

    `retry_after` is in seconds, or None if the server did not say. is_full: True if the server
    works but has no capacity for the call now.
    """

    slug = "transient"

    def __init__(
        self,
        message: str,
        retry_after: float | None = None,
        possibly_paid: bool = False,
        is_full: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after, self.possibly_paid = retry_after, possibly_paid
        self.is_full = is_full


class Unanswered(TiltmeterError):
    """One request has no answer and never will have (a gap in a file); the run goes on."""

    slug = "unanswered"

    def __init__(self, message: str, possibly_paid: bool = False) -> None:
        super().__init__(message)
        self.possibly_paid = possibly_paid


class BudgetError(TiltmeterError):
    """The next call would pass the cost cap, or its price is unknown."""

    slug = "budget"


class PilotStopped(TiltmeterError):
    """The first replies show that a run would measure nothing. typed: options to try."""

    slug = "pilot"
    exit_code = 6

    def __init__(self, message: str, typed: str = "") -> None:
        super().__init__(message)
        self.typed = typed


class Interrupted(TiltmeterError):
    """An interruption by the user; everything that was received is stored."""

    slug = "interrupted"


class BatchesOut(TiltmeterError):
    """Batches were submitted and have not ended; the same command collects them later."""

    slug = "batches-out"
    exit_code = 5
