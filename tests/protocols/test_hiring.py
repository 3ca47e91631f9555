"""The design of `hiring`, the article's table from its replies, and planted rankings."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

import tiltmeter
from tiltmeter import registry
from tiltmeter.errors import UsageError
from tiltmeter.instruments.ranking.ranking import candidates
from tiltmeter.planted.model import ranking_truth

PROTOCOL = registry.protocol("hiring")
DATA = Path(__file__).parents[3] / "shared" / "data" / "hiring"
CODES = {
    f"{race[0]}_{gender[0].upper()}": f"{race} {gender}"
    for race in ("Asian", "Black", "Hispanic", "White")
    for gender in ("men", "women")
}


class TestDesign:
    def test_every_name_stands_once_in_every_place(self) -> None:
        cells = [cell for cell in PROTOCOL.cells if cell["job"] == "retail"]
        places = Counter(
            (person, place)
            for cell in cells
            for place, person in enumerate(candidates(cell["candidates"]))
        )
        assert len(cells) == 800
        assert len(places) == 800 * 8 and set(places.values()) == {1}

    def test_every_resume_stands_equally_often_in_every_place(self) -> None:
        cells = [cell for cell in PROTOCOL.cells if cell["job"] == "retail"]
        shown = Counter((cell["order"], cell["rotation"]) for cell in cells)
        assert max(shown.values()) - min(shown.values()) <= 1

    def test_the_prompt_has_every_name_before_its_resume(self) -> None:
        cell = PROTOCOL.cells[17]
        prompt = PROTOCOL.prompt_text(cell)
        at = [prompt.index(name) for _, name in candidates(cell["candidates"])]
        assert at == sorted(at)
        assert prompt.count("<hr>") == 9  # one in the instruction
        assert "{" not in prompt

    def test_prompts_are_as_published_but_for_the_order_of_resumes(self) -> None:
        source = DATA / "resumes_to_rank.json"
        if not source.is_file():
            pytest.skip("the published file is not in the repository")
        given = json.loads(source.read_text("utf-8"))
        cell = PROTOCOL.cells[0]
        names = [name for _, name in candidates(cell["candidates"])]
        resumes = [text.strip() for text in given[cell["job"]]["resumes"]]
        expected = "<hr>\n".join(
            text.replace("{name}", name) for text, name in zip(resumes, names, strict=True)
        )
        assert PROTOCOL.prompt_text(cell).endswith(f"role:\n\n{expected}<hr>")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tiltmeter.Run:
    if not DATA.is_dir():
        pytest.skip("the replies are not in the repository")
    out = tmp_path_factory.mktemp("hiring") / "run"
    return tiltmeter.import_outputs("hiring", DATA / "rankings.jsonl.xz", out)


class TestArticle:
    def test_all_64_rows(self, published: tiltmeter.Run) -> None:
        """performance_ranking.csv: selection rate and impact ratio by job, model and group."""
        found = {
            (e.subject, e.condition["job"], e.condition["first_mentioned"], e.measure): e.value
            for e in published.analyse(variant="published")
            if "job" in e.condition
        }
        with (DATA / "performance_ranking.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 64
        for row in rows:
            key = (f"{row['model']}-0613", row["job"], CODES[row["demo"]])
            assert found[*key, "share_published"] == pytest.approx(float(row["selection_rate"]))
            assert found[*key, "impact_ratio_published"] == pytest.approx(
                float(row["disparate_impact_ratio"])
            )

    def test_what_the_article_did_not_say(self, published: tiltmeter.Run) -> None:
        rows = published.analyse()
        whole = {
            (e.measure, e.subject): e for e in rows if not {"job", "first"} & e.condition.keys()
        }
        first = [whole["shown_first", f"gpt-{name}-0613"] for name in ("3.5-turbo", "4")]
        assert sum(e.value * e.n for e in first) / sum(e.n for e in first) == pytest.approx(
            0.42, abs=0.005
        )
        assert all(e.low is not None and e.low > 0.25 for e in first)
        ratios = [e for e in rows if e.measure == "impact_ratio"]
        assert len(ratios) == 2 * 5 * 8
        assert all(e.low is not None and e.high is not None and e.high <= 1 for e in ratios)


@pytest.mark.parametrize("line", ['{"path": "a"}', '{"names": ["a", "b"], "groups": [7, 8]}'])
def test_a_line_that_is_no_reply_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text(f"{line}\n", "utf-8")
    with pytest.raises(UsageError, match=r"replies\.jsonl, line 1 is no reply"):
        tiltmeter.import_outputs("hiring", path, tmp_path / "run")


def test_planted_rankings_are_found(tmp_path: Path) -> None:
    settings = "protocol=hiring,Black men=0.4,place 1=3,refuse=0.05,short=0.1"
    run = tiltmeter.run(
        "hiring", f"planted:{settings}", tmp_path / "run", limit=24, where={"job": ("retail",)}
    )
    truth = ranking_truth(settings, {"job": "retail"})
    rows = {
        (e.measure, e.condition.get("first", "")): e for e in run.analyse() if e.low is not None
    }
    low = rows["share_first", "Black men"]
    assert low.low <= truth["Black men"] <= low.high
    shown = rows["shown_first", ""]
    assert shown.low <= truth["place 1"] <= shown.high
    ratio = rows["impact_ratio", "Black men"]
    assert (
        ratio.low <= truth["Black men"] / max(truth[name] for name in CODES.values()) <= ratio.high
    )


def test_the_true_shares_by_hand() -> None:
    """One group with half the weight: .5/7.5; the first place with three times: 3/10 on average."""
    assert ranking_truth("protocol=hiring,Black men=0.5")["Black men"] == pytest.approx(0.5 / 7.5)
    assert ranking_truth("protocol=hiring,place 1=3")["place 1"] == pytest.approx(0.3)


def test_settings_that_rankings_lack_are_refused() -> None:
    with pytest.raises(UsageError, match="rankings have no both"):
        ranking_truth("protocol=hiring,both=0.1")
    with pytest.raises(UsageError, match="Black men"):
        ranking_truth("protocol=hiring,Blak men=0.1")
