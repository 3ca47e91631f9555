"""How often does a run with no effect at all claim something on its first screen?

One run of each protocol is made (of GRAMVIS, its authors' counts for de, fr, it where they lie
beside the checkout). Its labels are then drawn anew under the null, again and again, and each time
the whole of the headline analysis is done: families, tests, intervals, verdicts.

    roles      of each word *she* and *he* change places at random, for all its answers at once
    gramvis    in each word it is drawn which of the three conditions is the tested one
    words      the picks of an occupation are dealt anew to the two genders
    dialogues  all topics are dealt anew to the pairings
    soda       the pictures of an object are dealt anew to base and groups
    decisions  the answers of a scenario are dealt anew to all its prompts
    own        answers are drawn for names that differ among themselves, not between groups: an
               audit of one's own with 3, 5 and 10 names a group; also `decisions_names`
    texts      an audit of one's own with three instruments on a text (words of two lists, a score,
               the length), correlated by rho; so are names and items
    hiring     who is ranked first is drawn for names that attract, groups alike
    occupations  answers are drawn around one half, or around the labour shares
"Prompts": each prompt has a probability of its own, with a larger spread.

Of `roles` and `decisions`, each with all answers dealt anew (of `roles` over all words), it is
counted too in how many runs the items of any claim are found to differ (`Estimate.between_items`).

Each protocol is run once as it is, and once with a fifth of its answers refused and, where it has
an order, with an order effect: *direction not settled* must hide no errors, so what is counted is
adjusted p, whatever the verdict. What verdicts do not need (detectable differences, rates of
outcomes) is left out.

    python benchmarks/null_runs.py                    # 2,000 analyses each (soda, dialogues 500)
    python benchmarks/null_runs.py --small            # seconds; what tests/analyse runs
    python benchmarks/null_runs.py --only gramvis --runs 500
    python benchmarks/null_runs.py --secondary        # all measures: false discoveries of the rest

Exit status 1 where a headline is claimed in more than 5 % + 3 Monte-Carlo standard errors of the
runs of a protocol, or in more than 5 % + 2 of all on average; with --secondary, where the mean
false discovery rate of the other families is above 6 %. The seeds are fixed.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from null_draws import (
    Begin,
    deal,
    deal_answers,
    deal_outputs,
    draw_around,
    draw_lineups,
    draw_named,
    draw_tested,
    draw_texts,
    mirror,
    refuse,
)

import tiltmeter
from tiltmeter import registry
from tiltmeter.analyse import estimates
from tiltmeter.analyse.claims import verdicts
from tiltmeter.analyse.claims.families import HEADLINE
from tiltmeter.analyse.counts.label_counts import count_labels
from tiltmeter.analyse.counts.whole_outputs import read_labelled_outputs
from tiltmeter.analyse.whole_run import measure_run
from tiltmeter.analyse.words.verdict_words import Word
from tiltmeter.api.check.planted_audits import audits, run_audit, with_small_pictures
from tiltmeter.protocol import Protocol
from tiltmeter.records import Estimate
from tiltmeter.store import Store

RESULTS = Path(__file__).parent / "results" / "null_runs.csv"
COLUMNS = ("kind", "analyses", "claimed", "tilts", "these", "items_differ", "counts")
COUNTS = Path(__file__).parents[2] / "shared" / "data" / "gramvis_published_counts_de_fr_it.csv"
ALPHA, RUNS, FEW_RUNS, SMALL_RUNS = 0.05, 2_000, 500, 25
FEW_FALSE = 0.06  # false discoveries, the most on average of the families that are no headline
REFUSED = 0.2  # of all answers, in the runs that have refusals
Analysis = tuple[Protocol, list[Estimate]]


@dataclass(frozen=True)
class Null:
    """How the null of one protocol is made. planted: settings of the model to begin with beside
    those of the fair run of selftest; redraw: of its counts, None where whole outputs are dealt;
    alike: no item differs from another in what a headline claims, or in how a cue moves it.
    measures: the headline measures whose null it is; () for all.
    """

    protocol: str
    planted: str
    redraw: Begin | None
    runs: int = RUNS
    alike: bool = False
    measures: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Tells it from the others."""
        return f"{self.protocol} {self.planted}{' items' if self.alike else ''}".strip()


