"""A design that is too thin is said to be."""

from __future__ import annotations

import pytest

from tiltmeter import registry
from tiltmeter.protocol import Protocol
from tiltmeter.protocol.design.thin_design import thin_design

from ...api.test_python import JOBS, KEYS


@pytest.mark.parametrize(("items", "thin"), [(8, True), (9, False)])
def test_fewer_than_nine_items_are_few(items: int, thin: bool) -> None:
    """`raises` has jobs as its item, which are a factor too unless they are left out of it."""
    tables = [KEYS["tables"][0], {"rows": [{"job": job} for job in JOBS[:items]]}]
    protocol = Protocol.declare(**{**KEYS, "factors": ["who"], "tables": tables})
    assert bool(thin_design(protocol)) == thin


def test_no_protocol_that_ships_is_thin() -> None:
    assert not any(thin_design(registry.protocol(name)) for name in registry.PROTOCOLS)


@pytest.mark.parametrize(
    ("women", "men", "said"),
    [
        (["Emily"], ["Jacob"], "one name stands for a level of who (women: Emily, men: Jacob)"),
        (["Emily", "Anne"], ["Jacob"], "one name stands for a level of who (men: Jacob)"),
        (["Emily", "Anne"], ["Jacob", "Greg"], ""),
        (["a woman"], ["a man"], ""),  # the group itself
        (
            ["Emily", "Alex"],
            ["Alex", "Greg"],
            "several levels of who (“Alex” for women and men)",
        ),
    ],
)
def test_one_name_says_more_than_its_group(women: list[str], men: list[str], said: str) -> None:
    rows = [{"who": "women", "person": name} for name in women]
    rows += [{"who": "men", "person": name} for name in men]
    prompt, contrast = KEYS["prompt"].replace("{who}", "{person}"), {"factor": "who"}
    measure = {**KEYS["measures"][0], "contrast": {**contrast, "level": "women", "baseline": "men"}}
    keys = {"prompt": prompt, "tables": [{"rows": rows}, KEYS["tables"][1]], "measures": [measure]}
    found = thin_design(Protocol.declare(**{**KEYS, **keys}))
    assert said in " ".join(found) and bool(found) == bool(said)


def test_words_that_another_table_brings_tell_levels_apart() -> None:
    rows = [
        {"who": who, "code": f"{who} {name}", "person": name}
        for who in ("women", "men")
        for name in ("Alex", "Kim")
    ]
    titles = [{"code": row["code"], "title": f"a {row['code']}"} for row in rows]
    prompt = KEYS["prompt"].replace("{who}", "{person}, {title}")
    measure = {
        **KEYS["measures"][0],
        "contrast": {"factor": "who", "level": "women", "baseline": "men"},
    }
    tables = [{"rows": rows}, {"rows": titles}, KEYS["tables"][1]]
    keys = {**KEYS, "prompt": prompt, "tables": tables, "measures": [measure]}
    assert "same words" not in " ".join(thin_design(Protocol.declare(**keys)))
