"""What README and docs say is true: commands and Python run, options and errors are all there, links lead somewhere.

A page's blocks are worked through in order, in one folder, as a reader would:

    ```console, ```bash    lines that begin with `$ tiltmeter` or `tiltmeter` are run; what is shown below one must be said
    ```python              is run; the blocks of a page share their names
    ```LANGUAGE FILE       is written to FILE; a pyproject.toml is "installed", so that its entry points are found
    ```text                is not run: it needs a key, somebody's server or minutes

Three things are changed on the way: an address after --base-url becomes that of a planted model served here, a run on the
built-in model is cut to one word or text (and needs the model in the cache), and a self-test is cut to the first audit of a
protocol (test_selftest.py goes through all).
"""

from __future__ import annotations

import json
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from importlib.metadata import PackageMetadata, metadata, requires
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement

from tests import kept_files
from tests.test_floors import FLOORS, SOURCE
from tiltmeter import __version__, errors
from tiltmeter.api.check import selftest
from tiltmeter.cli import VERBS, group, main
from tiltmeter.models.local import weights
from tiltmeter.planted.settings import Settings
from tiltmeter.protocol import MeasureSpec, Mode, Protocol, Variant
from tiltmeter.protocol.built_in_measures import KINDS
from tiltmeter.protocol.measures import measure_kind
from tiltmeter.protocol.source.keys import TableKeys
from tiltmeter.records import OUTCOMES, Estimate
from tiltmeter.registry import INSTRUMENTS, MODELS, PROTOCOLS, sourced_names
from tiltmeter.store import Store, views
from tiltmeter.system import cache

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src").rglob("*.md"),
        *(ROOT / "benchmarks").rglob("*.md"),
    ]
)
RUN_IN = [page for page in PAGES if page.parent == ROOT or ROOT / "docs" in page.parents]
SLOW = {"docs/how-to/papers.md"}  # every table and figure of four papers
KEPT = {
    "docs/how-to/papers.md",
    "docs/how-to/what-helps.md",
}  # whose files are held against kept ones
REFERENCE = runpy.run_path(str(ROOT / "scripts" / "reference_pages.py"))
# fields of a protocol that no file sets
NO_KEYS = {"digest", "source", "inline", "definition", "notes"}
NO_KEYS |= {"picture_names", "picture_folder", "asked_digest"}
ROW = re.compile(r"^\|.*", re.MULTILINE)  # of a table; its commands stand in backticks
# what stands for a reader's own in commands of tables, and what keeps pages from being served
OWN = {
    "RUN": "protext",
    "M": "planted-rewriter:gender=0.3",
    "J": "planted:protocol=protext",
    "COUNTS.csv": "counts.csv",
}
ENDS = {
    "explore": ("--static", "pages-{}"),
    "annotate": ("--progress",),
    "run": ("--limit", "4", "--out", "own"),
}
FENCE = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Command:
    """A command line of a page, and what the page shows below it."""

    arguments: tuple[str, ...]
    shown: tuple[str, ...]

    @property
    def on_builtin(self) -> bool:
        return "builtin" in self.arguments


def commands(block: str) -> Iterator[Command]:
    for part in re.split(
        r"^(?:\$ )?(?=tiltmeter )", block.replace("\\\n", " "), flags=re.MULTILINE
    )[1:]:
        line, *shown = part.splitlines()
        yield Command(
            tuple(shlex.split(line, comments=True)[1:]), tuple(s for s in shown if s.strip(" …"))
        )


def all_commands(languages: tuple[str, ...]) -> list[Command]:
    blocks = [found for page in RUN_IN for found in FENCE.finditer(text_of(named(page)))]
    return [command for found in blocks if found[1] in languages for command in commands(found[3])]