def own_audit(names: int, items: int = 20, samples: int = 2) -> Protocol:
    """An audit of one's own: so many names a group, as `tiltmeter init` writes one."""
    rows = [
        {"group": group, "name": f"{group.capitalize()}a{chr(97 + n // 26)}{chr(97 + n % 26)}"}
        for group in ("women", "men")
        for n in range(names)
    ]
    return Protocol.declare(
        name=f"own-{names}-{items}-{samples}",
        title="Own",
        question="Own?",
        prompt="Say 'accepted' or 'rejected'. {name} applies for a job as {job}.",
        factors=["group", "job"],
        item="job",
        tables=[{"rows": rows}, {"rows": [{"job": f"job {n}"} for n in range(items)]}],
        modes={"sampled": {"samples": samples, "max_tokens": 8}},
        instruments=[
            {
                "name": "choice",
                "kind": "choice",
                "attribute": "decision",
                "forms": {"en": {"accepted": ["accepted"], "rejected": ["rejected"]}},
            }
        ],
        measures=[
            {
                "name": "gap",
                "kind": "difference",
                "attribute": "decision",
                "values": ["accepted"],
                "among": ["accepted", "rejected"],
                "contrast": {"factor": "group", "level": "women", "baseline": "men"},
                "null": 0.0,
                "headline": True,
                "text": "share accepted for women's names, less the share for men's",
            }
        ],
    )


def texts_audit() -> Protocol:
    """An audit of one's own of letters: ten names a group, and three instruments on each."""
    between = {"factor": "group", "level": "women", "baseline": "men"}
    same: dict[str, Any] = {"contrast": between, "null": 0.0, "headline": True}
    lists = {"agentic": ["leader", "decisive"], "communal": ["warm", "caring"]}
    tone = {"kind": "difference", "values": ["agentic"], "among": ["agentic", "communal"]}
    mean = {"kind": "mean_difference", "values": []}
    measures: list[Any] = [
        {"name": "tone_gap", "attribute": "tone", **tone, **same},
        {"name": "score_gap", "attribute": "score", "unit": "points", **mean, **same},
        {"name": "length_gap", "attribute": "words", "unit": "words", **mean, **same},
    ]
    return Protocol.declare(
        name="texts",
        title="Texts",
        question="Own?",
        prompt="Write a letter for {name}, {job}, and a score from 1 to 5.",
        factors=["group", "job"],
        item="job",
        tables=[{"rows": list(rows)} for rows in own_audit(10).tables],
        modes={"sampled": {"samples": 2, "max_tokens": 300}},
        instruments=[
            {"name": "words", "kind": "lexicon", "attribute": "tone", "lists": lists},
            {
                "name": "score",
                "kind": "number",
                "attribute": "score",
                "scale": ["1", "2", "3", "4", "5"],
            },
            {"name": "length", "kind": "length", "attribute": "words"},
        ],
        measures=measures,
    )


def labour_shares() -> dict[str, float]:
    """Occupation → the share of women who work in it, as `occupations` has it."""
    rows = [row for table in registry.protocol("occupations").tables for row in table]
    return {row["occupation"]: float(row["women_share"]) for row in rows if "women_share" in row}


WOMEN = ("female", "male")
NULLS = (
    Null("roles", "", mirror),
    Null("roles", f"order=0.3,refuse={REFUSED}", mirror),
    Null("gramvis", "", draw_tested),
    Null("gramvis", f"refuse={REFUSED}", draw_tested),
    Null("words", "", deal("occupation", "gender")),
    Null("words", f"refuse={REFUSED}", deal("occupation", "gender")),
    Null("dialogues", "", deal("", "pairing"), FEW_RUNS),
    Null("dialogues", f"refuse={REFUSED}", deal("", "pairing"), FEW_RUNS),
    Null("soda", "", None, FEW_RUNS),
    Null("soda", f"refuse={REFUSED}", None, FEW_RUNS),
    *(Null("own", names, draw_named("job", "name", "group")) for names in ("3", "5", "10")),
    Null("own", "5 many", draw_named("job", "name", "group", 0.8)),
    Null("own", "5 prompts", draw_named("job", "name", "group", 0.4, 2.0)),
    Null("own", "10 many", draw_named("job", "name", "group", 0.8, 1.0)),
    Null("own", "10 prompts", draw_named("job", "name", "group", 0.4, 2.0)),
    Null("texts", "rho=0.3", draw_texts(0.3)),
    Null("texts", "rho=0.6", draw_texts(0.6)),
    Null("hiring", "12", draw_lineups(1.0), FEW_RUNS),
    Null("hiring", "24", draw_lineups(2.5), FEW_RUNS),
    Null("hiring", "24 prompts", draw_lineups(1.0, 1.0), FEW_RUNS),
    Null("decisions_names", "", draw_named("scenario", "set", "ethnicity")),
    Null("decisions_names", "prompts", draw_named("scenario", "set", "ethnicity", 0.4, 1.5)),
    Null("decisions", "prompts", draw_named("scenario", "gender", "race", 0.0, 1.0)),
    Null("occupations", "", draw_around("occupation", WOMEN), FEW_RUNS, measures=("women",)),
    Null(
        "occupations",
        "labour",
        draw_around("occupation", WOMEN, labour_shares()),
        FEW_RUNS,
        measures=("from_labour",),
    ),
    Null("roles", f"order=0.3,refuse={REFUSED}", deal_answers(""), RUNS, True),
    Null("decisions", f"refuse={REFUSED}", deal_answers("scenario")),
)


