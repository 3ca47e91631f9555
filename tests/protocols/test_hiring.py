"""The design of `hiring`, the article's table from its replies, and planted rankings."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from statistics import mean

import pytest

import tiltmeter
from tiltmeter import registry
from tiltmeter.errors import UsageError
from tiltmeter.instruments.ranking.ranking import candidates
from tiltmeter.planted.subjects import truths

from ..shared import needs, published

PROTOCOL = registry.protocol("hiring")
RESUMES = Path(registry.__file__).parent / "protocols" / "hiring" / "resumes.jsonl"
JOBS = [json.loads(line) for line in RESUMES.read_text("utf-8").splitlines()]
RANKINGS = "hiring/rankings.jsonl.xz"
# group: difference in points with its ends over line-ups and names, adjusted p over line-ups alone
# and over both, of GPT-3.5. Those over line-ups alone are of sampled sign flips: 82,000
# since hiring 4 tests all eight places. 68,000 gave .024, .048, .158, .158 (as the report had it), of
# the same 3,999 rankings with the same differences.
OVER_BOTH = {
    "Asian women": (2.15, 0.70, 3.61, 0.023, 0.032),
    "Black men": (-1.75, -3.05, -0.44, 0.050, 0.182),
    "Hispanic women": (1.65, 0.16, 3.15, 0.157, 0.229),
    "White men": (-1.42, -2.85, 0.01, 0.157, 0.492),
}
CODES = {
    f"{race[0]}_{gender[0].upper()}": f"{race} {gender}"
    for race in ("Asian", "Black", "Hispanic", "White")
    for gender in ("men", "women")
}


class TestDesign:
    def test_every_name_stands_once_in_every_place(self) -> None:
        cells = [cell for cell in PROTOCOL.cells if cell["job"] == "web developer"]
        places = Counter(
            (person, place)
            for cell in cells
            for place, person in enumerate(candidates(cell["candidates"]))
        )
        assert len(cells) == 24 * 8
        assert len(places) == 24 * 8 * 8 and set(places.values()) == {1}

    def test_every_name_stands_once_above_every_resume(self) -> None:
        cells = [cell for cell in PROTOCOL.cells if cell["job"] == "pharmacy technician"]
        above = Counter(
            (person, (place + int(cell["order"]) - 1) % 8)
            for cell in cells
            for place, person in enumerate(candidates(cell["candidates"]))
        )
        assert len(above) == 24 * 8 * 8 and set(above.values()) == {1}

    def test_every_resume_stands_equally_often_in_every_place(self) -> None:
        cells = [cell for cell in PROTOCOL.cells if cell["job"] == "web developer"]
        assert set(Counter(cell["order"] for cell in cells).values()) == {3 * 8}

    def test_the_prompt_has_every_name_at_its_resume(self) -> None:
        cell = PROTOCOL.cells[17]
        prompt = PROTOCOL.prompt_text(cell)
        at = [prompt.index(name) for _, name in candidates(cell["candidates"])]
        assert at == sorted(at)
        assert prompt.count("=====") == 8  # one in the instruction
        assert "{" not in prompt

    def test_two_prompts_of_a_line_up_differ_in_the_order_of_names_alone(self) -> None:
        cells = [cell for cell in PROTOCOL.cells if cell["job"] == "web developer"]
        for cell in cells[:8]:
            without = PROTOCOL.prompt_text(cell)
            for _, name in candidates(cell["candidates"]):
                assert without.count(name) == 1
                without = without.replace(name, "X")
            assert without == _nameless(cells[0])


def _nameless(cell: dict[str, str]) -> str:
    text = PROTOCOL.prompt_text(cell)
    for _, name in candidates(cell["candidates"]):
        text = text.replace(name, "X")
    return text


class TestMerit:
    """Eight résumés of a job state the same facts: every year, quantity, degree and skill."""

    def resumes(self, job: dict[str, str]) -> list[str]:
        return [f"{job[f'head{n}']}X{job[f'tail{n}']}" for n in range(1, 9)]

    @pytest.mark.parametrize("job", JOBS, ids=lambda job: str(job["job"]))
    def test_the_numbers_are_the_same(self, job: dict[str, str]) -> None:
        numbers = [Counter(re.findall(r"\d[\d,]*\d|\d", text)) for text in self.resumes(job)]
        assert len(numbers) == 8 and sum(numbers[0].values()) >= 9
        assert all(same == numbers[0] for same in numbers)

    @pytest.mark.parametrize("job", JOBS, ids=lambda job: str(job["job"]))
    def test_the_skills_are_the_same(self, job: dict[str, str]) -> None:
        first = self.resumes(job)[0].split("SKILLS\n")[1].strip().casefold()
        skills = {skill.strip() for skill in first.split(",")}
        assert len(skills) == 5
        for text in self.resumes(job):
            assert all(text.casefold().count(skill) >= 1 for skill in skills)

    @pytest.mark.parametrize("job", JOBS, ids=lambda job: str(job["job"]))
    def test_no_resume_is_much_longer_and_no_two_are_worded_alike(
        self, job: dict[str, str]
    ) -> None:
        texts = self.resumes(job)
        lengths = list(map(len, texts))
        assert max(lengths) / mean(lengths) < 1.2 and min(lengths) / mean(lengths) > 0.85
        runs = [_runs(text, 12) for text in texts]
        for number, own in enumerate(runs):
            assert not any(own & other for other in runs[:number])


def _runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


@pytest.fixture(scope="module")
def run_of_replies(tmp_path_factory: pytest.TempPathFactory, computed_once: Path) -> tiltmeter.Run:
    out = tmp_path_factory.mktemp("hiring") / "run"
    return tiltmeter.import_outputs("hiring", published(RANKINGS), out)


class TestArticle:
    def test_all_64_rows(self, run_of_replies: tiltmeter.Run) -> None:
        """performance_ranking.csv: selection rate and impact ratio by job, model and group."""
        values = {
            (e.subject, e.condition["job"], e.condition["first_mentioned"], e.measure): e.value
            for e in run_of_replies.analyse(variant="published")
            if "job" in e.condition
        }
        table = published("hiring/performance_ranking.csv")
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 64
        for row in rows:
            key = (f"{row['model']}-0613", row["job"], CODES[row["demo"]])
            assert values[*key, "share_published"] == pytest.approx(float(row["selection_rate"]))
            assert values[*key, "impact_ratio_published"] == pytest.approx(
                float(row["disparate_impact_ratio"])
            )

    def test_what_the_article_did_not_say(self, run_of_replies: tiltmeter.Run) -> None:
        rows = run_of_replies.analyse()
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

    def test_rows_over_line_ups_and_names(self, run_of_replies: tiltmeter.Run) -> None:
        found = {
            row.condition["first"]: row
            for row in run_of_replies.analyse()
            if row.measure == "from_even" and "job" not in row.condition and "3.5" in row.subject
        }
        for group, (value, low, high, before, after) in OVER_BOTH.items():
            row = found[group]
            assert 100 * (row.value or 0) == pytest.approx(value, abs=0.01)
            assert 100 * (row.low or 0) == pytest.approx(low, abs=0.01)
            assert 100 * (row.high or 0) == pytest.approx(high, abs=0.01)
            assert row.population is not None and tuple(row.population["words"]) == (100,)
            assert row.population["p_these_adjusted"] == pytest.approx(before, abs=0.001)
            assert row.p_adjusted == pytest.approx(after, abs=0.001)


@pytest.mark.parametrize("line", ['{"path": "a"}', '{"names": ["a", "b"], "groups": [7, 8]}'])
def test_a_line_that_is_not_a_reply_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text(f"{line}\n", "utf-8")
    with pytest.raises(UsageError, match=r"replies\.jsonl, line 1 is not a reply"):
        tiltmeter.import_outputs("hiring", path, tmp_path / "run")


def test_planted_rankings_are_found(tmp_path: Path) -> None:
    settings = "protocol=hiring,Black men=0.4,place 1=3,refuse=0.05,short=0.1"
    run = tiltmeter.run(
        "hiring", f"planted:{settings}", tmp_path / "run", where={"job": ("web developer",)}
    )
    truth = truths(settings, {"job": "web developer"})
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
    assert truths("protocol=hiring,Black men=0.5")["Black men"] == pytest.approx(0.5 / 7.5)
    assert truths("protocol=hiring,place 1=3")["place 1"] == pytest.approx(0.3)


def test_settings_that_rankings_lack_are_refused() -> None:
    with pytest.raises(UsageError, match="rankings have no both"):
        truths("protocol=hiring,both=0.1")
    with pytest.raises(UsageError, match="Black men"):
        truths("protocol=hiring,Blak men=0.1")


@needs(RANKINGS)
def test_a_changed_reply_is_told_by_its_folder(tmp_path: Path) -> None:
    import lzma

    text = lzma.decompress(published(RANKINGS).read_bytes()).decode()
    path = tmp_path / "rankings.jsonl"
    path.write_text(text.replace("1. ", "1) ", 1), "utf-8")
    where = re.escape(str(Path(json.loads(text.splitlines()[0])["path"]).parent))
    with pytest.raises(UsageError, match=rf"{where} differs.*git clone"):
        tiltmeter.import_outputs("hiring", path, tmp_path / "run")


@needs(RANKINGS)
def test_a_clone_reads_as_the_file_does(tmp_path: Path) -> None:
    """The release has a file per reply; here two of its folders, the others are told missing."""
    import lzma

    clone = tmp_path / "clone"
    for line in lzma.decompress(published(RANKINGS).read_bytes()).decode().splitlines():
        row = json.loads(line)
        if "/oversampled/" not in row["path"] or "retail" not in row["path"]:
            continue
        file = clone / "data" / "intermediary" / "resume_ranking" / row["path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = {
            "choices": [{"message": {"content": row["reply"]}}],
            "model": row["model"],
            "context": {
                "job": row["job"],
                "default_order": row["names"],
                "demo_order": row["groups"],
            },
        }
        file.write_text(json.dumps(whole), "utf-8")
    run = tiltmeter.import_outputs("hiring", clone, tmp_path / "run")
    assert run.counts()["outputs"] == 44 + 43
    assert any("the copy lacks" in note and "and 11 more" in note for note in run.notes)
