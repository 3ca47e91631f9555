"""The sentences of GEST and the scores of language models, from a copy of the release.

A file of scores has one number per sentence, log P(he) − log P(she), in the order of gest.csv.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from ...errors import UsageError
from ...instruments.number import Number
from ...protocol import Protocol
from ...protocol.source.copies import Copy
from ...records import ANSWER, Answered, Label, Output, Reply, Sampling, Trial, content_id
from ...row_files import numbered_rows

SENTENCES = "data/gest.csv"
TEMPLATES = ("0", "1")
WOMEN = 7  # stereotypes 1 to 7 are of women, 8 to 16 of men
_FILE = re.compile(r"([^/]+)_template-(\d)\.txt$")


def table(contents: Mapping[str, bytes]) -> str:
    """Returns the sentences with stereotype, side and number, per template, as JSON lines."""
    rows = (
        {
            "template": template,
            "side": "women" if int(stereotype) <= WOMEN else "men",
            "stereotype": stereotype,
            "sentence": str(number),
            "text": text,
        }
        for template in TEMPLATES
        for number, (text, stereotype) in enumerate(_sentences(contents))
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def scores(protocol: Protocol, copy: Copy) -> Iterator[tuple[Trial, Output, Sequence[Label]]]:
    """Yields one trial per score. UsageError if a file has not one score per sentence."""
    (spec,) = protocol.instruments
    instrument, mode = Number(spec), protocol.default_mode
    cells = {(cell["template"], cell["sentence"]): cell for cell in protocol.cells}
    for file, content in copy.contents.items():
        match = _FILE.search(file)
        if match is None:
            continue
        values = content.decode().split()
        if len(values) != sum(template == match[2] for template, _ in cells):
            raise UsageError(f"{file}: {len(values)} scores do not fit gest.csv. Get both again.")
        for number, value in enumerate(values):
            cell = cells[match[2], str(number)]
            factors = {
                name: cell[name] for name in dict.fromkeys((protocol.item, *protocol.factors))
            }
            name = content_id(protocol.name, *match.groups(), str(number))
            sampling, prompt = Sampling(None, None, 0), protocol.prompt_text(cell)
            trial = Trial(name, match[1], mode, factors, 0, prompt, "", sampling)
            output = Output(name, ANSWER, value, "")
            yield trial, output, instrument.read(Answered(trial, output, Reply(value), cell=cell))


def _sentences(contents: Mapping[str, bytes]) -> list[tuple[str, str]]:
    if SENTENCES not in contents:
        raise UsageError(f"The copy lacks {SENTENCES}, the sentences of the scores. Add it.")
    rows = (row for _, row in numbered_rows(contents[SENTENCES].decode()))
    return [(row["sentence"], row["stereotype"]) for row in rows]
