"""The commands, run as a person would: what each prints, its exit code, the files it writes."""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import tiltmeter
from tests.golden.masks import mask
from tests.golden.runs import Items

LOOK = {
    "COLUMNS": "100",
    "LINES": "40",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "TILTMETER_KEEP": "0",
    "PYTHONPATH": os.pathsep.join(sys.path),
    "TZ": "UTC",
}
EXAMPLES = {  # of `tiltmeter init`: what is planted, and what else `run` is told
    "letters": "agentic.women=0.4,agentic.men=0.6,length.women=100,length.men=140",
    "adverts": "offer/time.women=0.5,offer/time.men=0.2,length=60 "
    "--judge planted:protocol=adverts/audit.toml",
    "translation": "feminine.nurse=.9,masculine.nurse=.1",
    "products": "look/decorated.women=0.8,look/decorated.men=0.2 --samples 2 "
    "--judge planted:protocol=products/audit.toml",
    "names_age": "fast.25=0.7,fast.70=0.4",
}
# In their order: later ones read what earlier ones wrote.
COMMANDS = (
    *(f"init {name}/audit.toml --example {name}" for name in EXAMPLES),
    *(
        f"run {name}/audit.toml --model planted:protocol={name}/audit.toml,{rest} --out {name}/run"
        for name, rest in EXAMPLES.items()
    ),
    "run roles --model planted:she=0.7 --model planted:she=0.4 --language en --limit 5 --samples 4 "
    "--mode sampled --mode exact --judge planted:accuracy=0.8 --out two",
    "run roles --model planted:she=0.9 --language en --limit 40 --samples 12 --stop --out stopped",
    "run roles --model planted:she=0.5 --language en --limit 30 --samples 12 --stop --out longer",
    "run words --model planted:protocol=words --language en --limit 8 --shard 1/2 --out shard1",
    "run words --model planted:protocol=words --language en --limit 8 --shard 2/2 --out shard2",
    "merge shard1 shard2 --out merged",
    "import hiring EXAMPLES/hiring/rankings.jsonl.xz --out hiring",
    "plan roles --model planted: --language en --detect 0.1",
    "plan words --model openai:gpt-4.1-mini --language en --stop",
    "plan gramvis --model planted:protocol=gramvis --judge planted:protocol=gramvis --json",
    "ls --full",
    "ls models",
    "show roles --full",
    "show protext --by pronoun,theme",
    "analyse roles-tilted --full",
    "analyse roles-tilted --json",
    "analyse protext-noisy-judge-corrected --full",
    "analyse gramvis-tilted --variant published --csv",
    "analyse two --label A=planted:she=0.7",
    "analyse stopped --full",
    "analyse soda-tilted",
    'analyse roles-tilted --fail-if "share_she > 0.6"',
    'analyse roles-tilted --fail-if "share_she > 0.1" --junit junit.xml',
    'analyse roles-refusing --fail-if "outcome_rate > 0.3"',
    "table hiring --format latex",
    "table gramvis-tilted --variant published",
    "table roles-tilted share_she --format md --rows word --show value,interval,stars",
    "quote roles-tilted --number 1",
    "validate roles-noisy-judge --full",
    "validate protext-noisy-judge --json",
    "annotate roles-noisy-judge --progress",
    "compare roles-tilted roles-refusing --full",
    "compare roles-tilted two --json",
    "compare gramvis-fair gramvis-tilted gramvis-refusing",
    "compare soda-fair soda-tilted --full",
    "compare words-fair words-tilted --full",
    "compare hiring-fair hiring-tilted",
    "compare protext-fair protext-tilted protext-refusing",
    "history soda-fair soda-tilted --json",
    "history roles-tilted roles-refusing two --full --out history.html",
    "history words-fair words-tilted words-refusing",
    "report two --out two.html",
    "report roles-tilted roles-refusing two --out several.html",
    "report stopped --out stopped.md",
    "report hiring --variant published --out hiring.md",
    "report gramvis-fair gramvis-tilted --out two-gramvis.md",
    "figure gramvis-tilted effect --out effect.svg",
    "export roles-tilted --format csv --out tables",
    "export roles-tilted --format audit --out evidence",
    "cite roles-tilted",
    "jobs roles-tilted",
    "explore two --static two-pages",
    "explore occupations-noisy-judge --static pages",
    # mistakes
    "run roles --model nobody:x --out wrong",
    "run nothing --model planted: --out wrong",
    "run roles --model planted:she=2 --language en --out wrong",
    "run roles --language en --out wrong",
    "run roles --model planted: --language xx --out wrong",
    "run words --model planted: --language en --out roles-tilted",
    "analyse nowhere",
    "analyse roles-tilted --fail-if share_she",
    'analyse roles-tilted --fail-if "nothing > 1"',
    "analyse words-tilted --variant nothing",
    "report roles-tilted --out report.pdf",
    "table roles-tilted nothing",
    "figure roles-tilted share_she --out figure.docx",
    "compare roles-tilted words-tilted",
    "history roles-tilted",
    "validate roles-tilted",
    "quote roles-tilted nothing",
    "export roles-tilted --format nothing --out wrong",
    "frobnicate",
    "cite nowhere",
)
WRITTEN = ("html", "md", "svg", "xml", "csv", "toml")  # ends of written files that are compared


