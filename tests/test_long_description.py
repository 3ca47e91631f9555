"""README as a package index shows it: by itself, so no link may lead to a file of the clone."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "long_description.py"))
README = (ROOT / "README.md").read_text("utf-8")


def test_links_lead_to_the_files_of_a_release() -> None:
    page = SCRIPT["for_an_index"](README, "v1.2", "https://example.org/tiltmeter/")
    links = re.findall(r"\]\(https://example\.org/tiltmeter/(blob|raw)/v1\.2/([^)#]+)", page)
    assert {name for _, name in links} == {
        link.partition("#")[0] for link in SCRIPT["relative_links"](README)
    }
    for kind, name in links:
        assert (ROOT / name).exists() and (kind == "raw") == name.endswith(".png")
    assert not SCRIPT["relative_links"](page)


def test_without_an_address_words_stay_and_no_link_is_broken() -> None:
    page = SCRIPT["for_an_index"](README, "v1.2")
    assert not re.findall(r"\]\((?!https?:|#)", re.sub(r"(?ms)^```.*?^```$", "", page))
    assert "More in wording." in page and "docs/pictures" not in page
    assert page.count("```") == README.count("```")


def test_code_and_addresses_stay() -> None:
    text = "[a](b.md) [c](https://d.e/f) [g](#h)\n```text\n[a](b.md)\n```\n"
    assert SCRIPT["for_an_index"](text, "v1") == (
        "a [c](https://d.e/f) [g](#h)\n```text\n[a](b.md)\n```\n"
    )
