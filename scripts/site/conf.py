"""docs/ as a site that opens from disk, search included: Sphinx, run by scripts/docs.

The project's README is its first page; the list of pages in docs/README.md becomes the sidebar.
Links to files that are not pages lead into the checkout around build/site.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ELSEWHERE = "https://checkout.invalid/"  # stands for the checkout until the page is written

project = "tiltmeter"
html_title = "tiltmeter"
extensions = ["myst_parser"]
exclude_patterns = ["pictures"]
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_theme = "alabaster"
html_theme_options = {"description": "how far a generative model tilts", "page_width": "1100px"}
html_sidebars = {"**": ["about.html", "searchbox.html", "globaltoc.html"]}
html_show_sourcelink = False
html_copy_source = False
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
CONTENTS = "\n\n```{{toctree}}\n:hidden:\n:caption: {}\n\n{}\n```\n"


def setup(app: Any) -> None:
    """Sphinx calls it with itself."""
    app.connect("source-read", _name_files_elsewhere)
    app.connect("html-page-context", _lead_into_the_checkout)


def _name_files_elsewhere(app: Any, name: str, source: list[str]) -> None:
    text = source[0].replace(f"]({'../' * (name.count('/') + 1)}", f"]({ELSEWHERE}")
    if name == "index":  # the project's README, which lies one folder up
        text = re.sub(r"\]\((?!docs/|https?:|#)", f"]({ELSEWHERE}", text).replace("](docs/", "](")
        sections = _sections((Path(app.srcdir) / "README.md").read_text("utf-8"))
        left = app.env.found_docs - {"index", "README"} - {p for s in sections.values() for p in s}
        if left:
            raise ValueError(f"docs/README.md does not name: {', '.join(sorted(left))}")
        text += CONTENTS.format("Docs", "README")
        for heading, pages in sections.items():
            text += CONTENTS.format(heading, "\n".join(pages))
    source[0] = text


def _sections(index: str) -> dict[str, list[str]]:
    """Reads the headings of docs/README.md and the pages that each names, without `.md`."""
    _, *sections = re.split(r"^## ", index, flags=re.MULTILINE)
    return {
        section.partition("\n")[0]: list(
            dict.fromkeys(re.findall(r"\]\(([a-z-]+/[a-z-]+)\.md", section))
        )
        for section in sections
    }


def _lead_into_the_checkout(app: Any, page: str, template: str, context: Any, tree: Any) -> None:
    if "body" in context:
        context["body"] = context["body"].replace(ELSEWHERE, "../" * (page.count("/") + 2))
