"""The memory that batches take: a run of many long requests is handed in and taken in.

    python benchmarks/batch_memory.py [--requests 100000] [--prompt-bytes 8000] [--format openai]

Prints the most memory that the command had (resident, MB) while it handed in, and while it took
in, labelled and wrote its report; before it what a run of 100 such requests has. Exits 1 where more
than 200 MB were needed to hand in.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from batches import FORMATS, KEYS, LATER, provider

WORDS = 100
MOST_MB = 200
PROTOCOL = """
name = "long"
title = "Long prompts"
question = "How much memory do they take?"
prompt = "LONG {cue} {word} chose ___ (she or he)."
factors = ["cue", "word"]
item = "word"
[[tables]]
rows = [{ cue = "the" }, { cue = "a" }]
[[tables]]
rows = [WORDS]
[modes.sampled]
samples = 1
max_tokens = 16
[[instruments]]
name = "choice"
kind = "choice"
attribute = "pronoun"
[instruments.forms.en]
she = ["she"]
he = ["he"]
"""


def peak_mb(command: list[str]) -> tuple[int, float]:
    """The exit code of a command, and the most memory that it had."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1024 if sys.platform == "linux" else 1024**2  # of ru_maxrss: KiB, and on macOS bytes
    return process.returncode, used.ru_maxrss / unit


def measure(format_: str, requests: int, prompt_bytes: int) -> list[float]:
    """MB of the command that hands in, and of the one that takes in."""
    words = min(WORDS, requests // 2)
    text = ("This sentence makes the prompt longer. " * (prompt_bytes // 39 + 1))[:prompt_bytes]
    rows = ", ".join(f'{{ word = "guard{number}" }}' for number in range(words))
    with tempfile.TemporaryDirectory() as folder, provider(format_, {"looks": 1}) as place:
        protocol = Path(folder, "long.toml")
        protocol.write_text(PROTOCOL.replace("LONG", text).replace("WORDS", rows), "utf-8")
        base = place.host if format_ == "azure" else place.url
        typed = ["run", str(protocol), "--model", f"{format_}:planted", "--out", f"{folder}/run"]
        reach = ["--base-url", f"{format_}={base}", "--batch", "--poll", "0.01"]
        plan = ["--samples", str(requests // (2 * words))]
        command = [sys.executable, "-m", "tiltmeter", *typed, *reach, *plan]
        found = []
        while True:
            code, used = peak_mb(command)
            found.append(used)
            if code != LATER:
                return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--prompt-bytes", type=int, default=8_000)
    parser.add_argument("--format", choices=FORMATS, default="openai")
    given = parser.parse_args()
    for name in KEYS:
        os.environ[f"{name}_API_KEY"] = "key-of-no-provider"
    for number in (100, given.requests):
        found = measure(given.format, number, given.prompt_bytes)
        said = ", ".join(f"{each:.0f} MB" for each in found)
        print(f"{number:,} requests of {given.prompt_bytes:,} bytes: {said}", flush=True)
    return 1 if found[0] > MOST_MB else 0


if __name__ == "__main__":
    sys.exit(main())