class Reader:
    """Somebody who does what a page says, in a folder of their own."""

    program = (sys.executable, "-m", "tiltmeter")

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        self.names: dict[str, object] = {"__name__": "page"}
        self.servers: list[subprocess.Popen[str]] = []
        self.url = ""

    def work_through(self, page: str) -> None:
        for language, file, content in FENCE.findall(page):
            if file:
                (self.folder / file).write_text(content, encoding="utf-8")
                if file == "pyproject.toml":
                    self.install(tomllib.loads(content)["project"])
            elif language == "python":
                self.execute(content)
            elif language in ("console", "bash"):
                for command in commands(content):
                    if not command.on_builtin:
                        self.do(command)

    def type_in_rows(self, page: str) -> int:
        """Types what stands in backticks in the rows of the page's tables; how many commands."""
        told = dict.fromkeys(
            line for row in ROW.findall(page) for line in re.findall(r"`tiltmeter ([^`]+)`", row)
        )
        for number, line in enumerate(told):
            verb, *arguments = (OWN.get(one, one) for one in shlex.split(line))
            ends = [one.format(number) for one in ENDS.get(verb, ())]
            self.do(Command((verb, *arguments, *ends), ()))
        return len(told)

    def do(self, command: Command) -> None:
        arguments = list(command.arguments)
        if arguments[0] == "serve":
            self.serve(arguments)
            return
        if "--base-url" in arguments:
            if not self.url:
                self.serve(["serve", "planted:she=0.7"])
            arguments[arguments.index("--base-url") + 1] = self.url
            arguments += ["--limit", "4"]
        code, said = self.call(arguments)
        fails = any(line.startswith("error:") for line in command.shown)
        assert (code in (1, 2)) if fails else (code == 0), (
            f"{arguments}: exit {code}\n{said[-2000:]}"
        )
        at = 0
        for line in command.shown:
            wanted = " ".join(line.split())
            assert wanted in said[at:], f"{arguments} does not say '{wanted}'\n{said[-2000:]}"
            at = said.index(wanted, at) + len(wanted)

    def execute(self, content: str) -> None:
        """A page's Python, in this process."""
        exec(compile(content, "page", "exec"), self.names)

    def call(self, arguments: list[str]) -> tuple[int, str]:
        """The exit code of a command and what it said, in one line."""
        code = main(arguments)
        output = self.capsys.readouterr()
        return code, " ".join((output.out + output.err).split())

    def serve(self, arguments: list[str]) -> None:
        if "--port" not in arguments:
            arguments += ["--port", "0"]
        command = [*self.program, *arguments]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=self.folder)
        self.servers.append(server)
        assert server.stdout is not None
        self.url = server.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:")

    def install(self, project: dict[str, object]) -> None:
        """What pip would leave of a package whose modules lie in the folder."""
        info = self.folder / f"{project['name']}-{project['version']}.dist-info".replace(
            "tiltmeter-", "tiltmeter_"
        )
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        points: dict[str, dict[str, str]] = project["entry-points"]  # type: ignore[assignment]
        lines = [
            line
            for name, entries in points.items()
            for line in (f"[{name}]", *(f"{key} = {value}" for key, value in entries.items()))
        ]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")

    def leave(self) -> None:
        for server in self.servers:
            server.terminate()
            server.communicate(timeout=300)


@pytest.fixture
def reader(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Reader]:
    for key in ("OPENAI_API_KEY", "PARROT_KEY"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    # as on a reader's machine, what one command computed of a run is there for the next
    monkeypatch.delenv(cache.KEEP)
    monkeypatch.setattr(cache, "_texts", lambda: tmp_path / "computed")
    first = list({audit["protocol"]: audit for audit in reversed(selftest.audits())}.values())
    monkeypatch.setattr(selftest, "audits", lambda: first)
    modules = set(sys.modules)
    made = Reader(tmp_path, capsys)
    try:
        yield made
    finally:
        made.leave()
        measure_kind.cache_clear()
        for name in set(sys.modules) - modules:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
                del sys.modules[name]


def _slow(page: Path) -> tuple[pytest.MarkDecorator, ...]:
    """A page whose commands take more than ten seconds of a processor is outside `make test`."""
    return (pytest.mark.slow,) if named(page) in SLOW else ()


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=_slow(page), id=named(page)) for page in RUN_IN]
)
def test_what_a_page_tells_to_type_works(page: Path, reader: Reader) -> None:
    text = page.read_text(encoding="utf-8")
    reader.work_through(text)
    if page.name == "papers.md":  # whose tables name the commands of a figure each
        reader.folder.joinpath("counts.csv").write_text(
            counts_of("docs/explanation/gramvis.md"), "utf-8"
        )
        assert reader.type_in_rows(text) >= 20
    if named(page) in KEPT:
        blocks = [content for language, _, content in FENCE.findall(text) if language == "console"]
        typed = [command.arguments for block in blocks for command in commands(block)]
        kept_files.compare(page, typed, reader.folder)


