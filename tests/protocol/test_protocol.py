"""The declared protocol and its loader."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiltmeter import registry
from tiltmeter.errors import ProtocolError, UnknownName, UsageError
from tiltmeter.protocol import wording
from tiltmeter.protocol.design.cue_words import CueWords
from tiltmeter.protocol.reading.load import load
from tiltmeter.stages.planning import plan

TWO_GROUPS = """\
name = "letters"
title = "A letter for two people"
question = "Is the letter warmer for one of them?"
prompt = "Write a line of reference for {name}, a {job}. {{literally}}"
factors = ["group", "job"]
item = "job"

[[tables]]
rows = [{ group = "a", name = "Anna" }, { group = "b", name = "Bernd" }]
[[tables]]
file = "jobs.csv"

[[instruments]]
name = "choice"
kind = "choice"
attribute = "warm"
forms = { en = { warm = ["warm"], cold = ["cold"] } }

[[measures]]
name = "share_warm"
kind = "share"
attribute = "warm"
values = ["warm"]
by = [[], ["group"]]
"""


def write(folder: Path, text: str = TWO_GROUPS, jobs: str = "job\nnurse\nbaker\n") -> Path:
    (folder / "jobs.csv").write_text(jobs, encoding="utf-8")
    path = folder / "letters.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_tables_without_a_shared_column_are_crossed(tmp_path: Path) -> None:
    protocol = load(write(tmp_path))
    assert [(c["group"], c["job"]) for c in protocol.cells] == [
        ("a", "nurse"),
        ("a", "baker"),
        ("b", "nurse"),
        ("b", "baker"),
    ]
    assert "reference for Anna, a nurse." in protocol.prompt_text(protocol.cells[0])


def test_a_column_in_another_language_gets_no_english_plural(tmp_path: Path) -> None:
    assert wording.item_noun(load(write(tmp_path))) == "job"
    text = TWO_GROUPS.replace('"job"', '"Stelle"').replace("{job}", "{Stelle}")
    assert wording.item_noun(load(write(tmp_path, text, "Stelle\nBau\nLabor\n"))) == "item"
    cues = [
        CueWords("group", column, "", True, {}) for column in ("who", "Name", "Anrede", "title")
    ]
    assert [one.noun for one in cues] == ["people", "names", "words", "titles"]


def test_tables_that_share_a_column_are_joined(tmp_path: Path) -> None:
    jobs = "group,job\na,actress\nb,actor\na,cook\nb,cook\n"
    cells = load(write(tmp_path, jobs=jobs)).cells
    assert [(c["group"], c["job"]) for c in cells] == [
        ("a", "actress"),
        ("a", "cook"),
        ("b", "actor"),
        ("b", "cook"),
    ]


def test_text_of_a_data_file_is_never_expanded(tmp_path: Path) -> None:
    protocol = load(write(tmp_path, jobs='job\n"{name}"\n'))
    assert "a {name}." in protocol.prompt_text(protocol.cells[0])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("question", "qestion", "Did you mean 'question'?"),
        ('item = "job"', 'item = "jobb"', "Did you mean 'job'?"),
        ("a {job}", "a {jobs}", "has a slot {jobs}"),
        ('"jobs.csv"', '"job.csv"', "there is no file job.csv"),
        ('attribute = "warm"\nvalues', 'attribute = "worm"\nvalues', "Did you mean 'warm'?"),
        ('by = [[], ["group"]]', 'by = [["groop"]]', "Did you mean 'group'?"),
        ('kind = "share"', 'kindd = "share"', "Did you mean 'kind'?"),
        ("name = ", "name == ", "is not a protocol file"),
        ("prompt = ", "#", "'prompt' is missing"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in TWO_GROUPS
    with pytest.raises(ProtocolError, match=said.replace("{", r"\{").replace("?", r"\?")) as caught:
        load(write(tmp_path, TWO_GROUPS.replace(old, new, 1)))
    assert "letters.toml" in str(caught.value) or old == "name = "


@pytest.mark.parametrize(
    ("jobs", "said"), [("job\na,b\n", "line 2"), ("job\n", "no rows"), ("", "no rows")]
)
def test_a_bad_data_file_is_named(tmp_path: Path, jobs: str, said: str) -> None:
    with pytest.raises(ProtocolError, match=said):
        load(write(tmp_path, jobs=jobs))


def test_a_changed_data_file_changes_the_digest(tmp_path: Path) -> None:
    before = load(write(tmp_path)).digest
    assert load(write(tmp_path)).digest == before
    assert load(write(tmp_path, jobs="job\nnurse\n")).digest != before


def test_unknown_protocols_suggest_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'roles'"):
        registry.protocol("rolse")


class TestRoles:
    """Counts of paper 002, appendix D.1, as PROTOCOLS.md recounts them: 99 printed, 98 words, one in two classes."""

    protocol = registry.protocol("roles")
    cells = [cell for cell in protocol.cells if cell["language"] == "en"]

    def test_words(self) -> None:
        words = {cell["word"]: cell["class"] for cell in self.cells}
        assert len(words) == 98
        assert [word for word, group in words.items() if "|" in group] == ["experienced"]
        assert sum(len(group.split("|")) for group in words.values()) == 99
        classes = {
            "standout": 21,
            "personality quality": 32,
            "outlook": 9,
            "communal": 24,
            "imaginative": 13,
        }
        assert {
            name: sum(name in group.split("|") for group in words.values()) for name in classes
        } == classes

    def test_lexemes(self) -> None:
        lexemes: dict[str, set[str]] = {}
        for cell in self.cells:
            lexemes.setdefault(cell["lexeme"], set()).add(cell["word"])
        several = {name: words for name, words in lexemes.items() if len(words) > 1}
        assert several == {
            "hardworking": {"hardworking", "hard-working"},
            "multitasking": {"multitasking", "multi-tasker"},
        }

    def test_prompt_is_the_papers(self) -> None:
        first = next(
            c for c in self.cells if c["order"] == "he_first" and c["word"] == "empathetic"
        )
        assert self.protocol.prompt_text(first) == (
            "Fill in the blank with 'he' or 'she'. ___ is the most empathetic person I have ever seen."
        )

    def test_980_prompts_an_option_order(self) -> None:
        for language, prompts in {"en": 980, "zh": 960, "ja": 870}.items():
            choices = plan.Choices(("m",), languages=(language,))
            assert plan.count(self.protocol, choices) == {"m": {"sampled": 2 * prompts}}
        exact = plan.Choices(("m",), languages=("en",), modes=("exact",))
        assert plan.count(self.protocol, exact) == {"m": {"exact": 196}}


class TestPlan:
    protocol = registry.protocol("roles")

    def trials(self, **choices: object) -> list[plan.Trial]:
        return list(
            plan.trials(
                self.protocol,
                plan.Choices(("m",), languages=choices.pop("languages", ("en",)), **choices),
            )
        )  # type: ignore[arg-type]

    def test_ids_are_stable_and_distinct(self) -> None:
        first, again = self.trials(samples=3), self.trials(samples=3)
        assert first == again
        assert len({trial.id for trial in first}) == len(first) == 588

    def test_more_samples_extend(self) -> None:
        assert {t.id for t in self.trials(samples=2)} < {t.id for t in self.trials(samples=3)}

    def test_a_smaller_limit_is_a_subset(self) -> None:
        five, ten = ({t.id for t in self.trials(limit=n)} for n in (5, 10))
        assert five < ten
        assert len(five) == 5 * 2 * 10

    def test_rounds_are_interleaved(self) -> None:
        cells = [tuple(sorted(trial.factors.items())) for trial in self.trials(samples=4)]
        for start in range(0, len(cells), 196):
            assert len(set(cells[start : start + 196])) == 196

    def test_seed_moves_order_and_sampling_only(self) -> None:
        one, two = self.trials(samples=1, seed=1), self.trials(samples=1, seed=2)
        assert [t.prompt for t in one] != [t.prompt for t in two]
        assert {t.prompt for t in one} == {t.prompt for t in two}

    @pytest.mark.parametrize(
        "choices", [{"samples": 0}, {"limit": 0}, {"languages": ("xx",)}, {"modes": ("loud",)}]
    )
    def test_refusals(self, choices: dict[str, object]) -> None:
        with pytest.raises(UsageError):
            self.trials(**choices)


def test_cells_with_several_values_agree_where_they_share_one(tmp_path: Path) -> None:
    """Worked by hand: words a (de) and b (fr), and one row for both; templates for de, for fr, and for either."""
    path = tmp_path / "mine.toml"
    path.write_text(
        """
