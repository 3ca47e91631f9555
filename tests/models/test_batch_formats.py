"""The local providers of batches say what the SDKs of OpenAI and Anthropic can read, and what is odd of them is odd."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.batches.provider import Oddities
from tests.batches.server import BatchServer
from tests.serving import serving
from tiltmeter.errors import ModelError
from tiltmeter.models.batch import wire
from tiltmeter.models.batch.anthropic import AnthropicBatches
from tiltmeter.models.batch.file import FileBatches
from tiltmeter.models.batch.format import BatchFormat, Candidate, Handed
from tiltmeter.models.batch.gemini import GeminiBatches
from tiltmeter.models.batch.mistral import MistralBatches
from tiltmeter.models.batch.openai import OpenAIBatches
from tiltmeter.models.batch.wire import Wire
from tiltmeter.records import Json

PROMPTS = ("Complete: the guard said that", "The nurse is late since", "Who is it?", "A cook asks")


class Lister:
    """In place of a wire: a list of full pages, which says that there is more. turns: each page is another one."""

    connection = SimpleNamespace(name="openai:m")

    def __init__(self, turns: bool) -> None:
        self.turns, self.asked = turns, 0
        self.pages = partial(Wire.pages, cast(Wire, self))

    def read(self, parse: Callable[[Json], object], body: Json) -> object:
        return parse(body)

    async def get(self, path: str) -> Json:
        self.asked += 1
        name = f"b{self.asked * self.turns}"
        batch = {"id": name, "name": name, "created_at": "2026-11-01T12:00:00Z"}
        same: list[Json] = [batch | {"processing_status": "ended"}] * 100
        more: dict[str, Json] = {"has_more": True, "last_id": name, "nextPageToken": name}
        return more | {"data": same, "operations": same}


LISTED = [OpenAIBatches(), AnthropicBatches(), GeminiBatches(), MistralBatches()]


def listed(form: BatchFormat, lister: Lister) -> list[Candidate]:
    handed = Handed("key", "m", "/x", 3, Path("x.jsonl"), "2026-11-01T00:00:00+00:00")

    async def work() -> list[Candidate]:
        return [one async for one in form.candidates(cast(Wire, lister), handed)]

    return asyncio.run(work())


@pytest.mark.parametrize("form", LISTED)
def test_a_list_that_does_not_go_on_ends(form: BatchFormat) -> None:
    lister = Lister(turns=False)
    assert listed(form, lister) == [] and lister.asked == 2


@pytest.mark.parametrize("form", LISTED)
def test_a_list_without_end_is_left(form: BatchFormat, monkeypatch: pytest.MonkeyPatch) -> None:
    """With other pages each time. Whether the batch was made is not known then: it is not made again."""
    monkeypatch.setattr(wire, "MOST_PAGES", 30)
    lister = Lister(turns=True)
    with pytest.raises(ModelError, match="without end") as told:
        listed(form, lister)
    assert told.value.possibly_paid and lister.asked == 30


def test_a_list_whose_times_have_no_zone_is_read() -> None:
    lister = Lister(turns=False)
    listing = lister.get

    async def without_zone(path: str) -> Json:
        return json.loads(json.dumps(await listing(path)).replace("12:00:00Z", "12:00:00"))  # type: ignore[no-any-return]

    lister.get = without_zone  # type: ignore[method-assign]
    assert listed(AnthropicBatches(), lister) == [] and lister.asked == 2


def test_a_batch_for_somebody_else_leaves_files_beside_it_alone(tmp_path: Path) -> None:
    """It is written beside its place first, whole or not at all."""
    mine, lines = tmp_path / "work.part", tmp_path / "lines"
    mine.write_text("mine", "utf-8")
    lines.write_text("{}\n", "utf-8")
    handed = Handed("k" * 32, "m", "/x", 1, lines, "2026-11-01T00:00:00+00:00")
    form = FileBatches(tmp_path / "work.jsonl")
    asyncio.run(form.create(cast(Wire, None), handed))
    assert mine.read_text("utf-8") == "mine"
    lines.unlink()
    with pytest.raises(FileNotFoundError):
        asyncio.run(FileBatches(tmp_path / "other.jsonl").create(cast(Wire, None), handed))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["work.jsonl", "work.part"]


class Client:
    """Plain HTTP, as any client speaks it. headers: with a key."""

    def __init__(self, host: str, **headers: str) -> None:
        self.host, self.headers = host, headers

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} | self.headers
        if isinstance(body, bytes):
            headers["Content-Type"] = "multipart/form-data; boundary=B"
        request = urllib.request.Request(self.host + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=300) as reply:
            text = reply.read().decode()
        return json.loads(text) if text[:1] in "{[" and "\n" not in text.strip() else text

    def upload(self, path: str, lines: list[dict[str, Any]], purpose: str = "batch") -> Any:
        part = '--B\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n{}\r\n'
        text = "".join(json.dumps(line) + "\n" for line in lines)
        form = part.format("purpose", "", purpose) + part.format("file", '; filename="x"', text)
        return self("POST", path, (form + "--B--\r\n").encode())


def chat(number: int) -> dict[str, Any]:
    message = {"role": "user", "content": PROMPTS[number % len(PROMPTS)]}
    return {"model": "m", "messages": [message], "max_tokens": 20, "seed": number}


def openai_lines(number: int) -> list[dict[str, Any]]:
    line = {"method": "POST", "url": "/v1/chat/completions"}
    return [line | {"custom_id": f"t{n}", "body": chat(n)} for n in range(number)]


def openai_batch(client: Client, lines: list[dict[str, Any]]) -> tuple[Any, list[Any]]:
    """Runs a batch to its end; returns it, and all lines of its files."""
    file = client.upload("/v1/files", lines)
    wanted = {
        "input_file_id": file["id"],
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "metadata": {"a": "b"},
    }
    batch = client("POST", "/v1/batches", wanted)
    for _ in range(5):
        batch = client("GET", f"/v1/batches/{batch['id']}")
    came = []
    for name in (batch["output_file_id"], batch["error_file_id"]):
        if name is not None:
            text = client("GET", f"/v1/files/{name}/content")
            text = text if isinstance(text, str) else json.dumps(text)
            came += [json.loads(line) for line in text.splitlines()]
    return batch, came


def served(format_: str, **odd: Any) -> Any:
    return serving(BatchServer(format_, "she=.5", Oddities(**odd)))


@pytest.fixture
def bearer() -> dict[str, str]:
    return {"Authorization": "Bearer k"}


def test_openai_s_types_read_files_batches_lists_and_replies(bearer: dict[str, str]) -> None:
    types = pytest.importorskip("openai.types", reason="the SDK openai is not installed")
    completion = pytest.importorskip("openai.types.chat").ChatCompletion
    with served("openai", expired=1, page=1, others=1) as url:
        client = Client(url.removesuffix("/v1"), **bearer)
        file = client.upload("/v1/files", openai_lines(1))
        batch, came = openai_batch(client, openai_lines(4))
        page = client("GET", "/v1/batches?limit=100")
        more = client("GET", f"/v1/batches?limit=100&after={page['last_id']}")
    assert types.FileObject.model_validate(file).purpose == "batch"
    read = types.Batch.model_validate(batch)
    assert (read.status, read.metadata) == ("expired", {"a": "b"})
    assert (read.request_counts.completed, read.request_counts.total) == (2, 4)
    assert [types.Batch.model_validate(each).id for each in page["data"]] == [read.id]
    assert page["has_more"] and not more["has_more"] and more["data"][0]["id"] != read.id
    bodies = [line["response"]["body"] for line in came if line["response"]]
    assert all(completion.model_validate(body).choices[0].message.content for body in bodies)
    codes = [line["error"]["code"] for line in came if not line["response"]]
    assert len(bodies) == 2 and codes == ["batch_expired"] * 2


def test_anthropic_s_types_read_batches_and_results() -> None:
    reason = "the SDK anthropic is not installed"
    types = pytest.importorskip("anthropic.types.messages", reason=reason)
    params = [{key: chat(n)[key] for key in ("model", "messages", "max_tokens")} for n in range(3)]
    requests = [{"custom_id": f"t{n}", "params": each} for n, each in enumerate(params)]
    path = "/v1/messages/batches"
    with served("anthropic", cancelled=1) as url:
        headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
        client = Client(url.removesuffix("/v1"), **headers)
        begun = client("POST", path, {"requests": requests})
        for _ in range(3):
            batch = client("GET", f"{path}/{begun['id']}")
        results = client("GET", f"{path}/{begun['id']}/results").splitlines()
        page = client("GET", f"{path}?limit=1000")
    for each, state in ((begun, "in_progress"), (batch, "ended"), (page["data"][0], "ended")):
        assert types.MessageBatch.model_validate(each).processing_status == state
    assert batch["results_url"].endswith(f"{begun['id']}/results")
    read = [types.MessageBatchIndividualResponse.model_validate_json(line) for line in results]
    assert sorted(each.result.type for each in read) == ["canceled", "canceled", "succeeded"]


def test_the_ledger_counts_what_was_billed_and_odd_lines_are_odd(bearer: dict[str, str]) -> None:
    odd = {"missing": 2, "doubled": 3, "failing": 3}
    server = BatchServer("openai", "she=.5", Oddities(**odd))
    with serving(server) as url:
        client = Client(url.removesuffix("/v1"), **bearer)
        _, came = openai_batch(client, openai_lines(30))
        names = [line["custom_id"] for line in came]
        good = {line["custom_id"] for line in came if line["response"]["status_code"] == 200}
        left = [line for line in openai_lines(30) if line["custom_id"] not in good]
        _, rest = openai_batch(client, left)
        ledger = server.ledger.as_dict()
    assert 3 < len(good) < 27 and len(set(names)) < len(names) and len(set(names)) < 30
    assert names != sorted(names, key=lambda name: int(name[1:]))
    assert {
        line["custom_id"] for line in rest if line["response"]["status_code"] == 200
    } | good == {f"t{n}" for n in range(30)}  # what was missing or failed comes the second time
    assert ledger["most"] == 1 and ledger["bodies"] == 30 and ledger["complaints"] == []


def test_a_batch_whole(bearer: dict[str, str]) -> None:
    with served("openai", queue_full=1, endless=2, looks=1) as url:
        client = Client(url.removesuffix("/v1"), **bearer)
        batch, came = openai_batch(client, openai_lines(2))
        assert (batch["status"], came) == ("failed", [])
        assert batch["errors"]["data"][0]["code"] == "token_limit_exceeded"
        batch, _ = openai_batch(client, openai_lines(2))
        assert batch["status"] == "in_progress"
        twice = [line | {"custom_id": "t0"} for line in openai_lines(2)]
        batch, _ = openai_batch(client, twice)
        assert batch["errors"]["data"][0]["code"] == "duplicate_custom_id"


def test_the_same_answer_by_itself_and_in_a_batch(bearer: dict[str, str]) -> None:
    with served("openai") as url:
        client = Client(url.removesuffix("/v1"), **bearer)
        single = [client("POST", "/v1/chat/completions", chat(n)) for n in range(4)]
        _, came = openai_batch(client, openai_lines(4))
    assert {line["custom_id"]: line["response"]["body"] for line in came} == {
        f"t{n}": body for n, body in enumerate(single)
    }
