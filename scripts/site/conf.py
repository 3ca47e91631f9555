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
    text = source[0].replace("](../", f"]({ELSEWHERE}")
    if name == "index":  # README, which lies one folder up
        text = re.sub(r"\]\((?!docs/|https?:|#)", f"]({ELSEWHERE}", text).replace("](docs/", "](")
        sections = _sections(text)
        named = {page for pages in sections.values() for page in pages}
        left = app.env.found_docs - {"index"} - named
        if left:
            raise ValueError(f"The last list of README does not name: {', '.join(sorted(left))}")
        for heading, pages in sections.items():
            text += CONTENTS.format(heading, "\n".join(pages))
    source[0] = text


def _sections(readme: str) -> dict[str, list[str]]:
    """The lines of README's last list: its heading in bold → the pages that it names."""
    more = readme[readme.index("## More") :]
    return {
        heading: re.findall(r"\]\((?:docs/)?([a-z-]+)\.md", pages)
        for heading, pages in re.findall(r"^- \*\*(.+?)\*\*: (.+)$", more, re.MULTILINE)
    }


def _lead_into_the_checkout(app: Any, page: str, template: str, context: Any, tree: Any) -> None:
    if "body" in context:
        context["body"] = context["body"].replace(ELSEWHERE, "../../")
