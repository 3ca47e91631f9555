"""Run by test_installed.py in a process that knows only the installed package: opens its data by the code that reads it.

Prints the data files that were opened, each by its place in the package. Every module is imported, every function without
arguments that keeps what it read (`@cache`) is called, every protocol, start and example is loaded, a planted run is
reported, and the programs for texts about people are run.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import shutil
import sys
import tempfile
import warnings
from itertools import product
from pathlib import Path

from PIL import Image

OPENED: set[str] = set()
sys.addaudithook(lambda event, args: OPENED.add(str(args[0])) if event == "open" else None)


def main() -> None:
    import tiltmeter

    home = Path(tiltmeter.__file__).parent
    assert str(home).startswith(sys.argv[1]), home
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        call_what_reads()
        load_protocols()
        run_and_report()
        run_programs()
    found = {Path(os.path.normpath(name)) for name in OPENED}
    print(*sorted(str(path.relative_to(home)) for path in found if home in path.parents), sep="\n")


def call_what_reads() -> None:
    """Imports every module, calls its cached functions, and compiles the templates that these return."""
    import jinja2

    import tiltmeter

    home = Path(tiltmeter.__file__).parent
    for path in sorted(home.rglob("*.py")):
        name = ".".join(path.relative_to(home.parent).with_suffix("").parts)
        name = name.removesuffix(".__init__")
        if name.endswith("__main__"):
            continue
        for value in list(vars(importlib.import_module(name)).values()):
            cached = hasattr(value, "cache_info") and value.__module__ == name
            if cached and not inspect.signature(value).parameters:
                found = value()
                if isinstance(found, jinja2.Environment):
                    for template in found.list_templates(extensions=["j2"]):
                        found.get_template(template)


def load_protocols() -> None:
    from tiltmeter import registry
    from tiltmeter.api.check import selftest
    from tiltmeter.api.start import init, own_prompts
    from tiltmeter.cli import main
    from tiltmeter.instruments.wording import texts
    from tiltmeter.languages import pack
    from tiltmeter.languages.phrases import language
    from tiltmeter.models import error_rates, kinds
    from tiltmeter.protocol.design.tables import Beside
    from tiltmeter.protocol.source.source_lines import SourceLocation

    assert len(selftest.audits()) > 20
    for name in (*registry.PROTOCOLS, *registry.COMPANIONS):
        for code in registry.protocol(name).languages:
            with contextlib.suppress(KeyError, FileNotFoundError):
                language(code)
    for name in (*registry.PROTOCOLS, *registry.sourced_names()):
        if registry.source(name) is not None:
            registry.declaration(name)
        registry.printed_numbers(name)
    pack.blank_files()
    data = Path(registry.__file__).parent / "protocols" / "data"
    texts("unread")  # the questions of a judge for what rules left unread
    texts("negotiation")  # those of two judges who must agree
    for path in data.glob("*.csv"):  # of which some are there for protocols of one's own
        Beside(data).rows(path.name, SourceLocation(path.name))
    for kind in kinds.all_kinds():
        if kind.error_rates:
            error_rates.read_rates(kind.error_rates)
    init.write(Path("text/audit.toml"))
    init.write(Path("images/audit.toml"), images=True)
    for name in init.examples():
        init.write(Path(name) / "audit.toml", example=name)
    prompts = Path(
        "traffic.jsonl"
    )  # an audit of prompts: cues, names, and the parts of its protocol
    prompts.write_text('{"prompt": "Write to my wife Emily Baker about the visit."}\n', "utf-8")
    asked = [
        "--swap",
        "gender,race,age,religion,disability,orientation",
        "--list",
        "warm=kind,glad",
    ]
    asked += ["--tools", "search,book", "--samples", "2", "--judge", "planted"]
    main(["audit", str(prompts), *asked, "--dry-run", "--out", "traffic"])
    for name in ("cook/woman.png", "cook/man.png", "pilot/woman.png", "pilot/man.png"):
        Path("shown", name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), "red").save(Path("shown", name))
    main(["init", "shown.toml", "--from", "shown", "--options", "yes,no"])
    Beside(data.parent / "pairs").rows("jobs.csv", SourceLocation("jobs.csv"))
    Path("table").mkdir()
    for ending in ("", " Answer 'yes' or 'no'."):  # answers whose words are counted, and two words
        table = Path("table", f"{len(ending)}.csv")
        pairs = product((("Ann", "woman"), ("Ben", "man")), ("cook", "pilot"))
        rows = [f'"Hire {who}, a {job}?{ending}",{sex},{job}' for (who, sex), job in pairs]
        table.write_text("\n".join(["prompt,gender,item", *rows]) + "\n", encoding="utf-8")
        read = own_prompts.read(table, own_prompts.TableNames(measure="" if ending else "length"))
        init.write_over_table(table.with_suffix(".toml"), table, read)
    table = Path("table", "spoken.csv")
    rows = [
        f'"{ask.format(who)}",{sex},{job},{spoken}'
        for who, sex in (("Ann", "woman"), ("Ben", "man"))
        for job in ("cook", "pilot")
        for spoken, ask in (
            ("en", f"Hire {{}}, a {job}? Say 'yes' or 'no'."),
            ("de", f"Soll {{}} ({job}) kommen? Sagen Sie „ja“ oder „nein“."),
        )
    ]
    table.write_text("\n".join(["prompt,gender,item,language", *rows]) + "\n", encoding="utf-8")
    main(["init", "table/spoken.toml", "--from", str(table), "--cue", "gender"])
    for path in Path().glob("*/audit.toml"):
        registry.protocol(str(path))


def run_and_report() -> None:
    import tiltmeter
    from tiltmeter.cli import main as main_of_command
    from tiltmeter.explore import rendering, static

    for protocol, options in (
        ("roles", {"language": "en", "limit": 2}),
        ("protext", {"limit": 1}),
        ("soda", {"where": {"object": ["car"], "dimension": ["base", "gender"]}, "samples": 1}),
    ):
        model = "planted-rewriter:" if protocol == "protext" else f"planted:protocol={protocol}"
        run = tiltmeter.run(protocol, model, protocol, judge=model, **options)
        run.report()
        static.write([protocol], f"{protocol}-pages")
    shutil.copytree("roles", "roles-again")
    assert main_of_command(["history", "roles", "roles-again", "--out", "months.html"]) == 0
    for path in rendering.ASSETS.glob("*.*s"):
        rendering.asset(path.name)


def run_programs() -> None:
    from tiltmeter import registry
    from tiltmeter.protocols.protext import inference, neopronoun_texts, shipped
    from tiltmeter.protocols.word_lists import __main__ as word_lists

    registry.protocol(str(word_lists.HOME / "candidates.toml"))
    words = Path("nouns.csv")
    head = "language,article,noun,gloss,grammatical_gender"
    words.write_text(f"{head}\nde,die,Wache,guard,feminine\n", "utf-8")
    assert word_lists.main(["start", str(words), "--out", "rating"]) == 0
    assert inference.NOUNS
    neopronoun_texts.verb_words("modal")
    assert all(shipped.rows(version) for version in shipped.VERSIONS)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
