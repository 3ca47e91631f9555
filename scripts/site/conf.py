"""docs/ as a site that opens from disk, search included: Sphinx, run by scripts/docs.

README is its first page. Links to files that are no pages lead into the checkout around build/site.
"""

from __future__ import annotations

import re
from typing import Any

ELSEWHERE = "https://checkout.invalid/"  # stands for the checkout until the page is written

project = "tiltmeter"
html_title = "tiltmeter"
extensions = ["myst_parser"]
exclude_patterns = ["pictures"]
html_theme = "alabaster"
html_theme_options = {"description": "how far a generative model tilts", "page_width": "1100px"}
html_sidebars = {"**": ["about.html", "searchbox.html", "globaltoc.html"]}
html_show_sourcelink = False
html_copy_source = False
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
CONTENTS = "\n\n```{{toctree}}\n:hidden:\n\n{}\n```\n"


def setup(app: Any) -> None:
    """Sphinx calls it with itself."""
    app.connect("source-read", _name_files_elsewhere)
    app.connect("html-page-context", _lead_into_the_checkout)


def _name_files_elsewhere(app: Any, name: str, source: list[str]) -> None:
    text = source[0].replace("](../", f"]({ELSEWHERE}")
    if name == "index":  # README, which lies one folder up
        text = re.sub(r"\]\((?!docs/|https?:|#)", f"]({ELSEWHERE}", text).replace("](docs/", "](")
        pages = _in_reading_order(app.env.found_docs - {"index"}, text)
        text += CONTENTS.format("\n".join(pages))
    source[0] = text


def _in_reading_order(pages: set[str], readme: str) -> list[str]:
    """Pages as the last list of README names them, then the rest by name."""
    more = readme[readme.index("## More") :]
    named = [name for name in re.findall(r"\]\(([a-z-]+)\.md", more) if name in pages]
    return list(dict.fromkeys((*named, *sorted(pages))))


def _lead_into_the_checkout(app: Any, page: str, template: str, context: Any, tree: Any) -> None:
    if "body" in context:
        context["body"] = context["body"].replace(ELSEWHERE, "../../")
