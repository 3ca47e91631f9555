"""Chromium over its debugging protocol: pages are opened and used, and what is there then is asked.

For what only a browser can say: what a page loads, how wide it is, how it looks, what its keys do. No driver is installed.
"""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
CODES = {
    "Enter": 13,
    "Escape": 27,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
PATIENCE = 8.0  # seconds that a script may take to come true
HEIGHT = 844  # of the window, in CSS pixels


def chromium() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@dataclass
class Visit:
    """What is done on a page, and what came of it. A step is (what, with what):

    go ADDRESS, key NAME, do SCRIPT, wait SCRIPT (until it is true), ask SCRIPT (its value is kept), paper FILE (a PDF),
    picture FILE (of the window), whole FILE (of the whole page).
    """

    steps: Sequence[tuple[str, str]]
    width: int = 1280
    dark: bool = False
    still: bool = False  # who sits there asked for reduced motion
    scripts: bool = True  # False where the browser runs none of the page's
    media: str = ""
    scale: float = 1
    height: int = HEIGHT
    values: list[Any] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


def drive(*visits: Visit, seconds: float = 150) -> list[Visit]:
    """Makes all visits in one Chromium, each with no cookie of the one before."""

    async def all_of_them() -> None:
        async with _chromium() as socket:
            for number, visit in enumerate(visits):
                await _visit(_Page(socket, number), visit)

    asyncio.run(asyncio.wait_for(all_of_them(), seconds))
    return list(visits)


@asynccontextmanager
async def _chromium() -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """One Chromium with a profile of its own; yields the socket of its one page."""
    program = chromium()
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = await asyncio.create_subprocess_exec(
            program,
            *FLAGS,
            f"--user-data-dir={folder}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            port = await _port(Path(folder))
            async with aiohttp.ClientSession() as http:
                async with http.get(f"http://127.0.0.1:{port}/json/list") as answer:
                    target = next(page for page in await answer.json() if page["type"] == "page")
                async with http.ws_connect(
                    target["webSocketDebuggerUrl"], max_msg_size=0
                ) as socket:
                    yield socket
        finally:
            process.terminate()
            await process.wait()


async def _port(folder: Path) -> int:
    file = folder / "DevToolsActivePort"
    while not (file.exists() and file.read_text()):
        await asyncio.sleep(0.05)
    return int(file.read_text().split()[0])


class _Page:
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

    async def value(self, script: str) -> Any:
        found = await self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, (script[:500], found["exceptionDetails"])
        return found["result"].get("value")

    async def until(self, script: str) -> None:
        for _ in range(int(PATIENCE / 0.05)):
            with suppress(AssertionError):  # the page is on its way to another address
                if await self.value(script):
                    return
            await asyncio.sleep(0.05)
        raise AssertionError(f"never came true: {script}")

    def told(self, method: str) -> list[dict[str, Any]]:
        return [event["params"] for event in self.events if event.get("method") == method]


async def _visit(page: _Page, visit: Visit) -> None:
    for domain in ("Page", "Network", "Log", "Runtime"):
        await page.send(f"{domain}.enable")
    await page.send("Network.clearBrowserCookies")
    await page.send("Log.clear")
    scheme, motion = "dark" if visit.dark else "light", "reduce" if visit.still else "no-preference"
    wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
    features = [{"name": name, "value": value} for name, value in wanted.items()]
    await page.send("Emulation.setEmulatedMedia", media=visit.media, features=features)
    size = {
        "width": visit.width,
        "height": visit.height,
        "deviceScaleFactor": visit.scale,
        "mobile": visit.width < 600,
    }
    await page.send("Emulation.setDeviceMetricsOverride", **size)
    await page.send("Emulation.setScriptExecutionDisabled", value=not visit.scripts)
    page.events.clear()
    for what, given in visit.steps:
        await _step(page, visit, what, given)
    visit.requests = [event["request"]["url"] for event in page.told("Network.requestWillBeSent")]
    visit.messages = [event["entry"]["text"] for event in page.told("Log.entryAdded")]


async def _step(page: _Page, visit: Visit, what: str, given: str) -> None:
    if what == "go":
        await page.send("Page.navigate", url=given)
        await page.until("document.readyState === 'complete' && location.href !== 'about:blank'")
    elif what == "key":
        about: dict[str, Any] = {
            "key": given,
            "windowsVirtualKeyCode": CODES.get(given, ord(given[0].upper())),
        }
        text = {"Enter": "\r"}.get(given, given if len(given) == 1 else "")
        await page.send(
            "Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {})
        )
        await page.send("Input.dispatchKeyEvent", type="keyUp", **about)
    elif what == "wait":
        await page.until(given)
    elif what in ("picture", "whole", "paper"):
        method, options = _DRAWN[what]
        drawn = await page.send(method, **options)
        Path(given).write_bytes(base64.b64decode(drawn["data"]))
    else:
        assert what in ("do", "ask"), what
        value = await page.value(given)
        visit.values += [value] if what == "ask" else []


_DRAWN: dict[str, tuple[str, dict[str, Any]]] = {
    "picture": ("Page.captureScreenshot", {}),
    "whole": ("Page.captureScreenshot", {"captureBeyondViewport": True}),
    "paper": (
        "Page.printToPDF",
        {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": False},
    ),
}
