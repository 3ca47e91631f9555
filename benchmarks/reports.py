"""Reports of 30,000 outputs: processor seconds and peak memory of the verb `report`, as typed.

    python benchmarks/reports.py [--outputs 30000] [--only soda] [--json]

Runs of three image models with eleven labels a picture (`soda`, made-up labels: `sizes.py`) and of
a planted model (`roles`, `words`: their default design, with as many samples as it takes)
are made, and each is reported on in a process of its own, in which nothing is kept from before.
What the explorer takes for its first page is measured by `explorer.py`.
Exits 1 if a promise is broken: at most the processor seconds of the reference machine (pace.py),
the memory and the weight of the page below, for 30,000 outputs or fewer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from sizes import ALONE, LABELS, make_labels

from pace import timed

PROMISED = {  # processor seconds and megabytes: measured on two busy cores, and a third
    "soda": {"cpu_s": 8.0, "peak_mb": 550.0, "page_mb": 10.0},
    "roles": {"cpu_s": 3.4, "peak_mb": 240.0, "page_mb": 1.4},
    "words": {"cpu_s": 6.0, "peak_mb": 400.0, "page_mb": 6.3},
}  # page_mb is the same everywhere: a tenth more than measured
MEASURED_AT = 30_000  # outputs


def make(protocol: str, folder: Path, outputs: int) -> None:
    """A labelled run of about so many outputs."""
    import tiltmeter
    from tiltmeter import registry
    from tiltmeter.stages.planning import plan

    if protocol == "soda":
        make_labels(folder, outputs * LABELS)
        return
    model = f"planted:protocol={protocol}"
    once = plan.trials(registry.protocol(protocol), plan.Choices((model,), samples=1))
    tiltmeter.run(protocol, model, folder, samples=max(1, round(outputs / sum(1 for _ in once))))


def report(folder: Path) -> dict[str, float]:
    """Processor seconds and peak memory of the verb, and what its page weighs."""
    page = folder / "report.html"
    command = (sys.executable, "-m", "tiltmeter", "report", str(folder), "--out", str(page))
    peak = 0.0

    def run() -> float:
        nonlocal peak
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **ALONE})
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(command)}: exit status {status}")
        peak = used.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
        return used.ru_utime + used.ru_stime

    spent = timed(run)
    weight = page.stat().st_size / 1e6
    times = {"cpu_s_here": spent.here, "cpu_s": spent.reference}
    return {**times, "peak_mb": peak, "page_mb": weight}


def broken_promises(found: dict[str, dict[str, float]]) -> list[str]:
    return [
        f"{protocol}: {name}={row[name]:.1f}, {most:g} promised"
        for protocol, row in found.items()
        for name, most in PROMISED[protocol].items()
        if row[name] > most
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--outputs", type=int, default=MEASURED_AT)
    parser.add_argument("--only", choices=PROMISED)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = {}
    for protocol in [given.only] if given.only else PROMISED:
        with tempfile.TemporaryDirectory() as place:
            make(protocol, Path(place, "run"), given.outputs)
            found[protocol] = report(Path(place, "run"))
        told = " ".join(f"{name}={value:.1f}" for name, value in found[protocol].items())
        print(protocol, told, file=sys.stderr if given.json else sys.stdout, flush=True)
    if given.json:
        print(json.dumps(found, indent=1))
    broken = broken_promises(found) if given.outputs <= MEASURED_AT else []
    print(f"{len(broken)} promises broken", *broken, sep="\n", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