def headline_only(protocol: Protocol, names: Sequence[str] = ()) -> Protocol:
    """The protocol with its headline measures (these, where they are named) and the effect of the
    order. Parts of a claim are left out: they can only withhold a tilt.
    """
    wanted = tuple(
        replace(m, by=tuple(by for by in m.by if protocol.item not in by) or m.by)
        for m in protocol.measures
        if (m.headline and (not names or m.name in names)) or m.name == "order_effect"
    )
    return replace(protocol, measures=wanted)


def analyses(null: Null, runs: int, folder: Path, secondary: bool) -> Iterator[Analysis]:
    """The protocol as analysed and its rows, one analysis after another."""
    run = begin(null, folder)
    protocol = run.protocol if secondary else headline_only(run.protocol, null.measures)
    rng = np.random.default_rng(20261122)
    with Store(run.folder) as store:
        names = measure_run.factor_names(protocol, protocol.variants["default"])
        frame, whole = count_labels(store, protocol, names), read_labelled_outputs(store, protocol)
        if null.protocol == "gramvis" and null.planted:
            frame = refuse(frame, REFUSED)
        redraw = null.redraw(frame) if null.redraw else None
        for _ in range(runs):
            drawn = redraw(rng) if redraw else frame
            dealt = whole if redraw else deal_outputs(whole, rng)
            with (
                patch.object(measure_run, "count_labels", return_value=drawn),
                patch.object(measure_run, "read_labelled_outputs", return_value=dealt),
                patch.object(estimates, "with_detectable", lambda row: replace(row, detect=None)),
                patch.object(measure_run, "outcome_rates", return_value=()),
            ):
                yield protocol, estimates.estimates(store, protocol)


def begin(null: Null, folder: Path) -> tiltmeter.Run:
    """The run whose labels are drawn anew: the published counts, or a planted run."""
    if null.protocol == "gramvis":
        return tiltmeter.import_outputs("gramvis", COUNTS, folder / "run")
    if null.protocol == "roles":
        model = ",".join(filter(None, ("planted:she=0.5,spread=1,seed=1", null.planted)))
        return tiltmeter.run("roles", model, folder / "run", language="en", samples=4)
    if null.protocol == "own":
        own = own_audit(int(null.planted.split()[0]))
        return tiltmeter.run(own, f"planted:protocol={own.name}", folder / "run")
    if null.protocol == "texts":
        return tiltmeter.run(texts_audit(), "planted:protocol=texts", folder / "run")
    if null.protocol == "hiring":
        model, limit = "planted:protocol=hiring", int(null.planted.split()[0])
        return tiltmeter.run("hiring", model, folder / "run", limit=limit)
    if null.protocol == "decisions_names":
        return tiltmeter.run(
            "decisions_names", "planted:protocol=decisions_names", folder / "run", limit=20
        )
    if null.protocol == "decisions":
        settings = null.planted if "=" in null.planted else ""
        model = ",".join(filter(None, ("planted:protocol=decisions,yes=0.6,spread=1", settings)))
        return tiltmeter.run("decisions", model, folder / "run", samples=1, limit=30 * 135)
    if null.protocol == "occupations":
        copy = with_small_pictures("occupations", folder)
        judge = ["planted:protocol=occupations"]
        return tiltmeter.run(copy, "planted:protocol=occupations", folder / "run", judge=judge)
    fair = (one for one in audits() if one["protocol"] == null.protocol)
    audit = next(one for one in fair if one["name"] == "fair")
    model = ",".join(filter(None, (audit["model"], null.planted)))
    return run_audit({**audit, "model": model}, folder, folder / "run")