def counts_of(page: str) -> str:
    """The file of counts that a page shows."""
    return next(
        content for _, name, content in FENCE.findall(text_of(page)) if name == "counts.csv"
    )


@pytest.mark.skipif(
    weights.find_cached(weights.SMOLLM2) is None,
    reason="the built-in model is not in the cache: make demo",
)
def test_commands_on_the_built_in_model_work(reader: Reader) -> None:
    pytest.importorskip("xllamacpp")
    found = [command for command in all_commands(("console", "bash")) if command.on_builtin]
    assert found
    reader.do(Command(("init", "audit.toml"), ()))  # which a page has written before
    for command in found:
        reader.do(Command((*command.arguments, "--limit", "1"), command.shown))


def test_most_commands_are_run() -> None:
    """At most one in six is fenced as text or waits for the built-in model."""
    run, told = all_commands(("console", "bash")), all_commands(("text",))
    left_out = len(told) + sum(command.on_builtin for command in run)
    assert len(run) >= 30
    assert left_out * 6 <= len(run) + len(told)


def test_a_false_command_and_a_false_output_are_noticed(reader: Reader) -> None:
    reader.do(
        Command(
            ("plan", "roles", "--model", "planted", "--language", "en"), ("roles 1: 1,960 trials",)
        )
    )
    for arguments, shown in (
        (("plan", "roles"), ()),
        (("plan", "roles", "--model", "planted"), ("roles 1: 7 trials",)),
        (("ls",), ("error: no",)),
    ):
        with pytest.raises(AssertionError):
            reader.do(Command(arguments, shown))


# what the pages list


def section(page: str, heading: str) -> str:
    """The text of a page under a heading, up to the next of the same level or above."""
    level = heading.split(" ")[0]
    found = re.search(
        rf"^{re.escape(heading)}$(.*?)(?=^#{{1,{len(level)}}} |\Z)",
        text_of(page),
        re.MULTILINE | re.DOTALL,
    )
    assert found, f"{page} has no heading '{heading}'"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of a page's tables, without headers and rules."""
    lines = [line for line in text.splitlines() if re.match(r"\|(?!-)", line)]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def keys(text: str) -> set[str]:
    """What stands in backticks in the first cell of each row."""
    return {key for row in rows(text) for key in re.findall(r"`([^`]+)`", row[0])}


