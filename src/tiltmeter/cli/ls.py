"""tiltmeter ls [models|examples]"""

from __future__ import annotations

import json

import click

from .computed import computed_once
from .options import as_json


@click.command()
@click.argument(
    "what",
    type=click.Choice(["all", "models", "examples"]),
    default="all",
    metavar="[models|examples]",
)
@as_json
def command(what: str, as_json: bool) -> None:
    """What there is: protocols, examples, model kinds, instruments; `models`: the table of models
    with prices and ends.
    """
    if what == "models":
        _models(as_json)
        return
    if what == "examples":
        click.echo(_examples(), nl=False)
        return
    click.echo(computed_once(("ls", str(as_json)), _json if as_json else _listing), nl=False)


def _examples() -> str:
    from ..api import init

    return "".join(f"{name:12} {question}\n" for name, question in init.examples().items())


def _json() -> str:
    from .. import registry
    from ..api import init

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
        "examples": sorted(init.examples()),
        "models": sorted(registry.model_names()),
        "instruments": [kind.name for kind in registry.instrument_kinds()],
        "measures": registry.measure_names(),
    }
    return json.dumps({"schema": 1, **listed}, ensure_ascii=False, indent=1) + "\n"


def _listing() -> str:
    from .. import registry
    from ..models.kinds import all_kinds

    protocols = map(registry.protocol, registry.protocol_names())
    measures = map(registry.measure, registry.measure_names())
    rows = (
        "Protocols (tiltmeter show NAME)",
        *(
            f"  {p.name:12} {p.title} [{', '.join(p.languages) or '–'}; {', '.join(p.modes)}]"
            for p in protocols
        ),
        "Examples to start from (tiltmeter init FILE --example NAME)",
        *(f"  {line}" for line in _examples().splitlines()),
        "Model kinds (--model KIND:NAME)",
        *(f"  {model.name:12} {model.summary}" for model in all_kinds()),
        "Instruments (kind = NAME in a protocol)",
        *(f"  {one.name:12} {one.summary}" for one in registry.instrument_kinds() if one.nameable),
        "Kinds of measures (kind = NAME in a protocol)",
        *(f"  {kind.name:15} {kind.summary}" for kind in measures),
        "Prices and ends of models: tiltmeter ls models",
    )
    return "".join(f"{row}\n" for row in rows)


def _models(as_json: bool) -> None:
    from ..models import table

    found = sorted(
        table.rows().values(),
        key=lambda row: (row.name.partition(":")[0], row.is_retired(), row.name),
    )
    if as_json:
        click.echo(
            json.dumps(
                {
                    "schema": 1,
                    "own_file": str(table.own_file()),
                    "models": [row.as_dict() for row in found],
                },
                ensure_ascii=False,
                indent=1,
            )
        )
        return
    width = max(len(row.name) for row in found) + 2
    click.echo(f"{'model':{width}} {'$ in':>6} {'$ out':>6} {'picture':>7}  {'as of':10}  end")
    for row in found:
        cells = row.price and (
            _cell(row.price.prompt),
            _cell(row.price.completion),
            _cell(row.price.picture, 3),
        )
        tokens, words, picture = cells or ("–", "", "")
        money = f"{tokens:>6} {words:>6} {picture:>7}  {row.price_date or ''!s:10}"
        end = (
            ""
            if row.retires_on is None
            else f"{'retired' if row.is_retired() else 'ends'} {row.retires_on}"
        )
        image = "pictures  " if row.modality == "image" else ""
        spoken = f"  [{', '.join(row.languages)}]" if row.languages else ""
        name = row.name + (" *" if row.own else "")
        line = f"{name:{width}} {money}  {image}{end}{spoken}".rstrip()
        click.secho(line, dim=row.is_retired(), fg="yellow" if row.ends_soon() else None)
    click.echo(
        "\n$ for a million tokens, in and out, and for one picture, on the day named; the "
        "sources are in --json. [Languages] are those that a source names; of other models none is "
        "known.\n"
        "Any other model works too: "
        f"its price is given with --price, or by a row in {table.own_file()} (* has such a row)."
    )


def _cell(dollars: float, digits: int = 2) -> str:
    """Nothing where a provider does not bill this."""
    return f"{dollars:.{digits}f}" if dollars else ""