def run_command(command: str, folder: Path) -> tuple[str, int]:
    """Runs one command in the folder. Returns what it printed on both streams, and its exit code."""
    environment = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME")}
    examples = Path(__file__).parents[2] / "examples"
    words = shlex.split(command.replace("EXAMPLES", shlex.quote(str(examples))))
    result = subprocess.run(
        [sys.executable, "-m", "tiltmeter", *words],
        cwd=folder,
        env=environment | LOOK,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    printed = f"{result.stdout}--- stderr\n{result.stderr}".replace(str(examples), "EXAMPLES")
    return mask(printed, folder), result.returncode


def commands(folder: Path) -> tuple[dict[str, str], dict[str, int]]:
    """Runs all commands. Returns their texts, with those of new files, and their exit codes."""
    texts, codes = {}, {}
    for number, command in enumerate(COMMANDS, start=1):
        before = _files(folder)
        printed, codes[command] = run_command(command, folder)
        name = f"commands/{number:02}-{re.sub(r'[^A-Za-z0-9.]+', '-', command)[:60]}"
        texts[f"{name}.txt"] = f"$ tiltmeter {command}\n{printed}--- exit {codes[command]}\n"
        for path in sorted(_files(folder) - before):
            if path.suffix[1:] in WRITTEN:
                file = path.relative_to(folder).as_posix().replace("/", "-")
                texts[f"{name}/{file}"] = mask(path.read_text("utf-8"), folder)
    return texts, codes


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def help_pages(folder: Path) -> Items:
    """Yields the help of the program and of every verb."""
    first, _ = run_command("--help", folder)
    yield "help/tiltmeter.txt", first
    for verb in re.findall(r"^  ([a-z]+)  +[A-Z]", first, re.MULTILINE):
        yield f"help/{verb}.txt", run_command(f"{verb} --help", folder)[0]


def signatures() -> str:
    """The public names with their signatures, and those of their public methods."""
    lines = []
    for name in dir(tiltmeter):
        thing = getattr(tiltmeter, name)
        lines.append(f"{name}{_signature(thing)}" if callable(thing) else name)
        if inspect.isclass(thing):
            lines += [
                f"  {name}.{part}{_signature(getattr(thing, part))}"
                for part in sorted(vars(thing))
                if not part.startswith("_")
            ]
    return "\n".join(lines) + "\n"


def _signature(thing: object) -> str:
    if not callable(thing):
        return ""
    return str(inspect.signature(thing))


def exit_codes(codes: dict[str, int]) -> str:
    return json.dumps(codes, indent=0, ensure_ascii=False) + "\n"