def test_every_verb_has_a_section() -> None:
    documented = re.findall(r"^## tiltmeter (\w+)$", text_of("docs/reference/cli.md"), re.MULTILINE)
    assert documented == list(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_the_section_of_a_verb_shows_its_arguments(verb: str) -> None:
    command = group.get_command(click.Context(group), verb)  # type: ignore[attr-defined]
    assert command is not None
    help_text = " ".join((command.help or "").split())
    assert help_text.startswith(VERBS[verb]), f"{verb} --help begins otherwise than the list"
    arguments = [
        str(one.name).upper()
        for one in command.params
        if isinstance(one, click.Argument) and one.required
    ]
    if not {"MODEL", "WHAT"} & set(arguments):
        text = section("docs/reference/cli.md", f"## tiltmeter {verb}").partition("\n### ")[0]
        assert f"`tiltmeter {' '.join([verb, *arguments])}" in text


def test_every_error_has_a_line_with_its_exit_code() -> None:
    def classes(kind: type[errors.TiltmeterError]) -> Iterator[type[errors.TiltmeterError]]:
        yield kind
        for below in kind.__subclasses__():
            if below.__module__ == errors.__name__:
                yield from classes(below)

    told = {
        row[0].strip("`"): int(row[1])
        for row in rows(text_of("docs/reference/messages.md"))
        if row[0].startswith("`")
    }
    assert told == {kind.slug: kind.exit_code for kind in classes(errors.TiltmeterError)}


def test_every_field_of_the_estimate_is_explained() -> None:
    told = keys(section("docs/reference/run-folder.md", "## The estimate"))
    assert told == {*Estimate.columns(), "query"}  # which --json alone has


def test_every_table_and_column_of_the_run_is_explained(tmp_path: Path) -> None:
    told = {
        row[0]: set(re.findall(r"\w+", row[2]))
        for row in rows(section("docs/reference/run-folder.md", "## The run folder"))
    }
    with Store(tmp_path / "run", create=True) as store:
        stored = {
            row[0] for row in store.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        columns = {
            table: {row[1] for row in store.rows(f"PRAGMA table_info({table})")}
            for table in stored - {*views.PACKED}
        }
        columns |= {table: {*views.public_columns(table, "r")} for table in views.TABLES}
        assert set(columns) == set(told) - {"table"}
        for table, names in columns.items():
            assert names <= told[table], table


@pytest.mark.parametrize("page", REFERENCE["PAGES"])
def test_a_page_of_reference_is_as_it_would_be_written(page: str) -> None:
    """`python scripts/reference_pages.py` writes it."""
    assert text_of(f"docs/reference/{page}") == REFERENCE["PAGES"][page]()


def test_pages_of_reference_say_what_the_records_say() -> None:
    patience = "|`--patience`|Minutes of an outage that a call outlasts. Default: 30.|"
    asking = section("docs/reference/options.md", "## plan, run, audit, label, jobs, doctor")
    assert patience in asking.splitlines()
    for heading, known in {
        "## The protocol": {f.name for f in fields(Protocol)} - NO_KEYS | {"controls"},
        "## A table: `[[tables]]`": set(TableKeys.__annotations__),
        "## A mode: `[modes.NAME]`": {f.name for f in fields(Mode)} - {"name"} | {"aside"},
        "## A measure: `[[measures]]`": {f.name for f in fields(MeasureSpec)},
        "## A variant: `[variants.NAME]`": {f.name for f in fields(Variant)} - {"name"},
        "## Settings of instruments": set(INSTRUMENTS),
    }.items():
        listed = keys(section("docs/reference/protocol-keys.md", heading))
        assert {key for key in listed if "." not in key} >= known, heading
    assert keys(text_of("docs/reference/measures.md")) == set(KINDS)


def test_every_setting_of_a_planted_model_is_explained() -> None:
    told = keys(section("docs/reference/models.md", "## Settings of a planted model"))
    own = {f.name for f in fields(Settings)} - {"text", "value", "share", "levels", "planted"}
    shown = {
        "she",
        "she.communal",
        "refuse.communal",
        "communal.female",
        "appearance.FF",
        "male.masculine",
        "agentic.women",
        "Black men",
        "place 1",
        "protocol=words",
        "protocol=dialogues",
    }
    assert {key.partition("=")[0] for key in told} - shown - {"never"} == own


def test_every_protocol_and_every_kind_of_model_is_listed() -> None:
    assert keys(text_of("docs/reference/audits.md")) >= {*PROTOCOLS, *sourced_names()}
    kinds = text_of("docs/reference/models.md").partition("\n## ")[0]
    assert {key.partition(":")[0] for key in keys(kinds)} == set(MODELS)


def test_every_room_stands_on_its_floor() -> None:
    told = {
        re.sub(r"/|\.py", "", room): int(row[0])
        for row in rows(section("docs/explanation/how-it-works.md", "## The floors"))
        if row[0].isdigit()
        for room in re.findall(r"`([^`]+)`", row[1])
    }
    there = {
        path.name.removesuffix(".py")
        for path in SOURCE.iterdir()
        if path.suffix == ".py" or path.is_dir()
    }
    assert told == {room: floor for room, floor in FLOORS.items() if room in there}


def test_every_outcome_is_named() -> None:
    assert set(OUTCOMES) <= set(
        re.findall(r"`(\w+)`", section("docs/explanation/how-it-works.md", "## The stages"))
    )


# links, licences, versions


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", page.read_text(encoding="utf-8"))):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), f"{named(page)}: {target}"
        assert not anchor or anchor in anchors(file.read_text(encoding="utf-8")), (
            f"{named(page)}: {target}"
        )


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_page_holds_a_path_of_somebodys_machine(page: Path) -> None:
    assert not re.search(
        r"(?<![\w.])/(?:home|root|tmp|work|Users)/", page.read_text(encoding="utf-8")
    )


def runtime() -> Iterator[str]:
    """Every package that an install with all extras but `test` and `litellm` brings on this platform, by name.

    litellm, diffusers, ray and zstandard are in no environment of the tests: their packages are named in THIRD_PARTY.md as one of their
    versions brings them.
    """
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    wanted = [
        *project["dependencies"],
        *(
            line
            for name, lines in project["optional-dependencies"].items()
            if name not in ("test", "litellm", "diffusers", "inspect", "ray")
            for line in lines
        ),
    ]
    todo, seen = [Requirement(line) for line in wanted], {"tiltmeter"}
    while todo:
        one = todo.pop()
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        if name in seen or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        seen.add(name)
        yield name
        todo += [Requirement(line) for line in requires(name) or ()]


def stated(found: PackageMetadata) -> str:
    """The licence that a package states: an expression, a short text, or a classifier."""
    short = (found.get("License") or "").strip()
    classifiers = [
        line for line in found.get_all("Classifier") or () if line.startswith("License ::")
    ]
    return found.get("License-Expression") or (
        short if len(short) < 40 and short else " ".join(classifiers)
    )


def test_every_package_is_named_with_the_licence_that_it_states() -> None:
    told = {
        re.sub(r"[-_.]+", "-", row[0]).lower(): row[1] for row in rows(text_of("THIRD_PARTY.md"))
    }
    for name in runtime():
        assert name in told, f"THIRD_PARTY.md does not name {name}"
        licence = stated(metadata(name))
        family = re.match(r"[A-Za-z0]+", told[name])
        assert told[name] == licence or (
            family and family[0].replace("PSF", "Python Software") in licence
        ), (
            name,
            licence,
        )


def test_the_citation_and_the_changelog_have_this_version() -> None:
    citation = text_of("CITATION.cff")
    assert f"\nversion: {__version__}\n" in citation
    assert re.search(r"^date-released: \d{4}-\d\d-\d\d$", citation, re.MULTILINE)
    assert f"## [{__version__}]" in text_of("CHANGELOG.md")


def test_the_archive_is_told_what_the_citation_says() -> None:
    citation, archive = text_of("CITATION.cff"), json.loads(text_of(".zenodo.json"))
    for key, told in {
        "title": archive["title"],
        "abstract": archive["description"],
        "version": archive["version"],
        "license": archive["license"],
    }.items():
        assert re.search(rf'^{key}: "?{re.escape(told)}"?$', citation, re.MULTILINE), key
    names = re.findall(r'^  - name: "(.+)"$', citation, re.MULTILINE)
    assert names == [creator["name"] for creator in archive["creators"]]
    words = re.search(r"^keywords:\n((?:  - .+\n)+)", citation, re.MULTILINE)
    assert words and re.findall(r'- "?([^"\n]+)"?', words[1]) == archive["keywords"]


@pytest.mark.parametrize(
    ("pages", "most"),
    [("README.md", 1_200), ("CHANGELOG.md", 2_500), ("docs/**/*.md", 45_000)],
)
def test_there_is_no_more_to_read_than_promised(pages: str, most: int) -> None:
    """Words as `wc -w` counts them, generated pages and tables included."""
    assert sum(len(page.read_text("utf-8").split()) for page in ROOT.glob(pages)) <= most
