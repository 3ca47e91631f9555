"""A list of nouns of one's own in which one language has masculine nouns alone: a model that draws
more men whenever it is asked in a gendered language shows no grammatical gender.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import tiltmeter
from tiltmeter.api.check.planted_audits import with_small_pictures
from tiltmeter.cli import group

MEN = ",male.gendered=.9,female.gendered=.1,male.en=.5,female.en=.5,male.zh=.5,female.zh=.5"
NOUNS = 8  # of each gender and language


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tiltmeter.Run:
    folder = tmp_path_factory.mktemp("genders")
    audit = Path(with_small_pictures("gramvis", folder))
    words = audit.parent / "words.csv"
    with words.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kept = []
    for language, gender in (("de", "masculine"), ("es", "masculine"), ("es", "feminine")):
        own = [r for r in rows if (r["language"], r["grammatical_gender"]) == (language, gender)]
        kept += own[:NOUNS]
    with words.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(kept)
    model = f"planted:protocol={audit}"
    languages = ["de", "es"]
    return tiltmeter.run(
        str(audit), model + MEN, folder / "run", judge=[model], samples=2, language=languages
    )


def test_a_claim_over_languages_leaves_out_the_one_that_lacks_a_gender(run: tiltmeter.Run) -> None:
    """Over both, 16 masculine nouns at +.4 and 8 feminine ones at −.4 would be +.13."""
    (whole,) = (row for row in run.analyse() if row.measure == "own_gender_overall")
    assert whole.note == "without de: not of all groups"
    assert whole.clusters == 2 * NOUNS and whole.low is not None and whole.high is not None
    assert whole.low < 0 < whole.high


def test_its_own_claim_says_what_cannot_be_told(run: tiltmeter.Run) -> None:
    found = CliRunner().invoke(group, ["analyse", str(run.folder), "--json"])
    first = json.loads(found.stdout)["first_sentence"]
    assert first["lead"].startswith("Asked in German, A pictures masculine nouns as of their own")
    assert first["lead"].endswith("; nouns of one gender cannot show grammar.")
