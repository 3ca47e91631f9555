"""A notebook, executed headless: it runs, labels, displays and compares (pytest -m slow, where nbclient and ipykernel are installed)."""

from __future__ import annotations

from pathlib import Path

import pytest

CELLS = (
    "import tiltmeter\n"
    "run = tiltmeter.run('roles', 'planted:she=0.7', 'a', language='en', limit=6, samples=2)\nrun",
    "tiltmeter.label('a', judge='planted:accuracy=0.9')",
    "tiltmeter.plan('roles', 'openai:gpt-4.1-mini', language='en')",
    "run.protocol",
    "run.figures()",
    "run.estimates.to_pandas()",
    "await __import__('asyncio').sleep(0)\n"
    "tiltmeter.run('roles', 'planted:she=0.5', 'b', language='en', limit=6, samples=2)\n"
    "tiltmeter.compare('a', 'b')",
    "print(run.report(), run.warnings(), run.check('share_she > 0.9').sentences)",
)
SHOWN = (
    "Which pronoun",
    "Which pronoun",
    "Plan of roles 1",
    "headline",
    "<img",
    "condition.language",
    "Runs against one another",
    "report.html",
)


@pytest.mark.slow
def test_a_notebook_runs_labels_displays_and_compares(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="pip install nbclient ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
    pytest.importorskip("ipykernel", reason="pip install nbclient ipykernel")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = ["".join(map(str, cell.outputs)) for cell in book.cells]
    for text, wanted in zip(outputs, SHOWN, strict=True):
        assert wanted in text and "Traceback" not in text
    assert "24 of 24" in outputs[0] and "<progress" in outputs[0]
    assert all(len(text) < 30_000 for text in (*outputs[:4], *outputs[5:]))
    assert len(book.cells[4].outputs[0].data["text/plain"]) < 1_000  # pictures, and no text of them
