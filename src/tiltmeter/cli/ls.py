"""tiltmeter ls [models|examples]"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from ..display.screen import Part, as_text, of_text, part
from ..stats.results import count_of
from .computed import computed_once
from .fitting import echo_parts
from .json_output import echo_json, json_text
from .options import as_json, full_text

if TYPE_CHECKING:
    from ..models.table import Listed
    from ..protocol import Protocol


@click.command()
@click.argument(
    "what",
    type=click.Choice(["all", "models", "examples"]),
    default="all",
    metavar="[models|examples]",
)
@full_text
@as_json
def command(what: str, full: bool, as_json: bool) -> None:
    """List protocols, examples, model kinds, instruments. With `models`: the table of models with
    prices and end dates.
    """
    if what == "models":
        _models(as_json, full)
        return
    if what == "examples":
        click.echo(_examples(), nl=False)
        return
    text = computed_once(("ls", str(as_json)), _json if as_json else _listing)
    if as_json:
        click.echo(text, nl=False)
    else:
        echo_parts(of_text(text), full)


def _examples() -> str:
    from ..api.start import init

    return "".join(f"{name:12} {question}\n" for name, question in init.examples().items())


def _json() -> str:
    from .. import registry
    from ..api.start import init
    from ..protocol import measures

    protocols = map(registry.protocol, registry.protocol_names())
    listed = {
        "protocols": [
            {
                "name": p.name,
                "version": p.version,
                "title": p.title,
                "languages": p.languages,
                "modes": list(p.modes),
            }
            for p in protocols
        ],
        "with_your_data": list(registry.sourced_names()),
        "examples": sorted(init.examples()),
        "models": sorted(registry.model_names()),
        "instruments": [kind.name for kind in registry.instrument_kinds()],
        "measures": measures.names(),
    }
    return json_text(listed, indent=1) + "\n"


def _listing() -> str:
    """Lists everything that a command can name, as sections of text."""
    from .. import registry
    from ..api.start import init
    from ..models.kinds import all_kinds
    from ..protocol import measures

    protocols = map(registry.protocol, registry.protocol_names())
    kinds = map(measures.measure_kind, measures.names())
    parts = (
        (
            "Protocols (tiltmeter show NAME)",
            [(f"{p.name:15}", f"{p.title} [{_how(p)}]") for p in protocols],
        ),
        (
            "Protocols whose texts do not ship (tiltmeter show NAME says where to get them)",
            [(f"{name:15}", _title(name)) for name in registry.sourced_names()],
        ),
        (
            "Examples to start from (tiltmeter init FILE --example NAME)",
            [(f"{name:12}", question) for name, question in init.examples().items()],
        ),
        (
            "Model kinds (--model KIND:NAME)",
            [(f"{model.name:12}", model.summary) for model in all_kinds()],
        ),
        (
            "Instruments (kind = NAME in a protocol)",
            [
                (f"{kind.name:12}", kind.summary)
                for kind in registry.instrument_kinds()
                if kind.nameable
            ],
        ),
        (
            "Kinds of measures (kind = NAME in a protocol)",
            [(f"{kind.name:15}", kind.summary) for kind in kinds],
        ),
    )
    sections = [
        _section(head, rows, len(parts) - index) for index, (head, rows) in enumerate(parts)
    ]
    end = ("Prices and ends of models: tiltmeter ls models",)
    return as_text([*sections, part(end, end)])


def _title(name: str) -> str:
    """Returns the title of the published data that a protocol reads."""
    from .. import registry

    release = registry.source(name)
    return release.title if release else ""


def _how(protocol: Protocol) -> str:
    """Lists the languages and modes of a protocol in one line."""
    return "; ".join(", ".join(names) for names in (protocol.languages, protocol.modes) if names)


def _section(head: str, rows: Sequence[tuple[str, str]], worth: int) -> Part:
    """Makes a section with one line per name; in its brief form, it lists just the names."""
    names = ", ".join(name.strip() for name, _ in rows)
    lines = (head, *(f"  {name} {text}" for name, text in rows))
    return part(lines, (f"{head}: {names}",), head.partition(" (")[0].lower(), worth)


def _models(as_json: bool, full: bool) -> None:
    from ..models import table

    listed = sorted(
        table.rows().values(),
        key=lambda row: (row.name.partition(":")[0], row.is_retired(), row.name),
    )
    if as_json:
        models = [row.as_dict() for row in listed]
        echo_json({"own_file": str(table.own_file()), "models": models}, indent=1)
        return
    width = max(len(row.name) for row in listed) + 2
    head = f"{'model':{width}} {'$ in':>6} {'$ out':>6} {'picture':>7}  {'as of':10}  end"
    sections = [part((head,), (head,))]
    for kind, rows in groupby(listed, lambda row: row.name.partition(":")[0]):
        lines = [_model(row, width) for row in rows]
        brief = f"{kind}: {count_of(len(lines), 'model')}"
        sections.append(part(lines, (brief,), kind, -len(sections)))
    notes = (
        "",
        "$ for a million tokens, in and out, and for one picture, on the day named; the sources "
        "are in --json. [Languages] are those that a source names; of other models none is known.",
        "Any other model works too: its price is given with --price, or by a row in "
        f"{table.own_file()} (* has such a row).",
    )
    echo_parts([*sections, part(notes, (), "what the columns mean")], full)


def _model(row: Listed, width: int) -> str:
    """Writes a model's prices and its retirement date."""
    cells = row.price and (
        _cell(row.price.prompt),
        _cell(row.price.completion),
        _cell(row.price.picture, 3),
    )
    tokens, words, picture = cells or ("–", "", "")
    money = f"{tokens:>6} {words:>6} {picture:>7}  {row.price_date or ''!s:10}"
    verb = "retired" if row.is_retired() else "ends"
    end = "" if row.retires_on is None else f"{verb} {row.retires_on}"
    image = "pictures  " if row.modality == "image" else ""
    spoken = f"  [{', '.join(row.languages)}]" if row.languages else ""
    name = row.name + (" *" if row.own else "")
    line = f"{name:{width}} {money}  {image}{end}{spoken}".rstrip()
    return click.style(line, dim=row.is_retired() or None, fg="yellow" if row.ends_soon() else None)


def _cell(dollars: float, digits: int = 2) -> str:
    """Writes a price in dollars; "" if it is 0."""
    return f"{dollars:.{digits}f}" if dollars else ""
