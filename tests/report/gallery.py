"""One figure of each kind, of estimates written down here: what the gold files show and what the tests measure on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tiltmeter.protocol.histogram import WordCounts
from tiltmeter.protocol.reading.load import load
from tiltmeter.records import Estimate
from tiltmeter.report.figures import draw, figures, histogram
from tiltmeter.report.figures.svg import without_links
from tiltmeter.report.page_model import audits
from tiltmeter.report.page_model.figures import Axis, Dot, Dots, Figure, Plot, Strip
from tiltmeter.report.render import html

PROTOCOL = load(Path(__file__).with_name("gallery.toml"))
VERSUS = {"side": "gendered − en"}
IMPACT = {  # topic → for en and ja: value, low, high, adjusted p
    "career": ((0.62, 0.5, 0.77, 0.001), (1.1, 0.9, 1.34, 0.4)),
    "family": ((1.9, 1.4, 2.6, 0.002), (0.0, None, None, None)),
}
SHARES = {  # pairing → for gendered, en, zh: share of female, with its interval, and whether gendered − en is significant
    "FF": ((0.21, 0.15, 0.27), (0.62, 0.55, 0.69), (0.5, 0.42, 0.58), 0.001),
    "MM": ((0.4, 0.3, 0.5), (0.45, 0.35, 0.55), (0.8, 0.7, 0.9), 0.6),
}
COUNTS = {  # side → label → count; 200 in each
    "gendered": {"male": 150.0, "female": 30.0, "neither": 12.0, "refusal": 8.0},
    "en": {"male": 90.0, "female": 106.0, "invalid": 4.0},
    "zh": {"male": 100.0, "female": 100.0},
}
TOPICS = {"career": (0.1, 0.25, 0.6), "family": (0.9, None, 0.4), "<b>&": (0.0, 0.05, 0.0)}


def estimate(
    measure: str, condition: Mapping[str, str], value: float | None, **more: Any
) -> Estimate:
    spec = next(spec for spec in PROTOCOL.measures if spec.name == measure)
    said = {"language": "en", **condition}
    row = Estimate(
        "gallery",
        "planted:m",
        "panel/1@0f",
        measure,
        said,
        None,
        value,
        spec.unit,
        n=200.0,
        clusters=40,
    )
    return replace(row, signature=f"sig-{said['language']}", **more)


def estimates() -> list[Estimate]:
    found = []
    for measure in ("impact", "impact_map"):
        for topic, sides in IMPACT.items():
            for language, (value, low, high, p) in zip(("en", "ja"), sides, strict=True):
                about = {"language": language, "topic": topic}
                found.append(
                    estimate(
                        measure, about, value, contrast=VERSUS, low=low, high=high, p_adjusted=p
                    )
                )
    for pairing, (*sides, p) in SHARES.items():
        for side, (value, low, high) in zip(("gendered", "en", "zh"), sides, strict=True):
            found.append(
                estimate(
                    "representation", {"pairing": pairing, "side": side}, value, low=low, high=high
                )
            )
        found.append(
            estimate(
                "against_en",
                {"pairing": pairing},
                0.1,
                contrast=VERSUS,
                p_adjusted=p,
                low=0.0,
                high=0.2,
            )
        )
    found += [
        estimate("labels", {"side": side}, 0.5, outcomes=counts) for side, counts in COUNTS.items()
    ]
    for topic, shares in TOPICS.items():
        for pairing, share in zip(("FF", "FM", "MM"), shares, strict=True):
            found.append(estimate("topics", {"pairing": pairing, "topic": topic}, share))
    leader = estimate("topic_leader", {"pairing": "FF", "topic": "family"}, 0.9, p_adjusted=0.01)
    return [
        *found,
        leader,
        replace(
            leader, condition={"language": "en", "pairing": "MM", "topic": "career"}, p_adjusted=0.2
        ),
    ]


def drawn() -> dict[str, Figure]:
    """Name of its gold file → figure."""
    rows = estimates()
    marks = {"sig-en": "S1", "sig-ja": "S2"}
    made = {
        figure.id.removeprefix("g-"): figure
        for figure in figures(audits.audit(PROTOCOL, rows, marks), "g")
    }
    names = {
        "impact-figure-1": "forest",
        "impact_map-figure-1": "heat-null",
        "representation-pairing-side-figure-1": "dumbbell",
        "labels-figure-1": "stacked",
        "topics-pairing-figure-1": "heat",
    }
    found: dict[str, Figure] = {name: made[key] for key, name in names.items()}
    counts = WordCounts((3, 12, 14, 15, 31), ((0, 9, 1), (10, 19, 3), (20, 29, 0), (30, 39, 1)))
    return found | {"histogram": histogram.histogram(counts, "text")}


SPOTS = {"nurse": 0.2, "doctor": 0.75, "clerk": 0.5, "<b>&": 1.0}  # item → share of she


def first_screens() -> dict[str, Figure]:
    """Those that stand on first screens alone: dots, and a panel a model."""
    marks = tuple(Dot(name, value) for name, value in SPOTS.items())
    strips = (
        Strip("“he” named first", 0.61, ".61 [.44, .78]", 0, marks),
        Strip("“she” named first", None, "", 1, marks[:2]),
    )
    ticks = ((0.0, "0"), (0.5, ".50"), (1.0, "1"))
    about = {"title": "Share of she of each word", "text": "In words."}
    axis = Axis(domain=(0, 1), ticks=ticks, null=0.5, ends=("he", "she"))
    spots = Dots(id="d", strips=strips, axis=axis, **about)
    joined = drawn()["dumbbell"]
    assert isinstance(joined, Plot)
    rows = tuple(replace(row, group=model) for model in "AB" for row in joined.rows)
    return {"dots": spots, "panels": replace(joined, id="p", rows=rows, panels=True)}


def picture(figure: Figure) -> str:
    """A figure that stands alone, as docs/pictures has it: with the colours and the rules of the page's style sheet."""
    css = (Path(html.__file__).parents[1] / "templates" / "style.css").read_text(encoding="utf-8")
    themes = re.findall(
        r"^:root \{.*?^\}|^@media \(prefers-color-scheme: dark\) \{.*?^\}",
        css,
        re.MULTILINE | re.DOTALL,
    )
    rules = re.findall(r"^(?:svg |\.fig-|\.[scgqmp]\d ).*$", css, re.MULTILINE)
    text = without_links(draw(figure)).replace(
        "<title", f"<style>{chr(10).join([*themes, *rules])}</style><title", 1
    )
    return text.replace("><", ">\n<") + "\n"
