"""tiltmeter plan PROTOCOL --model M [--judge J]"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from .options import PriceType, UrlType, as_json, choices, split


@click.command()
@click.argument("protocol")
@choices
@click.option(
    "--judge",
    "judge",
    multiple=True,
    metavar="KIND:NAME",
    help="A model that labels the same answers.",
)
@click.option(
    "--detect",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="A difference in shares (0.05 is 5 points): how many items or samples it takes.",
)
@click.option(
    "--icc",
    type=click.FloatRange(0, 1),
    help="How alike outputs of one item are, 0 to 1.  [default: 0.2]",
)
@click.option(
    "--base-url",
    "base_urls",
    type=UrlType(),
    multiple=True,
    help="As for run: a server of one's own.",
)
@click.option(
    "--price", "prices", type=PriceType(), multiple=True, help="US dollars for a million tokens."
)
@click.option(
    "--trials",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the trials as CSV: id, prompt, sample, factors.",
)
@as_json
def command(
    protocol: str, as_json: bool, models: tuple[str, ...], trials: str | None, **options: Any
) -> None:
    """What a run would ask and cost, and what it could detect, before it does."""
    from .. import api

    if trials:
        asked = {
            name: value for name, value in options.items() if name not in ("judge", "detect", "icc")
        }
        _write(trials, api.trials(protocol, models, **split(asked)))

    found = api.plan(protocol, models, **split(options))
    if as_json:
        click.echo(json.dumps({"schema": 1, **found}, ensure_ascii=False, indent=1))
        return
    aside = (
        f", and {found['aside']:,} aside of them that are not measured" if found["aside"] else ""
    )
    click.echo(f"{found['protocol']} {found['version']}: {found['trials']:,} trials{aside}")
    if found["prompts"]:
        click.echo(
            "prompts: "
            + ", ".join(f"{number:,} {level}" for level, number in found["prompts"].items())
        )
    for other in found["others"]:
        fewer = found["trials"] - other["trials"]
        change = f", {abs(fewer):,} {'fewer' if fewer > 0 else 'more'}" if fewer else ""
        click.echo(
            f"with --where {other['factor']}={other['level']}: {other['trials']:,} trials{change}"
        )
    _calls(found)
    _models(found["models"])
    for line in found["misfits"]:
        click.echo(f"warning: a run is refused: {line}")
    for line in found["waiting"]:
        click.echo(f"waiting: {line}")
    _design(found)


def _write(path: str, rows: Iterator[dict[str, str]]) -> None:
    """The rows as CSV in UTF-8."""
    first = next(rows)
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, first)
        table.writeheader()
        table.writerow(first)
        table.writerows(rows)


def _calls(found: dict[str, Any]) -> None:
    rows = [("model", "part", "mode", "calls", "tokens in", "tokens out ≤", "$ about", "$ most")]
    for line in found["calls"]:
        part = "subject" if line["part"] == "subject" else line["part"].partition("/")[0]
        rows.append(
            (
                line["model"],
                part,
                line["mode"],
                _range(line["calls"], line["calls_most"]),
                f"{line['prompt_tokens']:,}",
                f"{line['completion_tokens']:,}",
                _money(line["cost"]),
                _money(line["cost_most"]),
            )
        )
    total = found["totals"]
    rows.append(
        (
            "in all",
            "",
            "",
            _range(total["calls"], total["calls_most"]),
            f"{total['prompt_tokens']:,}",
            f"{total['completion_tokens']:,}",
            _sum(total, "cost"),
            _sum(total, "cost_most"),
        )
    )
    _table(rows, left=3)
    click.echo(f"  {found['rule']}")
    for name in total["price_unknown"]:
        click.echo(
            f"  the price of {name} is unknown and not in the sum. Add for instance: --price "
            f"{name}=2.5/10"
        )


def _models(models: Iterable[dict[str, Any]]) -> None:
    for model in models:
        if model["retired"]:
            click.echo(
                f"warning: {model['name']} was retired on {model['retires_on']}: a run is "
                "refused, unless --base-url names a server that still has it"
            )
        elif model["soon"]:
            click.echo(
                f"warning: {model['name']} ends on {model['retires_on']}: nobody can repeat the "
                "run after that"
            )
        elif model["retires_on"]:
            click.echo(f"{model['name']} ends on {model['retires_on']}")
        if "price_date" in model:
            click.echo(
                f"{model['name']}: price as of {model['price_date']}, {model['price_source']}"
            )


def _design(found: dict[str, Any]) -> None:
    from ..protocol import FEW_OUTPUTS

    wanted = found["wanted"]
    if not found["design"]:
        click.echo(
            f"{found['protocol']} has no headline measure, so no detectable difference is worked "
            "out."
        )
        return
    click.echo(
        "\nDetectable with 80 % power at .05 (items as clusters, intra-item correlation "
        f"{found['icc']:g} assumed):"
    )
    more = (f"items for {wanted:g}", f"samples for {wanted:g}") if wanted else ()
    rows = [("measure", "of", "items", "outputs each", "detectable", *more)]
    for row in found["design"]:
        of = ", ".join(filter(None, (row["language"], row["mode"], *row["group"].values())))
        value = (
            row["note"] if row["detectable"] is None else f"{row['detectable']:.3f} {row['unit']}"
        )
        needed = (_needed(row["items_needed"]), _needed(row["samples_needed"])) if wanted else ()
        items = "–" if row["clusters"] is None else str(row["clusters"])
        rows.append((row["measure"], of, items, f"{row['per_cluster']:.3g}", value, *needed))
    _table(rows, left=2)
    if any(row["clusters"] is None for row in found["design"]):
        click.echo(
            "  items –: outputs are what is sampled there, each by itself, of a group or of a side"
        )
    few = [
        row["per_cluster"]
        for row in found["design"]
        if row["unit"] == "bits" and row["per_cluster"] < FEW_OUTPUTS
    ]
    if few:
        click.echo(
            f"warning: groups of {min(few):g} outputs: of fewer than {FEW_OUTPUTS} little can be "
            f"said. Type: --samples {FEW_OUTPUTS}"
        )
    if wanted and any(row["samples_needed"] is None for row in found["design"]):
        click.echo(
            "  –: no number does; with more samples the items themselves still differ, and an "
            "item is read once in exact mode"
        )


def _needed(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _sum(total: dict[str, Any], name: str) -> str:
    known = _money(total[name]) if total[name] or not total["price_unknown"] else ""
    return " + ".join(filter(None, (known, "?" if total["price_unknown"] else "")))


def _money(dollars: float | None) -> str:
    return (
        "?"
        if dollars is None
        else "0"
        if dollars == 0
        else f"{dollars:,.2f}"
        if dollars >= 0.01
        else "<0.01"
    )


def _table(rows: Sequence[tuple[str, ...]], left: int) -> None:
    """Rows under a header, columns as wide as they need; the first `left` columns are words, the
    rest numbers.
    """
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [
            text.ljust(width) if place < left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        click.echo(("  " + "  ".join(cells)).rstrip())