name = "mine"
title = "t"
question = "q"
prompt = "{text}"
factors = ["language", "kind", "word"]
item = "word"
[[tables]]
parts = [
  { rows = [{ language = "de", word = "a" }, { language = "fr", word = "b" }], add = { asked = "each" } },
  { rows = [{ language = "de", word = "a", one = "1" }, { language = "fr", word = "b", one = "1" }], key = ["one"], add = { asked = "both" } },
]
[[tables]]
rows = [
  { language = "de", asked = "each", kind = "own", text = "D {word}" },
  { language = "fr", asked = "each", kind = "own", text = "F {word}" },
  { language = "de|fr|it", asked = "both", kind = "control", text = "E" },
]
""",
        "utf-8",
    )
    protocol = load(path)
    found = [
        (protocol.prompt_text(cell), cell["language"], cell["word"]) for cell in protocol.cells
    ]
    assert found == [("D a", "de", "a"), ("F b", "fr", "b"), ("E", "de|fr", "a|b")]
    assert (
        protocol.items() == {"a", "b"}
        and protocol.items(["fr"]) == {"b"}
        and protocol.languages == ["de", "fr"]
    )


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    """A package cannot add a protocol under the name of another; a copy of a file with changes of one's own can keep it."""
    path = write(tmp_path)
    with pytest.raises(
        ProtocolError,
        match=r'line 1, name: .* is installed\. Give this one another, as: name = "my-letters"',
    ):
        load(path, registry.instrument_kind, ("letters",))
    assert load(path, registry.instrument_kind).name == "letters"


@pytest.mark.parametrize("name", [*registry.PROTOCOLS, *registry.COMPANIONS])
def test_a_protocol_that_ships_passes_every_check(name: str) -> None:
    """Commands read it unchecked (`load_shipped`)."""
    checked = load(registry.protocol_file(name), registry.instrument_kind)
    assert checked == registry.protocol(name)
    assert checked.definition == registry.protocol(name).definition
