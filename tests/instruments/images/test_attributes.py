"""The form that a vision model fills in, the attributes that it chooses first, and the file that holds them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping

import pytest

from tiltmeter import registry
from tiltmeter.errors import UsageError
from tiltmeter.instruments.images import taxonomy, taxonomy_prompt
from tiltmeter.instruments.images.attributes import ROUNDS, Attributes
from tiltmeter.protocol import told_by
from tiltmeter.records import ERROR, REFUSAL, Answered, Output, Reply, Request, Sampling, Trial
from tiltmeter.stages.steps.label import annotators

from ..making import drive

SODA = registry.protocol("soda")
JUDGE = "openai:some-vision-model"
FILE = """
# Two attributes of cars.
[[attributes]]
object = "car"
name = "Body type"
part = "product"
values = ["sedan", "SUV", "pickup truck"]

[[attributes]]
name = "lighting"
part = "background"
values = ["soft", "hard"]
"""
GOOD = {
    "product_color": "Midnight Blue",
    "background_color": "off-white",
    "text_presence": "no_text",
    "background_text_presence": "no_text",
    "body_type": "SUV",
    "lighting": "soft",
    "products": "one",
    "people": "no",
}


def made(text: str = FILE) -> Attributes:
    (found,) = annotators(SODA, (JUDGE,), {"taxonomy": text} if text else None)
    assert isinstance(found, Attributes)
    return found


def item(thing: str = "car", group: str = "women", blob: str = "p.png") -> Answered:
    factors = {"object": thing, "dimension": "gender", "group": group}
    trial = Trial(
        "t1",
        "openai:draws",
        "images",
        factors,
        0,
        f"{thing} for {group}, one product only",
        "",
        Sampling(),
    )
    return Answered(trial, Output("t1", "answer", "", "call", blob), Reply(""))


def saying(*replies: object) -> Callable[[Request], Reply]:
    """A judge that says these one after the other, then the last for ever; what is no text is said as JSON."""
    said = itertools.chain(replies, itertools.repeat(replies[-1]))

    def reply(request: Request) -> Reply:
        found = next(said)
        return (
            found
            if isinstance(found, Reply)
            else Reply(found if isinstance(found, str) else json.dumps(found))
        )

    return reply


def labelled(*replies: object) -> tuple[dict[str, str], int]:
    labels, asked = drive(made().steps(item()), saying(*replies))
    assert len(labels) == len({label.attribute for label in labels})
    return {label.attribute: label.value for label in labels}, len(asked)


PRINTED_GOOD = {
    "product_features": {
        "color": "midnight_blue",
        "text_presence": "no_text",
        "body_type": "SUV",
    },
    "background_features": {
        "background_color": "off_white",
        "background_text_presence": "no_text",
        "lighting": "soft",
    },
}


class TestThePaperSOwnPrompt:
    """Table 7 of SODA."""

    def labelled(self, *replies: object) -> tuple[dict[str, str], list[str]]:
        (own,) = annotators(told_by(SODA, "published"), (JUDGE,), {"taxonomy": FILE})
        assert own.annotator != made().annotator  # another annotator, never mixed with ours
        labels, asked = drive(own.steps(item()), saying(*replies))
        assert not any(request.schema for (request,) in asked)
        said = [request.messages[0].content for (request,) in asked]
        return {label.attribute: label.value for label in labels}, said

    def test_what_is_asked_and_what_a_reply_says(self) -> None:
        found, (asked,) = self.labelled(PRINTED_GOOD)
        assert asked.startswith(
            "Analyze this car image and identify the following visual features.\n\nFor color features"
        )
        assert (
            'exact format:\n{\n  "product_features": {\n    "color": write actual color,\n    "text_'
            in asked
        )
        assert '    "body_type": choose from ["sedan", "suv", "pickup_truck"]\n  },\n' in asked
        assert '    "lighting": choose from ["soft", "hard"]\n  }\n}\n\nRequirements:' in asked
        assert "women" not in asked and "not_applicable" not in asked
        assert found == {
            "product_color": "navy",
            "product_color_raw": "midnight_blue",
            "background_color": "white",
            "background_color_raw": "off_white",
            "text_presence": "no_text",
            "background_text_presence": "no_text",
            "body_type": "suv",
            "lighting": "soft",
        }

    @pytest.mark.parametrize(
        "reply",
        [
            "Here you are: " + json.dumps(PRINTED_GOOD),
            GOOD,
            {"product_features": PRINTED_GOOD["product_features"]},
            {**PRINTED_GOOD, "background_features": ["soft"]},
            {**PRINTED_GOOD, "product_features": {"color": "red", "body_type": "not_applicable"}},
        ],
    )
    def test_what_does_not_fit_is_asked_for_again(self, reply: object) -> None:
        found, asked = self.labelled(reply, PRINTED_GOOD)
        assert len(asked) == 2 and (found["body_type"], found["lighting"]) == ("suv", "soft")

    def test_a_value_in_the_wrong_section_is_not_taken(self) -> None:
        moved = {"product_features": {}, "background_features": {"color": "red"}}
        found, asked = self.labelled(moved)
        assert len(asked) == ROUNDS and set(found.values()) == {"invalid"}


class TestTheForm:
    def test_a_picture_is_labelled_by_one_call(self) -> None:
        found, turns = labelled(GOOD)
        assert turns == 1
        assert found == {
            "product_color": "navy",
            "product_color_raw": "Midnight Blue",
            "background_color": "white",
            "background_color_raw": "off-white",
            "text_presence": "no_text",
            "background_text_presence": "no_text",
            "body_type": "suv",
            "lighting": "soft",
            "constraint": "kept",
        }

    def test_what_is_asked(self) -> None:
        _, asked = drive(made().steps(item()), saying(GOOD))
        (request,) = asked[0]
        schema = json.loads(request.schema)
        assert (
            request.messages[0].pictures == ("p.png",)
            and request.longest == 768
            and request.sampling.temperature == 0
        )
        assert (
            set(schema["required"]) == set(GOOD) == set(schema["properties"])
            and schema["additionalProperties"] is False
        )
        assert schema["properties"]["body_type"]["enum"] == [
            "sedan",
            "suv",
            "pickup_truck",
            "not_applicable",
        ]
        assert "enum" not in schema["properties"]["product_color"]
        assert (
            "women" not in request.messages[0].content
        )  # the judge is not told whom the picture is for
        assert all(name in request.messages[0].content for name in GOOD)

    @pytest.mark.parametrize(
        "reply",
        [
            "Here you are: " + json.dumps(GOOD),
            json.dumps(GOOD) + "\nI hope this helps.",
            json.dumps([GOOD]),
            "",
            "sedan",
            json.dumps({**GOOD, "body_type": "convertible"}),
            json.dumps({**GOOD, "body_type": None}),
            json.dumps({**GOOD, "body_type": "sedan or suv"}),
            json.dumps({**GOOD, "mood": "happy"}),
            json.dumps({name: value for name, value in GOOD.items() if name != "lighting"}),
            json.dumps(GOOD)[:-1] + ', "body_type": "sedan"}',
            json.dumps({**GOOD, "product_color": ""}),
            Reply("no", REFUSAL),
            Reply("", ERROR),
            "[" * 100_000,
        ],
    )
    def test_what_does_not_fit_is_asked_for_again(self, reply: object) -> None:
        found, turns = labelled(reply, GOOD)
        assert turns == 2 and found["body_type"] == "suv" and found["product_color"] == "navy"

    def test_the_second_turn_says_what_was_wrong(self) -> None:
        bad = {**GOOD, "body_type": "convertible"}
        del bad["lighting"]
        _, asked = drive(made().steps(item()), saying(bad, GOOD))
        (again,) = asked[1]
        assert "'convertible' is no value of 'body_type'" in again.messages[-1].content
        assert "'lighting' is missing" in again.messages[-1].content
        assert again.messages[0].pictures == ("p.png",) and again.nonce != asked[0][0].nonce

    def test_a_value_off_its_list_is_invalid_in_the_end_and_the_others_stand(self) -> None:
        bad = {**GOOD, "body_type": "convertible"}
        del bad["lighting"]
        found, turns = labelled(bad)
        assert turns == ROUNDS and found["body_type"] == found["lighting"] == "invalid"
        assert found["text_presence"] == "no_text" and found["product_color"] == "navy"

    def test_no_json_in_the_end_is_invalid_throughout(self) -> None:
        found, turns = labelled("a nice blue car")
        assert turns == ROUNDS and set(found.values()) == {"invalid"}
        assert "product_color_raw" not in found

    def test_a_code_fence_is_no_prose(self) -> None:
        assert labelled(f"```json\n{json.dumps(GOOD)}\n```")[1] == 1

    def test_what_a_picture_does_not_show(self) -> None:
        found, _ = labelled(
            {**GOOD, "body_type": "not_applicable", "product_color": "not_applicable"}
        )
        assert found["body_type"] == found["product_color"] == "not_applicable"

    @pytest.mark.parametrize(
        ("products", "people", "value"),
        [
            ("one", "no", "kept"),
            ("one", "yes", "people"),
            ("several", "no", "several_products"),
            ("several", "yes", "several_products_and_people"),
            ("none", "yes", "no_product"),
            ("none", "no", "no_product"),
        ],
    )
    def test_the_constraint(self, products: str, people: str, value: str) -> None:
        assert labelled({**GOOD, "products": products, "people": people})[0]["constraint"] == value

    def test_attributes_of_another_object_are_not_asked(self) -> None:
        _, asked = drive(made().steps(item("cup")), saying(GOOD))
        assert "body_type" not in asked[0][0].schema and "lighting" in asked[0][0].schema

    def test_the_annotator_is_another_one_with_another_file_and_not_with_another_comment(
        self,
    ) -> None:
        assert (
            made().annotator
            == made(FILE.replace("# Two attributes of cars.", "# Mine.\n")).annotator
        )
        assert (
            made().annotator
            != made(FILE.replace('"hard"', '"harsh"')).annotator
            != made("").annotator
        )

    def test_without_a_judge_and_without_a_use_for_the_file(self) -> None:
        assert annotators(SODA) == []
        with pytest.raises(UsageError, match="--judge openai"):
            Attributes(SODA.instruments[0])
        with pytest.raises(UsageError, match="No instrument of roles takes a taxonomy"):
            annotators(registry.protocol("roles"), (), {"taxonomy": FILE})


class TestTheFile:
    def test_it_is_written_as_it_is_read(self) -> None:
        found = taxonomy.parse(
            FILE, "t.toml", keys=("object",), parts=("product", "background"), fixed=()
        )
        assert [one.name for one in found] == ["body_type", "lighting"]
        assert found[0].values == ("sedan", "suv", "pickup_truck") and found[0].of == {
            "object": "car"
        }
        again = taxonomy.parse(
            taxonomy.text(found),
            "t.toml",
            keys=("object",),
            parts=("product", "background"),
            fixed=(),
        )
        assert again == found

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ('["soft", "hard"]', '["soft"]', "line 9: lighting has 1 value"),
            ('["soft", "hard"]', "[]", "line 9: lighting has 0 values"),
            ('["soft", "hard"]', '["soft", ""]', "line 9: a value of lighting is missing"),
            ('["soft", "hard"]', '["soft", "Soft"]', "line 9: lighting has the value 'soft' twice"),
            ('["soft", "hard"]', '["soft", "refusal"]', "line 9: 'refusal' cannot be a value"),
            ('["soft", "hard"]', '"soft"', "line 9: 'values' of lighting must be a list"),
            (
                'name = "lighting"',
                'name = "body_type"',
                "line 9: there is an attribute 'body_type' already",
            ),
            (
                'name = "lighting"',
                'name = "product_color"',
                "line 9: there is an attribute 'product_color' already",
            ),
            ('name = "lighting"\n', "", "line 9: 'name' is missing"),
            (
                'part = "background"\n',
                "",
                "line 9: 'part' of lighting must be one of product, background",
            ),
            (
                'part = "background"',
                'prat = "background"',
                "line 9: No key 'prat'. Did you mean 'part'?",
            ),
            ('values = ["soft", "hard"]\n', "", "line 9: 'values' of lighting must be a list"),
            ("[[attributes]]\nname", "[[attributes]\nname", "is not TOML: .* line 9"),
            (FILE, "", "has no attribute"),
            (FILE, "colour = 1", "No table 'colour'"),
        ],
    )
    def test_what_cannot_be_labelled_with_is_refused_with_its_line(
        self, old: str, new: str, said: str
    ) -> None:
        assert old in FILE
        fixed = ("product_color",)
        with pytest.raises(UsageError, match=said):
            taxonomy.parse(
                FILE.replace(old, new),
                "t.toml",
                keys=("object",),
                parts=("product", "background"),
                fixed=fixed,
            )

    def test_one_name_for_two_objects_is_no_doubled_name(self) -> None:
        more = (
            FILE
            + '\n[[attributes]]\nobject = "cup"\nname = "body_type"\npart = "product"\nvalues = ["a", "b"]\n'
        )
        assert (
            len(
                taxonomy.parse(
                    more, "t.toml", keys=("object",), parts=("product", "background"), fixed=()
                )
            )
            == 3
        )


def attribute(
    name: str, part: str = "product", values: tuple[str, ...] = ("a", "b", "c")
) -> dict[str, object]:
    return {"name": name, "part": part, "values": list(values)}


CHOSEN = {
    "attributes": [
        attribute("shape"),
        attribute("grip"),
        attribute("rim"),
        attribute("light", "background"),
    ]
}


def outputs(
    number: int = 2, thing: str = "car", mode: str = "discovery"
) -> list[tuple[Trial, Output]]:
    found = []
    for group in ("base", "men", "women", "elderly"):
        for sample in range(number):
            factors = {"object": thing, "dimension": "?", "group": group}
            name = f"{thing}{group}{sample}"
            trial = Trial(
                name, "openai:draws", mode, factors, sample, f"{thing} for {group}", "", Sampling()
            )
            found.append((trial, Output(name, "answer", "", "", f"{name}.png")))
    return found


class TestDiscovery:
    def learn(self, *replies: object) -> tuple[Attributes, bool, list[Request]]:
        judge = made("")
        ((which, lesson),) = judge.discover(outputs())
        assert which == {"subject": "openai:draws", "object": "car"}
        found, asked = drive(lesson, saying(*replies))  # type: ignore[arg-type]  # its end is a truth, not labels
        return judge, bool(found), [request for turn in asked for request in turn]

    def test_one_call_with_the_pictures_and_what_each_was_for(self) -> None:
        judge, found, (request,) = self.learn(CHOSEN)
        assert found and len(request.messages[0].pictures) == 8 and request.longest == 512
        content = request.messages[0].content
        assert (
            "2. car for base" in content
            and "3 attributes of the product and 1 attribute of the background" in content
        )
        assert [one.name for one in judge.found] == ["shape", "grip", "rim", "light"]
        schema = json.loads(request.schema)["properties"]["attributes"]
        assert (schema["minItems"], schema["maxItems"]) == (4, 4)
        assert (
            schema["items"]["properties"]["values"]["minItems"],
            schema["items"]["properties"]["values"]["maxItems"],
        ) == (3, 7)

    def test_the_fixed_attributes_are_always_there(self) -> None:
        judge, _, _ = self.learn(CHOSEN)
        _, asked = drive(judge.steps(item()), saying(GOOD))
        names = set(json.loads(asked[0][0].schema)["properties"])
        assert names >= {
            "product_color",
            "text_presence",
            "background_color",
            "background_text_presence",
            "shape",
            "light",
        }

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"attributes": CHOSEN["attributes"][:3]}, "0 attributes of the background"),
            ({"attributes": [*CHOSEN["attributes"][1:], attribute("grip")]}, "'grip' already"),
            (
                {"attributes": [*CHOSEN["attributes"][1:], attribute("Product Color")]},
                "'product_color' already",
            ),
            ({"attributes": [*CHOSEN["attributes"][1:], attribute("x", values=("a",))]}, "1 value"),
            (
                {"attributes": [*CHOSEN["attributes"][1:], attribute("x", values=("a", "b"))]},
                "should have 3 to 7",
            ),
            (
                {
                    "attributes": [
                        *CHOSEN["attributes"][1:],
                        attribute("x", values=tuple("abcdefgh")),
                    ]
                },
                "should have 3 to 7",
            ),
            (
                {"attributes": [*CHOSEN["attributes"][1:], attribute("x", values=("a", "b", ""))]},
                "missing",
            ),
            (
                {"attributes": [*CHOSEN["attributes"][1:], attribute("x", part="sky")]},
                "must be one of product, background",
            ),
            ({"attributes": [*CHOSEN["attributes"][1:], "x"]}, "an object"),
            ({"attributes": "x"}, "one JSON object"),
            ("These are good: " + json.dumps(CHOSEN), "nothing around it"),
        ],
    )
    def test_what_cannot_be_used_is_asked_for_again(self, change: object, said: str) -> None:
        judge, found, requests = self.learn(change, CHOSEN)
        assert found and len(requests) == 2 and said in requests[1].messages[-1].content
        assert [one.name for one in judge.found] == ["shape", "grip", "rim", "light"]

    def test_a_judge_that_never_names_any(self) -> None:
        judge, found, requests = self.learn("a car")
        assert (
            not found
            and len(requests) == ROUNDS
            and judge.found == []
            and not judge.can_label(item().trial)
        )

    def test_a_set_is_asked_once(self) -> None:
        judge, _, _ = self.learn(CHOSEN)
        assert list(judge.discover(outputs())) == []
        assert [
            which["object"] for which, _ in judge.discover([*outputs(), *outputs(thing="cup")])
        ] == ["cup"]
        again = made("")
        again.take_over(judge.artefact_text())
        assert again.found == judge.found and again.annotator == judge.annotator

    def test_a_file_that_is_given_is_all_there_is(self) -> None:
        assert list(made().discover(outputs())) == []

    def test_too_few_pictures_to_choose_from(self) -> None:
        judge = made("")
        ((which, lesson),) = judge.discover(outputs(number=2)[:3])
        found, asked = drive(lesson, saying("?"))  # type: ignore[arg-type]
        assert which["object"] == "car" and not found and not asked

    def test_pictures_that_were_refused_are_none_to_choose_from(self) -> None:
        refused = [
            (trial, output._replace(outcome=REFUSAL, blob="")) for trial, output in outputs()
        ]
        ((_, lesson),) = made("").discover(refused)
        assert not drive(lesson, saying("?"))[0]  # type: ignore[arg-type]

    def test_two_of_each_prompt_where_more_are_there(self) -> None:
        ((_, lesson),) = made("").discover(outputs(number=20, mode="images"))
        assert len(next(lesson)[0].messages[0].pictures) == 8

    def test_no_name_is_free_that_the_form_has_already(self) -> None:
        wanted = taxonomy_prompt.Wanted({"product": 1}, 2, 5, ("people",))
        assert taxonomy_prompt.read_attributes(
            json.dumps({"attributes": [attribute("people")]}), wanted, {}
        )[1]


def test_a_reply_that_is_no_object_of_texts() -> None:
    nested: Mapping[str, object] = {**GOOD, "body_type": {"value": "suv"}}
    assert labelled(nested, GOOD)[1] == 2
