"""The table of models: every row has its sources, a user's file overrides it, and a wrong one is told where."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from tiltmeter import registry
from tiltmeter.cli import main
from tiltmeter.errors import BudgetError, UsageError
from tiltmeter.models import FREE, Price, table
from tiltmeter.records import Message, Request
from tiltmeter.stages.engine.limits import Budget
from tiltmeter.stages.steps.connect import Connect

NEW = '"openai:mine" = { price = { prompt = 1, completion = 2.5, date = 2026-11-01 } }\n'


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "models.toml"
    path.write_text("", encoding="utf-8")
    monkeypatch.setenv(table.VARIABLE, str(path))
    return path


def test_every_row_is_complete() -> None:
    found = table.rows()
    assert len(found) > 25
    names = [
        name
        for row in found.values()
        for name in (row.name, *(f"{row.name.partition(':')[0]}:{a}" for a in row.aliases))
    ]
    assert len(names) == len(set(names))
    for row in found.values():
        assert row.name.partition(":")[0] in registry.MODELS, row.name
        assert row.price or row.retires_on or row.takes or row.languages or row.efforts, (
            f"{row.name} says nothing"
        )
        if row.price:
            assert (
                row.price_source.startswith("https://")
                and row.price_date
                and row.price_date <= date(2026, 11, 21)
            )
            assert 0 < row.price.prompt < row.price.completion or (
                row.price.prompt,
                row.price.completion,
            ) == (0, 0)
            assert (row.price.picture > 0) == (not row.price.prompt) and (
                row.modality == "image" or not row.price.picture
            )
        if row.retires_on:
            assert row.retirement_source.startswith("https://")


def test_what_the_design_says_of_ends() -> None:
    """DESIGN.md: DALL-E 3 went in May, gpt-image-1 in October and Imagen in the summer of 2026, GPT-4o in January 2027."""
    ends = {name: row.retires_on for name, row in table.rows().items() if row.retires_on}
    assert (ends["openai:dall-e-3"].year, ends["openai:dall-e-3"].month) == (2026, 5)
    assert (ends["openai:gpt-image-1"].year, ends["openai:gpt-image-1"].month) == (2026, 10)
    assert (
        ends["gemini:imagen-4.0-generate-001"].year,
        ends["gemini:imagen-4.0-generate-001"].month,
    ) == (2026, 6)
    assert (ends["openai:gpt-4o"].year, ends["openai:gpt-4o"].month) == (2027, 1)


def test_the_day_of_the_end_is_retired_and_the_day_before_is_not() -> None:
    row = table.rows()["openai:gpt-4o"]
    assert row.is_retired(date(2027, 1, 14)) and not row.is_retired(date(2027, 1, 13))
    assert (
        row.ends_soon(date(2027, 1, 13))
        and not row.ends_soon(date(2026, 10, 1))
        and not row.ends_soon(date(2027, 1, 14))
    )


def test_aliases_stand_for_their_row() -> None:
    found = table.find("openai:gpt-4o-2024-08-06")
    assert found is not None and found.name == "openai:gpt-4o"
    assert (
        table.find("anthropic:gpt-4o") is None
        and table.find("openai:nothing") is None
        and table.find("builtin") is None
    )


def test_languages_are_those_that_a_source_names(own: Path) -> None:
    """GRAMVIS, Table 2: seven languages of DALL-E 3 and Flux 1.1 pro, en and es of SDXL; else none is known."""
    found = table.rows()
    seven = {"en", "fr", "de", "es", "ru", "it", "zh"}
    assert set(found["openai:dall-e-3"].languages) == seven
    assert set(found["bfl:flux-pro-1.1"].languages) == seven
    assert found["replicate:stability-ai/sdxl"].languages == ("en", "es")
    assert found["openai:gpt-image-1"].languages == ()
    assert all(bool(row.languages) == bool(row.languages_source) for row in found.values())
    own.write_text('"ideogram:v3" = { languages = { listed = ["en"] } }\n', "utf-8")
    assert table.rows()["ideogram:v3"].languages == ("en",)
    own.write_text('"ideogram:v3" = { languages = { listed = "en" } }\n', "utf-8")
    with pytest.raises(UsageError, match=r"languages\.listed: a list of names"):
        table.rows()


def test_a_users_file_adds_rows_and_overrides_single_fields(own: Path) -> None:
    own.write_text(
        NEW + '["openai:gpt-4o"]\nprice = { prompt = 9, completion = 99, date = "2026-11-02" }\n'
        "takes = { seed = false }\n",
        encoding="utf-8",
    )
    found = table.rows()
    assert found["openai:mine"].price == Price(1, 2.5) and found["openai:mine"].own
    changed = found["openai:gpt-4o"]
    assert changed.price == Price(9, 99) and changed.retires_on == date(2027, 1, 14) and changed.own
    assert changed.takes["seed"] is False and changed.takes["logprobs"] == 20
    assert not found["openai:gpt-4.1"].own


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '["openai:x"]\nprize = 1',
            ["entry 'openai:x'", "No field 'prize'", "Did you mean 'price'"],
        ),
        (
            '["openai:x"]\nprice = { prompt = 1, completion = 2 }',
            ["entry 'openai:x', price", "'date' is missing", "date = 2"],
        ),
        (
            '["openai:x"]\nprice = { prompt = 1, completion = 2, date = "soon" }',
            ["price.date", "a day expected", "'soon'"],
        ),
        (
            '["openai:x"]\nprice = { prompt = -1, completion = 2, date = 2026-11-01 }',
            ["price.prompt", "US dollars"],
        ),
        (
            '["openai:x"]\nprice = { prompt = true, completion = 2, date = 2026-11-01 }',
            ["price.prompt", "True"],
        ),
        ('["openai:x"]\nprice = 3', ["price: a table expected", "price = {"]),
        (
            '["openai:x"]\nprice = { prompt = 1, date = 2026-11-01 }',
            ["price: 'completion' is missing", "completion = 10"],
        ),
        (
            '["openai:x"]\nprice = { date = 2026-11-01 }',
            ["price: 'prompt' is missing", "picture = 0.04"],
        ),
        ('["openai:x"]\nprice = { picture = 0.04 }', ["price: 'date' is missing"]),
        (
            '["openai:x"]\nprice = { picture = 0.04, prompt = 1, date = 2026-11-01 }',
            ["'completion' is missing"],
        ),
        (
            '["openai:x"]\nprice = { picture = "4 cents", date = 2026-11-01 }',
            ["price.picture", "for one picture expected"],
        ),
        ('["openai:x"]\nprice = { promt = 1 }', ["Did you mean 'prompt'"]),
        ('["openai:x"]\nretirement = { date = 2026-11-01 }', ["'on' is missing"]),
        ('["openai:x"]\ntakes = { temperatur = false }', ["Did you mean 'temperature'"]),
        ('["openai:x"]\ntakes = { temperature = "no" }', ["takes.temperature", "true or false"]),
        ('["openai:x"]\ntakes = { logprobs = true }', ["takes.logprobs", "a number of"]),
        ('["openai:x"]\naliases = "y"', ["aliases: a list of names"]),
        ('["openai:x"]\nmodality = "sound"', ["modality: 'text' or 'image'"]),
        ('["gpt-4o"]\nmodality = "text"', ["entry 'gpt-4o'", "kind:name"]),
        ("as_of = 2026-11-01", ["entry 'as_of'", "kind:name"]),
        (
            '["openai:x"]\nmodality = "text"\n"openai:y" = { modality = "text" }',
            ["'openai:y' stands inside", "above the first"],
        ),
        ("[[", ["cannot be read as TOML"]),
    ],
)
def test_a_wrong_file_is_told_with_file_entry_field_and_remedy(
    own: Path, text: str, said: list[str]
) -> None:
    own.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        table.rows()
    message = str(caught.value)
    assert str(own) in message and message.count("\n") <= 1
    for part in said:
        assert part in message


def test_a_price_of_a_picture_is_read_and_printed(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own.write_text(
        '"openai:draws" = { modality = "image", price = { picture = 0.04, date = 2026-11-01 } }\n'
        '"openai:both" = { price = { prompt = 1, completion = 2, picture = 0.005, date = 2026-11-01 } }\n',
        encoding="utf-8",
    )
    found = table.rows()
    assert found["openai:draws"].price == Price(0, 0, 0.04) and found["openai:both"].price == Price(
        1, 2, 0.005
    )
    asked = Request("openai:draws", (Message("user", "A doctor"),), size="1024x1024")
    assert (
        found["openai:draws"].price.worst(asked) == 0.04
    )  # a picture costs what it costs, whatever is said
    assert main(["ls", "models"]) == 0
    (line,) = (
        line for line in capsys.readouterr().out.splitlines() if line.startswith("openai:draws")
    )
    assert line.split() == ["openai:draws", "*", "0.040", "2026-11-01", "pictures"]
    assert main(["ls", "models", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["models"]}
    assert rows["openai:draws"]["price"] == {
        "prompt": 0,
        "completion": 0,
        "picture": 0.04,
        "date": "2026-11-01",
        "source": "",
    }
    assert rows["bfl:flux-2-pro"]["price"]["picture"] == 0.03


def test_a_file_that_is_named_and_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(table.VARIABLE, str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match="does not exist"):
        table.rows()


def test_a_retired_model_is_refused_unless_a_server_is_named(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(
        UsageError, match=r"openai:dall-e-3 was retired on 2026-05-12.*--base-url"
    ) as caught:
        Connect().model("openai:dall-e-3", 1)
    assert (
        Connect(base_url="http://127.0.0.1:1/v1").model("openai:dall-e-3", 1).name
        == "openai:dall-e-3"
    )
    own.write_text(
        str(caught.value).rpartition(f"{own}: ")[2], encoding="utf-8"
    )  # the line that the message gives
    assert Connect().model("openai:dall-e-3", 1).name == "openai:dall-e-3"


def test_prices_come_from_the_option_then_from_the_table(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    given = Connect(prices={"openai:gpt-4o": Price(7, 8)})
    assert given.model("openai:gpt-4o", 1).price == Price(7, 8)
    assert Connect().model("openai:gpt-4o-2024-11-20", 1).price == Price(2.5, 10)
    assert Connect().model("openai:nothing", 1).price is None
    elsewhere = Connect(base_url="http://192.0.2.1/v1")
    assert elsewhere.model("openai:gpt-4o", 1).price is None  # another server has prices of its own
    assert Connect(base_url="http://127.0.0.1:1/v1").model("openai:gpt-4o", 1).price == FREE
    own.write_text(NEW, encoding="utf-8")
    assert elsewhere.model("openai:mine", 1).price == Price(1, 2.5)


def test_an_unknown_price_under_a_cap_is_refused_with_a_line_that_works(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    asked = Request("openai:nothing", (Message("user", "hello"),))

    def reserve() -> float:
        return Budget(1.0, 0.0).reserve(Connect().model("openai:nothing", 1), asked)

    with pytest.raises(BudgetError, match="--price openai:nothing=") as caught:
        reserve()
    assert str(caught.value).count("\n") == 1
    own.write_text(str(caught.value).rpartition(f"{own}: ")[2], encoding="utf-8")
    assert reserve() > 0


def test_what_the_table_knows_to_be_refused_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    from tests.models.wire import KEY, AnthropicWire

    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)

    async def main() -> tuple[str, ...]:
        async with AnthropicWire() as wire:
            model = Connect(base_urls={"anthropic": wire.url}).model("anthropic:claude-opus-4-8", 1)
            await model.open()
            reply = await model.ask(
                Request(model.name, (Message("user", "Say: she"),), begin="The answer is '")
            )
            await model.close()
            assert len(wire.seen) == 1 and "temperature" not in wire.seen[0]
            return reply.omitted

    assert asyncio.run(main()) == ("temperature", "top_p", "begin")


def test_a_base_url_is_for_whom_it_is_meant() -> None:
    connect = Connect(
        base_url="http://a/v1",
        base_urls={"anthropic": "http://b/v1", "openai:special": "http://c/v1"},
    )
    assert (
        connect.url("openai:x") == "http://a/v1" and connect.url("openai:special") == "http://c/v1"
    )
    assert connect.url("anthropic:x") == "http://b/v1" and connect.url("gemini:x") == ""
    with pytest.raises(UsageError, match="--base-url anthropic=http://a/v1"):
        Connect(base_url="http://a/v1").check(["anthropic:x", "gemini:y"])
    Connect(base_url="http://a/v1").check(["anthropic:x", "openai:y"])


def test_ls_models(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own.write_text(NEW, encoding="utf-8")
    assert main(["ls", "models", "--json"]) == 0
    listed = {row["name"]: row for row in json.loads(capsys.readouterr().out)["models"]}
    assert listed["openai:dall-e-3"]["retired"] is True and listed["openai:mine"]["own"] is True
    assert listed["openai:mine"]["price"]["completion"] == 2.5
    assert main(["ls", "models"]) == 0
    shown = capsys.readouterr().out
    assert (
        "openai:mine *" in shown
        and "retired 2026-05-12" in shown
        and str(own) in shown.replace("\n", "")
    )


def test_rows_that_ship_are_not_read_for_a_kind_that_has_none(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert all(table.find(name) is not None for name in table.rows())
    own.write_text(
        '["planted:she=.8"]\nprice = { prompt = 1, completion = 1, date = 2026-11-28 }\n'
    )
    monkeypatch.setattr(table, "_built_in", lambda: pytest.fail("the rows that ship are read"))
    assert table.find("planted:she=.7") is None
    assert table.find("planted:she=.8") is not None
