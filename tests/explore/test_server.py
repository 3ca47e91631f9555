"""Who may come in, what may be asked for, and that what models wrote stays text."""

from __future__ import annotations

import errno
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from tests.explore.conftest import HOSTILE
from tiltmeter import gold
from tiltmeter.cli import group, main
from tiltmeter.errors import UsageError
from tiltmeter.explore import rendering
from tiltmeter.explore.security import bound
from tiltmeter.explore.selection.thumbnails import Thumbnails, content
from tiltmeter.explore.server import Explorer, application
from tiltmeter.store import Store, blobs
from tiltmeter.store.queries import labels

TOKEN, PORT = "a-token-of-the-test", 8123
HOME = f"http://127.0.0.1:{PORT}"


def client(*folders: Path, known: bool = True) -> Iterator[TestClient]:
    explorer = Explorer(folders)
    try:
        with TestClient(
            application(explorer, TOKEN, PORT), base_url=HOME, follow_redirects=False
        ) as made:
            if known:
                assert made.get(f"/?token={TOKEN}").status_code == 303
            yield made
    finally:
        explorer.close()


@pytest.fixture(scope="module")
def pictures(guards: Path) -> Iterator[TestClient]:
    yield from client(guards)


@pytest.fixture(scope="module")
def words(texts: Path) -> Iterator[TestClient]:
    yield from client(texts)


@pytest.fixture(scope="module")
def stranger(guards: Path) -> Iterator[TestClient]:
    yield from client(guards, known=False)


# the door


@pytest.mark.parametrize(
    "path",
    ["/", "/state", "/explore.css", "/blobs/0/x.png", "/?token=wrong", "/?token=", "/no/such"],
)
def test_nothing_is_there_without_the_token(stranger: TestClient, path: str) -> None:
    stranger.cookies.clear()
    answer = stranger.get(path)
    assert (
        answer.status_code == 403 and "token" in answer.text and "set-cookie" not in answer.headers
    )
    stranger.cookies.set(f"tiltmeter-{PORT}", "wrong")
    assert stranger.get(path).status_code == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(stranger: TestClient) -> None:
    stranger.cookies.clear()
    answer = stranger.get(f"/?tab=guard&token={TOKEN}&value=male")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?tab=guard&value=male")
    cookie = answer.headers["set-cookie"].lower()
    assert (
        f"tiltmeter-{PORT}={TOKEN}" in cookie
        and "httponly" in cookie
        and "samesite=strict" in cookie
    )
    assert stranger.get("/").status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"localhost.evil:{PORT}",
        "",
    ],
)
def test_another_host_name_opens_nothing(pictures: TestClient, host: str) -> None:
    assert pictures.get("/", headers={"Host": host}).status_code == 421
    assert pictures.get(f"/?token={TOKEN}", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_it_can_only_be_read(pictures: TestClient, method: str) -> None:
    assert pictures.request(method, "/").status_code == 405


@pytest.mark.parametrize(
    "path",
    ["/", "/state", "/explore.js", "/no/such", "/blobs/0/../../run.sqlite", "/output/0/none"],
)
def test_every_answer_has_the_headers(pictures: TestClient, path: str) -> None:
    headers = pictures.get(path).headers
    policy = headers["content-security-policy"]
    assert (
        policy.startswith("default-src 'none';")
        and "unsafe" not in policy
        and "data:" not in policy
        and "http" not in policy
    )
    assert "script-src 'self'" in policy and "frame-ancestors 'none'" in policy
    assert (
        headers["x-content-type-options"] == "nosniff"
        and headers["cross-origin-resource-policy"] == "same-origin"
    )
    assert headers["referrer-policy"] == "no-referrer"


# files


@pytest.mark.parametrize(
    "name",
    [
        "../run.sqlite",
        "..%2Frun.sqlite",
        "%2e%2e/run.sqlite",
        "..%5Crun.sqlite",
        "/etc/passwd",
        "%2Fetc%2Fpasswd",
        "",
        "x.png",
        32 * "0" + ".png",
        32 * "0" + ".sqlite",
        32 * "A" + ".png",
        32 * "0" + ".png%00",
        32 * "0" + ".png/../../run.sqlite",
        32 * "0" + ".png%0A",
    ],
)
def test_no_path_leaves_the_blobs(pictures: TestClient, name: str) -> None:
    for kind in ("blobs", "small"):
        answer = pictures.get(f"/{kind}/0/{name}")
        assert (
            answer.status_code == 404
            and b"SQLite" not in answer.content
            and b"root:" not in answer.content
        )


def test_a_link_that_leads_out_of_the_run_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "run" / "blobs").mkdir(parents=True)
    (tmp_path / "secret").write_bytes(b"secret")
    name = 32 * "a" + ".bin"
    (tmp_path / "run" / "blobs" / name).symlink_to(tmp_path / "secret")
    with pytest.raises(UsageError, match="outside the run"):
        content(tmp_path / "run", name)
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / name).write_bytes(b"secret")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "blobs").symlink_to(tmp_path / "else")
    with pytest.raises(UsageError, match="outside the run"):
        content(tmp_path / "other", name)


