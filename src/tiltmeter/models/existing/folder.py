"""Pictures that exist already: `folder:PATH`. They cost nothing; no model is called.

A file is assigned to a trial in one of two ways:

- A manifest in the folder, `manifest.csv` or `manifest.jsonl`, with a row per picture: `file` (its
  path below the folder), and `id` (a trial's), or `prompt` with or without `sample`, or the factors
  of the trial, as in the lines of `file:` (stored.py). `outcome` may be refusal or error, and then
  no file is needed; `model` is the name of the picture's maker; other columns are ignored. So the
  table that `tiltmeter plan … --trials FILE` writes is a manifest once it has a column `file`.
- A pattern of names: `folder:PATH?pattern={word}_{sample}.png`. A slot is a factor or the item of
  the trial, or `mode`, `id`, `sample` (from 0) or `number` (from 1); `{number:03}` has three
  digits. Case does not matter, nor whether words are separated by blanks, `_` or `-`.

A trial without a file stays open (`Unanswered`): add the file and run the same command again. An
unusable picture is an outcome that names it. A name that leads out of the folder is refused.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ... import images
from ...errors import ModelError, UnknownName, UsageError
from ...records import ANSWER, ERROR, Reply, Request
from ...system import intake
from .. import FREE
from ..http.connection import MAX_REPLY_BYTES
from ..kinds import ModelKind
from ..options import DEFAULTS, PICTURES, ModelOptions
from .answers import AnswerLine, Answers
from .readers import read_lines
from .stored import Stored, trial_and_sample, wanted_by

MANIFESTS = ("manifest.csv", "manifest.jsonl")
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
_PATTERN = "?pattern="
_SLOT = re.compile(r"\{(\w+)(?::0(\d))?\}")
_PARTED = re.compile(r"[\s_-]+")


class Folder(Stored):
    """A folder of pictures as a model, `folder:PATH` or `folder:PATH?pattern=NAME`.
    options.factors: returns the factors of a trial, to fill the pattern's slots.
    """

    makes = ("pictures",)

    def __init__(self, name: str, options: ModelOptions = DEFAULTS) -> None:
        super().__init__(f"folder:{name}")
        path, _, self._pattern = name.partition(_PATTERN)
        self._folder, self._factors, self._columns = Path(path), options.factors, options.columns
        self._answers: Answers | None = None
        self._files: dict[str, list[str]] = {}

    async def open(self) -> None:
        """Reads the manifest, or lists the pictures. Raises UsageError if the folder is missing."""
        if not self._folder.is_dir():
            raise UsageError(f"There is no folder {self._folder}. Type: --model folder:PATH")
        if self._pattern:
            for file in sorted(self._folder.rglob("*")):
                if file.suffix.lower() in SUFFIXES:
                    name = file.relative_to(self._folder).as_posix()
                    self._files.setdefault(_fold_name(name), []).append(name)
            return
        manifest = next(
            (self._folder / name for name in MANIFESTS if (self._folder / name).is_file()), None
        )
        if manifest is None:
            raise UsageError(
                f"{self._folder} has no {' or '.join(MANIFESTS)} that says which picture answers "
                "what. Make one "
                f"(file,prompt,sample), or name a pattern: --model 'folder:{self._folder}{_PATTERN}"
                "{FACTOR}_{sample}.png'"
            )
        self._answers = Answers(manifest, self._lines(manifest))

    def _lines(self, manifest: Path) -> Iterator[AnswerLine]:
        for each in read_lines(manifest, "file", self._columns):
            file = each.reply.text
            if file and not intake.is_inside(self._folder, self._folder / file):
                raise ModelError(
                    f"{manifest}, line {each.number}: '{each.reply.text}' lies outside the "
                    "folder. Put it inside."
                )
            # the same prompt may be drawn in two modes
            yield each._replace(prompt=None, sample=None) if each.id else each

    async def ask(self, request: Request) -> Reply:
        """Returns the trial's picture as a reply. Raises Unanswered if row or file is missing."""
        trial, sample = trial_and_sample(request)
        if self._answers is None:
            reply = Reply(self._expected_file(trial, sample), usage=(0, 0))
        else:
            line = self._answers.find(wanted_by(request, self._factors))
            reply = self.answer_or_open(line and line.reply, request, "Add the missing rows.")
        if reply.outcome != ANSWER:
            return reply
        return self.answer_or_open(
            await asyncio.to_thread(self._with_picture, reply),
            request,
            f"There is no file {reply.text}.",
        )

    def _expected_file(self, trial: str, sample: int) -> str:
        """Returns a trial's file name by the pattern, spelt as on the disk if the file exists."""
        factors = self._factors(trial) if self._factors else {}
        slots: dict[str, str] = {
            **factors,
            "id": trial,
            "sample": str(sample),
            "number": str(sample + 1),
        }

        def value(match: re.Match[str]) -> str:
            if match[1] not in slots:
                raise UsageError(f"{self.name}: {UnknownName('slot', match[1], slots)}")
            return slots[match[1]].zfill(int(match[2] or 0))

        wanted = _SLOT.sub(value, self._pattern)
        candidates = self._files.get(_fold_name(wanted), [wanted])
        if len(candidates) > 1:
            raise ModelError(
                f"{self._folder} has {candidates[0]} and {candidates[1]}, and each may be "
                f"{wanted}. Rename one of these files."
            )
        return candidates[0]

    def _with_picture(self, reply: Reply) -> Reply | None:
        """Adds the bytes of the file that a reply names; returns None if the file is missing."""
        file = self._folder / reply.text
        if not intake.is_inside(self._folder, file):
            raise ModelError(f"'{reply.text}' lies outside {self._folder}. Put it inside.")
        if not file.is_file():
            return None
        try:
            if file.stat().st_size > MAX_REPLY_BYTES:
                raise images.Unusable(f"has more than {MAX_REPLY_BYTES // 2**20} MiB")
            content = intake.read_bytes(file, MAX_REPLY_BYTES)
            images.check_picture(content)
        except images.Unusable as problem:
            return replace(reply, text=f"the picture {reply.text} {problem}", outcome=ERROR)
        except OSError as error:
            raise ModelError(f"{file} cannot be read: {error.strerror}.") from None
        return replace(reply, text="", picture=content)


def _fold_name(name: str) -> str:
    return _PARTED.sub("_", unicodedata.normalize("NFC", name).casefold())


def folder(name: str, options: ModelOptions = DEFAULTS) -> Folder:
    """Makes the model `folder:PATH`. Raises UsageError if the path is missing."""
    if not name.partition(_PATTERN)[0]:
        raise UsageError("Which folder? Type for instance: --model folder:pictures")
    return Folder(name, options)


KIND = ModelKind(
    "folder",
    "folder:PATH, pictures that exist already (a manifest, or a pattern of names)",
    folder,
    makes=(PICTURES,),
    price=FREE,
    on_workers=False,
)
