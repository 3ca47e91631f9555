"""What is typed, as the verbs receive it (`options.receives`), and as the API takes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:  # a first look at --help waits for nothing
    from ..api.options import AskOptions, BatchOptions, ChoiceOptions, ConnectOptions, JudgeOptions
    from ..api.tables import TableOptions
    from ..models import Price
    from .ending import Printing

Levels = tuple[tuple[str, tuple[str, ...]], ...]  # (factor, its levels)


@dataclass(frozen=True, kw_only=True)
class LayoutValues:
    """The options of `layout`."""

    rows: str | None
    columns: str | None
    show: str | None
    where: Levels
    percent: bool
    decimals: int | None
    leader: bool
    ranked: bool

    def table_options(self) -> TableOptions:
        """How a table is laid out."""
        return {
            "rows": _names(self.rows),
            "columns": _names(self.columns),
            "show": _names(self.show),
            "where": dict(self.where),
            "percent": self.percent,
            "decimals": self.decimals,
            "leader": self.leader,
            "ranked": self.ranked,
        }


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


@dataclass(frozen=True, kw_only=True)
class AskValues:
    """The options of `reach`. patience: minutes."""

    base_urls: tuple[tuple[str, str], ...]
    prices: tuple[tuple[str, Price], ...]
    columns: tuple[tuple[str, str], ...]
    concurrency: int | None
    rate: float | None
    max_cost: float | None
    timeout: float
    patience: float
    builtin_from: str | None
    workers: str | None

    def connect_options(self) -> ConnectOptions:
        """Where models are."""
        servers: dict[str, list[str]] = {}
        for whom, url in self.base_urls:
            servers.setdefault(whom, []).append(url)
        return {
            "base_url": servers.pop("", []),
            "base_urls": servers,
            "prices": dict(self.prices),
            "columns": dict(self.columns),
        }

    def ask_options(self) -> AskOptions:
        """How models are reached and what is allowed."""
        return {
            **self.connect_options(),
            "concurrency": self.concurrency,
            "rate": self.rate,
            "max_cost": self.max_cost,
            "timeout": self.timeout,
            "patience": 60 * self.patience,
            "builtin_from": self.builtin_from,
            "workers": self.workers,
        }


@dataclass(frozen=True, kw_only=True)
class BatchValues:
    """The options of `batch`. poll: seconds."""

    batch: bool
    wait: bool
    poll: float
    batch_file: str | None

    def batch_options(self) -> BatchOptions:
        """What goes to a provider in batches."""
        return {
            "batch": self.batch,
            "wait": self.wait,
            "poll": self.poll,
            "batch_file": self.batch_file,
        }


@dataclass(frozen=True, kw_only=True)
class ChoiceValues:
    """The options of `choices`. system: a file."""

    models: tuple[str, ...]
    languages: tuple[str, ...]
    modes: tuple[str, ...]
    samples: int | None
    limit: int | None
    where: Levels
    cross: tuple[str, ...]
    declension: str | None
    seed: int
    begin: str | None
    system: str | None
    temperature: float | None

    def choice_options(self) -> ChoiceOptions:
        """What is asked. --declension is a factor with an option of its own."""
        where = dict(self.where)
        if self.declension:
            where.setdefault("declension", tuple(self.declension.split(",")))
        return {
            "languages": self.languages,
            "modes": self.modes,
            "samples": self.samples,
            "limit": self.limit,
            "where": where,
            "cross": self.cross,
            "seed": self.seed,
            "begin": self.begin,
            "system": read_system(self.system),
            "temperature": self.temperature,
        }


def read_system(path: str | None) -> str | None:
    """The system prompt in a file, without the line end that editors leave; None for no file."""
    if path is None:
        return None
    from .. import intake

    try:
        return intake.read_text(path, intake.MOST_DECLARED_BYTES).rstrip("\n")
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        why = "is not UTF-8"
    raise UsageError(f"--system {path} {why}. Name a text file that holds the system prompt.")


@dataclass(frozen=True, kw_only=True)
class ResultValues:
    """How estimates are computed, held to thresholds and printed."""

    variant: str
    fail_if: tuple[str, ...]
    junit: str | None
    full: bool
    as_json: bool
    labels: tuple[tuple[str, str], ...]

    def printing(self, page: Path | None = None, as_csv: bool = False) -> Printing:
        """How results are printed. page: where the report goes, None for no report."""
        from .ending import Printing

        return Printing(
            self.variant, self.as_json, as_csv, page, self.full, self.junit, self.labels
        )


@dataclass(frozen=True, kw_only=True)
class JudgeValues:
    """Who labels beside the rules, and what."""

    judges: tuple[str, ...]
    judge_for: str
    sure: float | None
    taxonomy: str | None

    def judge_options(self) -> JudgeOptions:
        """As the verbs take them."""
        return {"judge_for": self.judge_for, "sure": self.sure}


@dataclass(frozen=True, kw_only=True)
class AuditValues(ChoiceValues, AskValues, BatchValues, JudgeValues, ResultValues):
    """What `run` and `plan` both take."""

    protocol: str