def test_pictures_come_whole_and_small(pictures: TestClient, guards: Path) -> None:
    name = next(name for name in blobs.names(guards) if name.endswith(".png"))
    whole, small = pictures.get(f"/blobs/0/{name}"), pictures.get(f"/small/0/{name}")
    assert (
        whole.content == blobs.place_of(guards, name).read_bytes()
        and whole.headers["content-type"] == "image/png"
    )
    assert small.headers["content-type"] == "image/jpeg" and small.content[:2] == b"\xff\xd8"
    assert pictures.get(f"/blobs/7/{name}").status_code == 404


def test_thumbnails_take_up_no_more_than_their_room(guards: Path) -> None:
    names = [name for name in blobs.names(guards) if name.endswith(".png")]
    one = len(Thumbnails().small(guards, names[0]))
    kept = Thumbnails(room=3 * one)
    for name in names:
        assert kept.small(guards, name) == Thumbnails().small(guards, name)
        assert kept.used <= 3 * one
    assert kept.used > 0


def test_a_broken_picture_is_said_and_the_rest_is_shown(broken: Path) -> None:
    for web in client(broken):
        page = web.get("/?tab=*")
        assert page.status_code == 200
        answers = {
            key: web.get(source).status_code
            for key, source in re.findall(
                r'data-key="(\S+?)"[^<]*<img src="(\S+?)"', page.text, re.DOTALL
            )
        }
        bad = [key for key, status in answers.items() if status == 404]
        assert len(bad) >= 2 and len(answers) > len(bad)
        said = [web.get(f"/output/{key.replace('-', '/', 1)}").text for key in bad]
        assert any("is not in the run&#39;s folder" in text for text in said)
        assert any("is not what was stored" in text for text in said)


# what models wrote