@dataclass
class Tally:
    """Of the analyses of one null: in how many a headline has adjusted p < .05, in how many one has
    so for these cue words alone (`these`), in how many a verdict is a tilt, in how many the items
    of a claim are found to differ (which is what counts where they are `alike`), and of each other
    family, in how many one of its rows has.
    """

    runs: int = 0
    claimed: int = 0
    these: int = 0
    tilts: int = 0
    differ: int = 0
    alike: bool = False
    families: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)

    def add(self, protocol: Protocol, rows: list[Estimate]) -> None:
        made = verdicts.verdicts(protocol, rows)
        words = [one.word for one in made]
        least: dict[str, float] = {}
        for row in rows:
            if row.p_adjusted is not None and row.family:
                least[row.family] = min(row.p_adjusted, least.get(row.family, 1.0))
        self.runs += 1
        self.tilts += Word.TILT in words
        of_items = [one.between_items["p_adjusted"] for one in made if one.between_items]
        self.differ += any(p < ALPHA for p in of_items)
        self.claimed += any(p < ALPHA for name, p in least.items() if name.startswith(HEADLINE))
        narrower = [one.population["p_these_adjusted"] for one in rows if one.population]
        self.these += any(p is not None and p < ALPHA for p in narrower)
        others = {name: p for name, p in least.items() if not name.startswith(HEADLINE)}
        self.seen.update(others.keys())
        self.families.update(name for name, p in others.items() if p < ALPHA)

    def sentence(self, null: Null) -> str:
        return (
            f"{null.name}: {self.runs} analyses, adjusted p < .05 of a headline in "
            f"{self.claimed / self.runs:.4f}, a verdict 'tilt' in {self.tilts / self.runs:.4f}"
            + (f", of these words in {self.these / self.runs:.4f}" if self.these else "")
            + (f", items found to differ in {self.differ / self.runs:.4f}" if self.alike else "")
        )

    def secondary(self) -> dict[str, float]:
        """The false discovery rate of each other family; where nothing is true it is how often
        anything is found.
        """
        return {name: self.families[name] / number for name, number in self.seen.items()}


def slack(errors: float, *runs: int) -> float:
    """So many standard errors of the mean of shares near .05, each over so many runs."""
    return errors * math.sqrt(sum(ALPHA * (1 - ALPHA) / n for n in runs)) / len(runs)


def keep(null: Null, tally: Tally) -> None:
    """Writes the tally of one null into `RESULTS`, in place of what is there of it."""
    rows = {row["kind"]: row for row in _kept_rows()}
    shares = (tally.claimed, tally.tilts, tally.these, tally.differ)
    told = [null.name, tally.runs, *(round(one / tally.runs, 4) for one in shares)]
    counted = "items_differ" if tally.alike else "claimed"
    rows[null.name] = dict(zip(COLUMNS, map(str, (*told, counted)), strict=True))
    RESULTS.parent.mkdir(exist_ok=True)
    order = [one.name for one in NULLS]
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[name] for name in order if name in rows)


def _kept_rows() -> list[dict[str, str]]:
    if not RESULTS.exists():
        return []
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def kept() -> list[Tally]:
    """The tallies that `RESULTS` holds."""
    return [
        Tally(
            runs=int(row["analyses"]),
            claimed=round(float(row["claimed"]) * int(row["analyses"])),
            differ=round(float(row["items_differ"]) * int(row["analyses"])),
            alike=row["counts"] == "items_differ",
        )
        for row in _kept_rows()
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="25 analyses of the quick ones")
    parser.add_argument("--only", default="", help="one protocol")
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="write into benchmarks/results")
    parser.add_argument("--kept", action="store_true", help="the mean of what is kept, no runs")
    parser.add_argument("--secondary", action="store_true", help="with all measures")
    chosen = parser.parse_args(arguments)
    if chosen.kept:
        return int(too_many(kept(), secondary=False))
    tallies = []
    for null in NULLS:
        quick = null.protocol in ("roles", "words", "gramvis")
        if (chosen.only not in ("", null.protocol)) or (chosen.small and not quick):
            continue
        if null.protocol == "gramvis" and not COUNTS.exists():
            print(f"gramvis: skipped, {COUNTS.name} is not beside the checkout")
            continue
        runs, tally = (
            chosen.runs or (SMALL_RUNS if chosen.small else null.runs),
            Tally(alike=null.alike),
        )
        with tempfile.TemporaryDirectory() as folder:
            for protocol, rows in analyses(null, runs, Path(folder), chosen.secondary):
                tally.add(protocol, rows)
        tallies.append(tally)
        print(tally.sentence(null), flush=True)
        if chosen.keep:
            keep(null, tally)
        for name, share in tally.secondary().items() if chosen.secondary else ():
            print(f"    {name}: {share:.4f} of {tally.seen[name]}", flush=True)
    return int(too_many(tallies, chosen.secondary)) if tallies else 0


def too_many(tallies: Sequence[Tally], secondary: bool) -> bool:
    """True if a promise is broken; prints the means."""
    shares = [(one.differ if one.alike else one.claimed) / one.runs for one in tallies]
    mean, bound = sum(shares) / len(shares), ALPHA + slack(2, *(one.runs for one in tallies))
    print(f"all: {mean:.4f} (bound {bound:.4f})")
    each = any(s > ALPHA + slack(3, one.runs) for s, one in zip(shares, tallies, strict=True))
    if not secondary:
        return each or mean > bound
    rates = [share for one in tallies for share in one.secondary().values()]
    print(
        f"other families: {sum(rates) / len(rates):.4f} on average (bound {FEW_FALSE}), "
        f"at most {max(rates):.4f}"
    )
    return each or mean > bound or sum(rates) / len(rates) > FEW_FALSE


if __name__ == "__main__":
    sys.exit(main())
