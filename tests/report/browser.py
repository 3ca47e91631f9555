"""Chromium over its debugging protocol, for what only a browser can say: what it loads, how wide it is, how it looks."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-port=0",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


def chromium() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@dataclass(frozen=True)
class Seen:
    """What Chromium saw of a page at one width."""

    requests: tuple[str, ...]
    messages: tuple[str, ...]
    values: tuple[Any, ...]
    picture: bytes


@dataclass(frozen=True)
class View:
    """One look at a file: the width in CSS pixels, the colour scheme, what to evaluate in it, how much to picture."""

    path: Path
    width: int
    dark: bool = False
    media: str = ""
    evaluate: tuple[str, ...] = ()
    whole: bool = False


def look(*views: View) -> list[Seen]:
    """Takes all looks in one Chromium; each has a picture of the window, or of the whole page."""
    return asyncio.run(asyncio.wait_for(_look(views), 120))


async def _look(views: Sequence[View]) -> list[Seen]:
    program = chromium()
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = await asyncio.create_subprocess_exec(
            program, *FLAGS, f"--user-data-dir={folder}", "about:blank",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            port = await _port(Path(folder))
            async with aiohttp.ClientSession() as http:
                async with http.get(f"http://127.0.0.1:{port}/json/list") as answer:
                    target = next(page for page in await answer.json() if page["type"] == "page")
                async with http.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                    return [await _visit(Page(socket, number), view) for number, view in enumerate(views)]
        finally:
            process.terminate()
            await process.wait()


async def _port(folder: Path) -> int:
    file = folder / "DevToolsActivePort"
    while not (file.exists() and file.read_text()):
        await asyncio.sleep(0.05)
    return int(file.read_text().split()[0])


class Page:
    """One tab: commands and the events that came meanwhile."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, place: int) -> None:
        self._socket, self._number, self.events = socket, 1000 * place, list[dict[str, Any]]()

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": params})
        while True:
            message = json.loads((await self._socket.receive()).data)
            if message.get("id") == self._number:
                assert "error" not in message, message
                return dict(message["result"])
            self.events.append(message)

    async def loaded(self) -> None:
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(json.loads((await self._socket.receive()).data))


async def _visit(page: Page, view: View) -> Seen:
    for domain in ("Page", "Network", "Log", "Runtime"):
        await page.send(f"{domain}.enable")
    await page.send("Log.clear")
    features = [{"name": "prefers-color-scheme", "value": "dark" if view.dark else "light"}]
    await page.send("Emulation.setEmulatedMedia", media=view.media, features=features)
    size = {"width": view.width, "height": 844, "deviceScaleFactor": 1, "mobile": view.width < 600}
    await page.send("Emulation.setDeviceMetricsOverride", **size)
    page.events.clear()
    await page.send("Page.navigate", url=view.path.resolve().as_uri())
    await page.loaded()
    await asyncio.sleep(0.3)
    values = []
    for expression in view.evaluate:
        result = await page.send("Runtime.evaluate", expression=expression, returnByValue=True)
        values.append(result["result"].get("value"))
    shot = await page.send("Page.captureScreenshot", captureBeyondViewport=view.whole)
    asked = [e["params"]["request"]["url"] for e in page.events if e.get("method") == "Network.requestWillBeSent"]
    said = [e["params"]["entry"]["text"] for e in page.events if e.get("method") == "Log.entryAdded"]
    return Seen(tuple(asked), tuple(said), tuple(values), base64.b64decode(shot["data"]))