class Tags(HTMLParser):
    """Every tag with its attributes, and the text, as a browser would see them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_what_models_wrote_stays_text(words: TestClient) -> None:
    grid = words.get("/?tab=*&mode=*").text
    keys = re.findall(r'href="/output/(\S+?)\?', grid)
    pages = [grid, *(words.get(f"/output/{key}").text for key in keys)]
    found = "".join(pages)
    assert (
        "document.title=&#39;owned&#39;" in found
        and "{{ 7*7 }}" in found
        and "⟨U+202E⟩" in found
        and "⟨U+001B⟩" in found
    )
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\ufeff]", found)
    for page in pages:
        for tag, attributes in Tags(page).tags:
            assert tag not in ("iframe", "base", "style", "object", "embed", "title2")
            assert not any(name.startswith("on") for name in attributes)
            assert all(
                not str(attributes.get(name) or "").startswith(("javascript:", "data:", "http"))
                for name in ("href", "src")
            )
            assert tag != "script" or attributes == {"src": "/explore.js"}
    assert all(
        any(text.split("\u202e")[0].strip() in Tags(page).text for page in pages)
        for text in HOSTILE
    )


def test_what_is_in_the_address_stays_text(words: TestClient) -> None:
    for query in (
        "text=<script>alert(1)</script>",
        'tab="><script>alert(1)</script>',
        "value=<b>",
        "f.class=<script>alert(1)</script>",
    ):
        assert "<script>alert" not in words.get(f"/?{query}").text
    answer = words.get("/?columns=<script>alert(1)</script>")
    assert (
        answer.status_code == 404
        and "<script>alert" not in answer.text
        and "no factor" in answer.text
    )
    answer = words.get("/output/0/<script>alert(1)</script>")
    assert answer.status_code == 404 and "<script>alert" not in answer.text


def test_an_opened_output_stands_in_the_page(pictures: TestClient) -> None:
    key = re.findall(r'data-key="(\S+?)"', pictures.get("/").text)[0]
    assert f'<article class="detail" data-key="{key}"' in pictures.get(f"/?open={key}").text
    for wrong in ("0-none", "²-x", "99-x", "-", "0-"):
        assert '<article class="detail"' not in pictures.get("/", params={"open": wrong}).text
    part = pictures.get(f"/output/{key.replace('-', '/', 1)}", headers={"X-Part": "1"}).text
    assert part.startswith("<article") and "<html" not in part


def test_it_says_how_many_outputs_there_are(pictures: TestClient) -> None:
    assert pictures.get("/state").json() == {"outputs": 36}
    assert pictures.get("/?study=99").status_code == 404


def test_several_protocols_have_a_page_each(guards: Path, texts: Path) -> None:
    for web in client(guards, texts):
        first, second = web.get("/").text, web.get("/?study=1").text
        assert (
            'href="/?study=1"' in first
            and "<h1>Guards</h1>" in first
            and "<h1>Gendered role selection</h1>" in second
        )


# the command


def test_a_port_in_use_is_said(guards: Path) -> None:
    with bound(0) as taken:
        taken.listen()
        number = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"Port {number} cannot be used: .* --port 0"):
            bound(number)


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    done = CliRunner().invoke(group, ["explore", str(tmp_path), "--no-browser"])
    assert done.exit_code == 1 and "is not a run" in str(done.exception)


def test_static_pages_are_whole_or_not_there(
    guards: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ctrl-C, or a full disk, in the middle of them leaves nothing half written behind."""
    troubles: list[BaseException] = [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")]
    for trouble in troubles:
        with monkeypatch.context() as patched:
            patched.setattr(rendering, "grid", Mock(side_effect=trouble))
            assert main(["explore", str(guards), "--static", str(tmp_path / "pages")]) == 1
        assert list(tmp_path.iterdir()) == []
    told = capsys.readouterr().err
    assert "Stopped." in told and "No space left" in told
    assert main(["explore", str(guards), "--static", str(tmp_path / "pages")]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["pages"]


# corrections


def test_a_correction_stands_beside_the_labels_and_is_no_gold(texts: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(texts, folder)
    explorer = Explorer([folder], "ann")
    with (
        closing(explorer),
        TestClient(application(explorer, TOKEN, PORT), base_url=HOME) as made,
    ):
        made.get(f"/?token={TOKEN}")
        key = re.findall(r'data-key="0-(\w+)"', made.get("/").text)[0]
        (pronoun,) = made.get(f"/correctable/0/{key}").json()
        assert pronoun["name"] == "pronoun" and pronoun["mine"] == ""
        assert {"he", "she", "neither"} < {name for name, _ in pronoun["values"]}
        sent = {"run": 0, "output": key, "attribute": "pronoun", "value": "neither"}

        def post(**changes: object) -> int:
            return made.post("/correct", json=sent | changes, headers={"Origin": HOME}).status_code

        assert post(value="purple") == post(attribute="age") == post(run="0") == 404
        assert made.post("/correct", json=sent).status_code == 403
        assert post() == 200
        assert "human:ann (corrected)" in made.get(f"/output/0/{key}").text
        assert f'split" href="/output/0/{key}' in made.get("/").text
        with Store(folder) as store:
            assert not labels.have_human(store) and not gold.truths(store)
        assert post(value="") == 200
        assert "(corrected)" not in made.get(f"/output/0/{key}").text


def test_nothing_is_written_without_a_name(words: TestClient) -> None:
    sent = {"run": 0, "output": "x", "attribute": "pronoun", "value": "he"}
    assert words.post("/correct", json=sent, headers={"Origin": HOME}).status_code == 403
    assert "--annotator NAME" in words.get("/correctable/0/x").json()["error"]
