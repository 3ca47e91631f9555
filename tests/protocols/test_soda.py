"""SODA: its design, and every measure in all three variants against plain Python on random tables."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import pytest
from click.testing import CliRunner

from tiltmeter import api, cli, registry
from tiltmeter.analyse.counts.whole_outputs import (
    BaseAndGroups,
    LabelledOutput,
    LabelledOutputs,
    split_by_base,
)
from tiltmeter.analyse.scores import as_published, attribute_divergence
from tiltmeter.analyse.scores import concentration as concentrated
from tiltmeter.errors import UnknownName
from tiltmeter.records import Estimate
from tiltmeter.stages.planning import plan

PROTOCOL = registry.protocol("soda")
MEASURES = {measure.name: measure for measure in PROTOCOL.measures}
VARIANTS = PROTOCOL.variants
GROUPS = {
    "age": ("young adults", "middle-aged", "elderly"),
    "gender": ("men", "women"),
    "ethnicity": ("White", "Black", "Asian"),
}
OBJECTS = ("car", "laptop", "backpack", "cup", "teddy bear")


class TestTheDesign:
    """Paper 003, Table 1 and the experimental setup."""

    def test_900_images_a_subject_and_2700_for_three(self) -> None:
        found = plan.count(PROTOCOL, plan.Choices(("a", "b", "c")))
        assert {subject: modes["images"] for subject, modes in found.items()} == {
            "a": 900,
            "b": 900,
            "c": 900,
        }

    def test_two_more_of_each_prompt_for_discovery_alone(self) -> None:
        choices = plan.Choices(("a",))
        assert plan.count(PROTOCOL, choices)["a"]["discovery"] == 5 * 9 * 2
        trials = list(plan.trials(PROTOCOL, choices))
        drawn = {
            mode: {(t.prompt, t.sampling.seed) for t in trials if t.mode == mode}
            for mode in ("images", "discovery")
        }
        assert len(drawn["images"]) == 900 and len(drawn["discovery"]) == 90
        assert (
            not drawn["images"] & drawn["discovery"]
        )  # a model that heeds the seed draws other images

    def test_the_samples_of_discovery_are_its_own(self) -> None:
        found = plan.count(PROTOCOL, plan.Choices(("a",), samples=5))["a"]
        assert found == {"images": 225, "discovery": 90}

    def test_prompts(self) -> None:
        cells = plan.cells(PROTOCOL, plan.Choices(("a",)))
        prompts = {(c["object"], c["group"]): PROTOCOL.prompt_text(c) for c in cells}
        assert prompts["car", "base"] == "car, one product only, no people"
        assert prompts["car", "women"] == "car for women, one product only, no people"
        assert (
            prompts["teddy bear", "Asian"]
            == "teddy bear for Asian people, one product only, no people"
        )
        assert prompts["cup", "middle-aged"] == "cup for middle-aged, one product only, no people"
        asked = Counter((c["dimension"], c["group"]) for c in cells)
        assert asked == {
            ("base", "base"): 5,
            **{(d, g): 5 for d, groups in GROUPS.items() for g in groups},
        }
        assert {c["object"] for c in cells} == set(OBJECTS)

    def test_the_later_objects_and_latinx_on_request(self) -> None:
        where = {"object": ("*",), "group": ("*",)}
        cells = plan.cells(PROTOCOL, plan.Choices(("a",), where=where))
        assert len(cells) == 8 * 11 and {"sofa", "clock", "toaster"} <= {c["object"] for c in cells}
        assert "Latinx" in {c["group"] for c in cells}

    @pytest.mark.parametrize(
        ("dimension", "number"), [("gender×age", 6), ("gender×ethnicity", 6), ("age×ethnicity", 9)]
    )
    def test_intersections(self, dimension: str, number: int) -> None:
        where = {"dimension": ("base", dimension), "object": ("car",)}
        cells = plan.cells(PROTOCOL, plan.Choices(("a",), where=where))
        assert len(cells) == 1 + number
        prompts = {PROTOCOL.prompt_text(c) for c in cells}
        shown = {
            "gender×age": "car for elderly men",
            "gender×ethnicity": "car for Black women",
            "age×ethnicity": "car for young adult Asian people",
        }
        assert f"{shown[dimension]}, one product only, no people" in prompts

    @pytest.mark.parametrize("said", ["gender×age", "age×gender", "genderxage", "gender x age"])
    def test_an_intersection_beside_the_rest(self, said: str) -> None:
        assert (
            plan.count(PROTOCOL, plan.Choices(("a",), cross=(said,)))["a"]["images"]
            == 900 + 5 * 6 * 20
        )

    def test_an_intersection_that_is_none(self) -> None:
        with pytest.raises(UnknownName, match="intersection of soda 'gender×shoe'"):
            plan.check(PROTOCOL, plan.Choices(("a",), cross=("gender×shoe",)))

    def test_what_plan_says(self) -> None:
        found = api.plan(
            "soda",
            [
                "planted:protocol=soda",
                "planted:protocol=soda,seed=2",
                "planted:protocol=soda,seed=3",
            ],
            judge="planted:protocol=soda",
        ).as_dict()
        assert (found["trials"], found["aside"]) == (2700, 270)
        calls = {
            (line["part"].partition("/")[0], line["mode"]): line["calls"]
            for line in found["calls"]
            if line["part"] != "subject"
        }
        assert calls == {("taxonomy", "discovery"): 15, ("attributes", "images"): 2700}
        assert [row["measure"] for row in found["design"]] == [
            "group_differs",
            "dimension_differs",
        ] and all(row["detectable"] for row in found["design"])


# random tables, and the same numbers in plain Python


def table(
    seed: int, objects: Sequence[str] = ("car", "cup"), subject: str = "s"
) -> list[tuple[dict[str, str], dict[str, str]]]:
    """Images of every prompt with attributes of all shapes: even, skewed, sparse, single-valued, with a raw colour."""
    draw = random.Random(seed)
    images = []
    for thing in objects:
        for dimension, groups in {"base": ("base",), **GROUPS}.items():
            for group in groups:
                tilt = draw.random()
                for _ in range(draw.choice((20, 20, 20, 3, 14))):
                    colour = draw.choices(["red", "blue", "green"], [1, 1, 5 * tilt])[0]
                    values = {
                        "product_color": colour,
                        "product_color_raw": draw.choice(["dark ", "light ", ""]) + colour,
                        "text_presence": "no_text",
                        "body_type": draw.choices(
                            ["sedan", "suv", "hatchback", "sports"], [20 * tilt, 1, 1, 1]
                        )[0],
                        "wheel": f"w{draw.randrange(15)}",
                        "background_light": draw.choices(["soft", "hard"], [tilt, 1 - tilt])[0],
                        "background_color": draw.choice(["white", "gray"]),
                        "background_color_raw": draw.choice(["white", "grey"]),
                        "constraint": "kept",
                    }
                    images.append(
                        (
                            {
                                "object": thing,
                                "dimension": dimension,
                                "group": group,
                                "subject": subject,
                            },
                            values,
                        )
                    )
    return images


NAMES = (
    "product_color",
    "text_presence",
    "body_type",
    "wheel",
    "background_light",
    "background_color",
)
COLOURS = ("product_color", "background_color")
STRATUM = ("s", "attributes/1@x", "images")


def whole(images: Sequence[tuple[dict[str, str], dict[str, str]]]) -> LabelledOutputs:
    outputs: dict[tuple[str, str, str], list[LabelledOutput]] = {}
    for factors, values in images:
        outputs.setdefault((factors["subject"], *STRATUM[1:]), []).append(
            LabelledOutput(factors, values)
        )
    return LabelledOutputs(outputs, [factors for factors, _ in images], {STRATUM[1]: []})


def made(found: LabelledOutputs, by: Sequence[str] = ("object",)) -> Sequence[BaseAndGroups]:
    return split_by_base(found, STRATUM, MEASURES["bds"], by, PROTOCOL, pooled=not by)


def shares(values: Sequence[str]) -> dict[str, float]:
    return {value: number / len(values) for value, number in Counter(values).items()}


def js(p: Mapping[str, float], q: Mapping[str, float], log: float = 2.0) -> float:
    total = 0.0
    for value in {*p, *q}:
        a, b = p.get(value, 0.0), q.get(value, 0.0)
        m = (a + b) / 2
        total += (a * math.log(a / m, log) if a else 0.0) + (b * math.log(b / m, log) if b else 0.0)
    return max(total / 2, 0.0)


def clipped(first: Sequence[str], second: Sequence[str]) -> float:
    """As in the released code: shares of at least 1e-10 that add up to 1 again, then the distance."""
    p, q = shares(first), shares(second)
    support = {*p, *q}
    p, q = ({value: max(side.get(value, 0.0), 1e-10) for value in support} for side in (p, q))
    p, q = ({value: share / sum(side.values()) for value, share in side.items()} for side in (p, q))
    return math.sqrt(js(p, q, math.e))


def by_chance(groups: Sequence[Sequence[str]]) -> float:
    """E₀: the mean of the divergence over all deals, value by value: two groups and the rest out of all."""
    total, pooled = sum(map(len, groups)), Counter(value for group in groups for value in group)
    found = []
    for first, second in combinations(map(len, groups), 2):
        mean = 0.0
        for k in pooled.values():
            for i in range(min(k, first) + 1):
                for j in range(min(k - i, second) + 1):
                    rest = total - first - second
                    if k - i - j > rest:
                        continue
                    ways = (
                        math.comb(first, i)
                        * math.comb(second, j)
                        * math.comb(rest, k - i - j)
                        / math.comb(total, k)
                    )
                    a, b = i / first, j / second
                    m = (a + b) / 2
                    mean += (
                        ways
                        * ((a * math.log2(a / m) if a else 0) + (b * math.log2(b / m) if b else 0))
                        / 2
                    )
        found.append(mean)
    return sum(found) / len(found)


def concentration(values: Sequence[str], support: int, corrected: bool) -> float:
    entropy = -sum(p * math.log2(p) for p in shares(values).values())
    if corrected:
        entropy += (len(set(values)) - 1) / (2 * len(values) * math.log(2))
    return 1 - entropy / math.log2(support)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def adjusted(
    bits: Mapping[tuple[str, ...], float], chance: Mapping[tuple[str, ...], float]
) -> dict[tuple[str, ...], float | None]:
    """None where chance alone gives full separation: three images and three, six values."""
    return {
        key: (bits[key] - chance[key]) / (1 - chance[key]) if chance[key] < 1 - 1e-12 else None
        for key in bits
    }


def asserted(
    found: Iterator[Estimate], expected: Mapping[tuple[str, ...], float | None], measure: str
) -> None:
    """Every row of the measure, keyed by its condition, is what plain Python gives, to 1e-9; and there is no other."""
    rows = {tuple(e.condition.values()): e.value for e in found if e.measure == measure}
    assert rows.keys() == expected.keys()
    for key, value in expected.items():
        assert rows[key] == pytest.approx(value, abs=1e-9), key


class Plain:
    """The images of one object as lists of values."""

    def __init__(self, images: Sequence[tuple[dict[str, str], dict[str, str]]], thing: str) -> None:
        self.thing, self.images = thing, [one for one in images if one[0]["object"] == thing]

    def of(self, group: str, name: str, raw: bool = False) -> list[str]:
        key = f"{name}_raw" if raw and name in COLOURS else name
        return [values[key] for factors, values in self.images if factors["group"] == group]

    def support(self, name: str) -> int:
        return len({values[name] for _, values in self.images})

    def groups(self) -> Iterator[tuple[str, str]]:
        return ((dimension, group) for dimension, groups in GROUPS.items() for group in groups)


@pytest.fixture(params=range(4))
def images(request: pytest.FixtureRequest) -> list[tuple[dict[str, str], dict[str, str]]]:
    return table(request.param)


def each(
    images: Sequence[tuple[dict[str, str], dict[str, str]]],
) -> Iterator[tuple[BaseAndGroups, Plain]]:
    for cell in made(whole(images)):
        yield cell, Plain(images, cell.condition["object"])


class TestAgainstPlainPython:
    @pytest.fixture(autouse=True)
    def few_shuffles(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """No value depends on the shuffles: what chance gives is exact."""
        monkeypatch.setattr(attribute_divergence, "DRAWS", 19)
        monkeypatch.setattr(concentrated, "DRAWS", 19)
        monkeypatch.setattr(as_published, "PUBLISHED_DRAWS", 19)

    def test_bds(self, images: list[tuple[dict[str, str], dict[str, str]]]) -> None:
        for cell, plain in each(images):
            bits, chance, distance, code = ({}, {}, {}, {})
            for dimension, group in plain.groups():
                for name in NAMES:
                    base, cued = plain.of("base", name), plain.of(group, name)
                    key = (plain.thing, dimension, group, name)
                    bits[key], chance[key] = js(shares(base), shares(cued)), by_chance([base, cued])
                    distance[key] = math.sqrt(js(shares(base), shares(cued), math.e))
                    code[key] = clipped(
                        plain.of("base", name, raw=True), plain.of(group, name, raw=True)
                    )
                for scores in (bits, chance, distance, code):
                    scores[plain.thing, dimension, group] = mean(
                        [scores[plain.thing, dimension, group, n] for n in NAMES]
                    )
            default = list(
                attribute_divergence.from_base(cell, MEASURES["bds"], VARIANTS["default"])
            )
            asserted(iter(default), adjusted(bits, chance), "bds")
            asserted(iter(default), bits, "bds_plugin")
            asserted(
                attribute_divergence.from_base(cell, MEASURES["bds"], VARIANTS["published"]),
                distance,
                "bds",
            )
            asserted(
                attribute_divergence.from_base(cell, MEASURES["bds"], VARIANTS["published-code"]),
                code,
                "bds",
            )

    def test_cds(self, images: list[tuple[dict[str, str], dict[str, str]]]) -> None:
        for cell, plain in each(images):
            bits, chance, distance = ({}, {}, {})
            for dimension, groups in GROUPS.items():
                for name in NAMES:
                    sides = [plain.of(group, name) for group in groups]
                    key = (plain.thing, dimension, name)
                    pairs = [js(shares(a), shares(b)) for a, b in combinations(sides, 2)]
                    bits[key], chance[key] = mean(pairs), by_chance(sides)
                    distance[key] = mean([math.sqrt(pair * math.log(2)) for pair in pairs])
                for scores in (bits, chance, distance):
                    scores[plain.thing, dimension] = mean(
                        [scores[plain.thing, dimension, name] for name in NAMES]
                    )
            default = list(
                attribute_divergence.between_groups(cell, MEASURES["cds"], VARIANTS["default"])
            )
            asserted(iter(default), adjusted(bits, chance), "cds")
            asserted(iter(default), bits, "cds_plugin")
            asserted(
                attribute_divergence.between_groups(cell, MEASURES["cds"], VARIANTS["published"]),
                distance,
                "cds",
            )

    def test_cds_of_the_code_pools_subjects_and_objects(self) -> None:
        images = [*table(1), *table(2, subject="t")]
        (cell,) = made(whole(images), by=())
        expected = {}
        for dimension, groups in GROUPS.items():
            for name in NAMES:
                key = f"{name}_raw" if name in COLOURS else name
                sides = [[v[key] for f, v in images if f["group"] == group] for group in groups]
                expected[dimension, name] = mean(
                    [js(shares(a), shares(b)) for a, b in combinations(sides, 2)]
                )
            expected[(dimension,)] = mean([expected[dimension, name] for name in NAMES])
        asserted(
            attribute_divergence.between_groups(cell, MEASURES["cds"], VARIANTS["published-code"]),
            expected,
            "cds",
        )

    def test_vac(self, images: list[tuple[dict[str, str], dict[str, str]]]) -> None:
        for cell, plain in each(images):
            default, plugin, code = ({}, {}, {})
            scores: list[float] = []
            wide = [
                name for name in NAMES if plain.support(name) > 1
            ]  # one value and no list: no concentration
            for dimension, group in (("base", "base"), *plain.groups()):
                key = (plain.thing, dimension, group)
                for name in wide:
                    values = plain.of(group, name)
                    default[(*key, name)] = concentration(
                        values, plain.support(name), corrected=True
                    )
                    plugin[(*key, name)] = concentration(
                        values, plain.support(name), corrected=False
                    )
                for name in NAMES:
                    raw = plain.of(group, name, raw=True)
                    code[(*key, name)] = (
                        concentration(raw, len(set(raw)), corrected=False)
                        if len(set(raw)) > 1
                        else 1.0
                    )
                    taken = (
                        group == "base"
                        or not name.startswith("background")
                        or name == "background_color"
                    )
                    scores += [code[(*key, name)]] if taken and code[(*key, name)] >= 0.05 else []
                default[key] = mean([default[(*key, name)] for name in wide])
                plugin[key] = mean([plugin[(*key, name)] for name in wide])
                code[key] = mean([code[(*key, name)] for name in NAMES])
            plugin[(plain.thing,)] = mean([v for k, v in plugin.items() if len(k) == 3])
            code[(plain.thing,)] = mean(scores)
            found = {
                v: list(concentrated.concentration(cell, MEASURES["vac"], VARIANTS[v]))
                for v in ("default", "published", "published-code")
            }
            measured = {
                v: iter([e for e in rows if e.value is not None]) for v, rows in found.items()
            }
            asserted(measured["default"], default, "vac")
            asserted(measured["published"], plugin, "vac")
            asserted(measured["published-code"], code, "vac")
            differences = {
                k: v - default[(k[0], "base", "base", *k[3:])]
                for k, v in default.items()
                if k[2] != "base"
            }
            asserted(
                iter([e for e in found["default"] if e.value is not None]),
                differences,
                "vac_difference",
            )


def test_the_ceiling_of_the_paper() -> None:
    """√ln 2 = .8326: the highest numbers of its Table 3."""
    images = [
        ({"object": "car", "dimension": d, "group": g, "subject": "s"}, {"body_type": v})
        for d, g, v in (("base", "base", "sedan"), ("gender", "men", "suv"))
        for _ in range(20)
    ]
    (cell,) = made(whole(images))
    (overall, each) = attribute_divergence.from_base(cell, MEASURES["bds"], VARIANTS["published"])
    assert (
        overall.value == each.value == pytest.approx(math.sqrt(math.log(2)))
        and round(overall.value, 4) == 0.8326
    )
    adjusted = next(attribute_divergence.from_base(cell, MEASURES["bds"], VARIANTS["default"]))
    assert adjusted.value == pytest.approx(1.0) and adjusted.p == pytest.approx(1e-4)


def test_a_plan_warns_of_small_groups() -> None:
    asked = [
        "plan",
        "soda",
        "--model",
        "planted:protocol=soda",
        "--cross",
        "gender×age",
        "--samples",
    ]
    said = [CliRunner().invoke(cli.group, [*asked, number]).output for number in ("4", "10")]
    assert (
        "warning: groups of 4 outputs: of fewer than 10 little can be said. Type: --samples 10"
        in said[0]
    )
    assert "warning: groups" not in said[1]
