"""Runs to look at: pictures with a panel's votes, texts with hostile ones among them, rewrites."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest

import tiltmeter
from tests import forging
from tiltmeter.records import Label, Output
from tiltmeter.store import Store
from tiltmeter.store.blobs import place_of

GUARDS = str(Path(__file__).parents[1] / "guards.toml")
# By a path that is the same in every checkout: it is part of the names of the models, so of the ids
# of the trials, on which every draw depends.
LOCAL = "guards.toml"
SUBJECT = (
    f"planted:protocol={LOCAL},male.masculine=.8,female.feminine=.6,refuse=.1,invalid=.05,revise=.3"
)
JUDGES = tuple(
    f"planted:protocol={LOCAL},{rest}"
    for rest in ("seed=0", "seed=1,accuracy=.7", "seed=2,agree=.8")
)
HOSTILE = (
    "<script>document.title='owned'</script>",
    '"><img src=http://evil.example/x.png onerror="document.title=\'owned\'">',
    '<a href="javascript:alert(1)" onclick="alert(2)">she</a> <iframe src=\'data:text/html,<script>alert(1)</script>\'></iframe>',
    "</pre></article></dialog><style>body{display:none}</style><base href=http://evil.example/>",
    "she \u202e eh\u202c \x1b[31mred\x1b[0m \u2066hidden\u2069 \ufeff {{ 7*7 }} {% raw %}",
)


@pytest.fixture(scope="session")
def guards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 conditions × 3 samples, of which a panel of three votes."""
    home = tmp_path_factory.mktemp("explore")
    shutil.copy(GUARDS, home / LOCAL)
    with contextlib.chdir(home):
        tiltmeter.run(LOCAL, SUBJECT, home / "guards", judge=JUDGES, samples=3)
    return home / "guards"


@pytest.fixture(scope="session")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pronouns of two subjects, drawn and read, labelled by two annotators; the first answers of one word are hostile."""
    folder = tmp_path_factory.mktemp("explore") / "texts"
    tiltmeter.run(
        "roles",
        ["planted:she=0.7", "planted:she=0.4"],
        folder,
        language="en",
        limit=5,
        samples=4,
        mode=["sampled", "exact"],
        judge="planted:accuracy=0.8",
    )
    with Store(folder, writing=True) as store:
        rows = list(
            store.rows(
                "SELECT o.trial, o.call FROM outputs o JOIN trials t ON t.id = o.trial WHERE t.mode = 'sampled'"
                " ORDER BY json_extract(t.factors, '$.lexeme'), o.trial LIMIT 5"
            )
        )
        outputs = [
            Output(trial, "answer", text, call)
            for (trial, call), text in zip(rows, HOSTILE, strict=True)
        ]
        labels = [
            Label(output.trial, "choice/hostile@00000000", "pronoun", output.text)
            for output in outputs
        ]
        store.write([], outputs, labels)
    return folder


@pytest.fixture(scope="session")
def rewrites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explore") / "rewrites"
    tiltmeter.run("protext", "planted-rewriter:gender=0.3,misgender=0.2", folder, limit=12)
    return folder


@pytest.fixture
def broken(guards: Path, tmp_path: Path) -> Path:
    """A copy of the run of pictures with one picture gone and one cut short; its first two answers, by id."""
    folder = tmp_path / "broken"
    shutil.copytree(guards, folder)
    with forging.changing(folder) as db:
        gone, cut = (
            row[0]
            for row in db.execute(
                "SELECT DISTINCT blob FROM outputs WHERE outcome = 'answer' ORDER BY trial LIMIT 2"
            )
        )
    db.close()
    place_of(folder, gone).unlink()
    path = place_of(folder, cut)
    path.write_bytes(path.read_bytes()[:200])
    return folder
