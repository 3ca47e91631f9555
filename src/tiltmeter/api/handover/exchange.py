"""The formats in which `export` writes a finished run, including those of other tools.

People are P1, P2, …; folders, addresses and keys are left out.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ...errors import UsageError
from ...records import Json
from ...store import now
from ...store.queries import outputs, trials
from ...system.writing import file_stem
from ..runs.run_folder import Run
from .deposits import export_audit, export_crate, new_folder
from .outgoing import outgoing

if TYPE_CHECKING:
    from ...formats.inspect_log import InspectLog

Writer: TypeAlias = Callable[["Path | str", "Path | str", bool, str], list[Path]]


def export(
    folder: Path | str, target: Path | str, format: str = "parquet", variant: str = "default"
) -> list[Path]:
    """Writes a run into a folder and returns the paths of the files. format: parquet, csv or jsonl
    for tables (trials, outputs, labels, calls, a variant's estimates) with a column per factor; or
    another of FORMATS, which then leaves out texts.
    """
    return export_as(format, folder, target, variant=variant)


def export_as(
    format: str,
    folder: Path | str,
    target: Path | str,
    *,
    texts: bool = False,
    variant: str = "default",
) -> list[Path]:
    """Writes a run in one of FORMATS. texts: True to include answers. Raises UsageError."""
    if format not in FORMATS:
        raise UsageError(f"There is no format '{format}'. The formats: {', '.join(FORMATS)}.")
    return FORMATS[format](folder, target, texts, variant)


def _tables(format: str) -> Writer:
    def write(folder: Path | str, target: Path | str, texts: bool, variant: str) -> list[Path]:
        from ..runs import table_files

        return table_files.write(Run(folder), Path(target), format, variant)

    return write


def export_every_eval_ever(
    folder: Path | str, target: Path | str, *, texts: bool = False, variant: str = "default"
) -> list[Path]:
    """Writes the estimates and labels of a run in the format of Every Eval Ever (0.3.0) into a new
    folder, laid out like its data store: a JSON and a JSON-lines file per model; returns the files.
    texts: True to include answers.
    """
    from ...formats import every_eval_ever, samples

    with new_folder(target) as target, outgoing(folder, variant) as run:
        for place, subject in enumerate(trials.subjects(run.store)):
            evaluation = every_eval_ever.Evaluation(
                run.protocol,
                run.hide(subject),
                int(time.time()) + place,
                run.ended,
                [part for part in trials.parts(run.store) if part.subject == subject],
                run.judges,
            )
            path = target / f"{evaluation.stem}.json"
            path.parent.mkdir(parents=True)
            rows = every_eval_ever.instances(
                evaluation, samples.samples(run.store, subject, run.hide), texts
            )
            checksum, number = _write_lines(path.with_name(f"{path.stem}_samples.jsonl"), rows)
            instances = every_eval_ever.describe_instances(evaluation, checksum, number)
            written = every_eval_ever.aggregate(evaluation, run.of(subject), instances)
            path.write_text(
                json.dumps(written, ensure_ascii=False, indent=1) + "\n", "utf-8", newline="\n"
            )
        return sorted(path for path in target.rglob("*") if path.is_file())


def export_inspect(
    folder: Path | str, target: Path | str, *, variant: str = "default"
) -> list[Path]:
    """Writes a run as logs of Inspect into a new folder, one per model and mode, with prompts,
    answers, labels as scores and headline claims as metrics; returns the files.
    """
    from ...formats import inspect_log, samples

    with new_folder(target) as target, outgoing(folder, variant) as run:
        parts = trials.parts(run.store)
        for subject, mode in dict.fromkeys((part.subject, part.mode) for part in parts):
            mine = [part for part in parts if (part.subject, part.mode) == (subject, mode)]
            answered = sum(part.answered for part in mine)
            log = inspect_log.InspectLog(
                run.protocol,
                run.hide(subject),
                mine[0]._replace(answered=answered),
                run.begun or now(),
                run.ended or now(),
                [claim for claim in run.claims(subject) if _mode(claim) in (mode, "")],
            )
            rows = samples.samples(run.store, subject, run.hide)
            inspect_log.write_log(
                _path_of(target, log), log, (one for one in rows if one.trial.mode == mode)
            )
        return sorted(target.iterdir())


def export_replies(folder: Path | str, target: Path | str) -> list[Path]:
    """Writes the replies that people labelled, with their labels, into a new folder as JSON lines,
    one file per language; returns the files. Raises UsageError if people labelled no reply.
    """
    from ...formats import replies, samples

    with new_folder(target) as target, outgoing(folder, "default") as run:
        lines: dict[str, list[Json]] = {}
        for subject in trials.subjects(run.store):
            found = samples.samples(run.store, subject, run.hide)
            for language, row in replies.rows(run.protocol, found):
                lines.setdefault(language, []).append(row)
        if not lines:
            raise UsageError(
                f"Nobody has labelled an answer of this run. Type: tiltmeter annotate {folder}"
            )
        for language, rows in lines.items():
            written = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            _write_lines(target / f"{file_stem(run.protocol.name, language)}.jsonl", written)
        return sorted(target.iterdir())


def export_hugging_face(
    folder: Path | str, target: Path | str, *, texts: bool = False, variant: str = "default"
) -> list[Path]:
    """Writes a run as a data set for the Hugging Face Hub into a new folder: README.md, which is
    its card, and outputs, labels that count and estimates as Parquet; returns the files. texts:
    True to include answers.
    """
    from ...formats import dataset_card
    from ..runs.frames import estimates_frame
    from ..runs.table_files import WRITERS, published_pieces

    with new_folder(target) as target, outgoing(folder, variant) as run:
        (target / "data").mkdir()
        tables = {
            "outputs": published_pieces(run.store, "outputs", run.hide, texts),
            "labels": published_pieces(run.store, "labels", run.hide, texts),
            "estimates": [estimates_frame(run.every_estimate())],
        }
        for name, pieces in tables.items():
            WRITERS["parquet"](pieces, target / dataset_card.path_of(name))
        levels = trials.levels_asked(run.store)
        languages = sorted({row["language"] for row in levels if row.get("language")})
        card = dataset_card.card(
            run.content(texts),
            languages,
            outputs.number(run.store),
            texts,
            outputs.have_pictures(run.store),
        )
        (target / "README.md").write_text(card, "utf-8", newline="\n")
        return sorted(path for path in target.rglob("*") if path.is_file())


def _mode(claim: Mapping[str, Json]) -> str:
    condition = claim["condition"]
    return str(condition.get("mode", "")) if isinstance(condition, Mapping) else ""


def _path_of(target: Path, log: InspectLog) -> Path:
    """Returns the path `PROTOCOL_MODEL_MODE.eval` for a log, with a number if the path is taken."""
    stem = file_stem(log.protocol.name, log.model, log.part.mode)
    numbered = (target / f"{stem}{f'-{n}' if n > 1 else ''}.eval" for n in count(1))
    return next(path for path in numbered if not path.exists())


def _write_lines(path: Path, lines: Iterable[str]) -> tuple[str, int]:
    """Writes lines; returns (their SHA-256, their number). Removes the file if there is no line."""
    checksum, number = hashlib.sha256(), 0
    with path.open("wb") as file:
        for line in lines:
            content = line.encode()
            file.write(content)
            checksum.update(content)
            number += 1
    if not number:
        path.unlink()
    return checksum.hexdigest(), number


# A new format is a function in this file, and its name here. It gets the run, the folder to write
# to, whether texts go with it, and the variant.
FORMATS: dict[str, Writer] = {
    **{name: _tables(name) for name in ("parquet", "csv", "jsonl")},
    "audit": lambda run, target, texts, _: export_audit(run, target, texts=texts),
    "crate": lambda run, target, *_: export_crate(run, target),
    "every-eval-ever": lambda run, target, texts, variant: export_every_eval_ever(
        run, target, texts=texts, variant=variant
    ),
    "replies": lambda run, target, *_: export_replies(run, target),
    "inspect": lambda run, target, _, variant: export_inspect(run, target, variant=variant),
    "huggingface": lambda run, target, texts, variant: export_hugging_face(
        run, target, texts=texts, variant=variant
    ),
}
