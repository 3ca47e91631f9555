"""A page in Chromium that is used: keys are pressed, fields are filled, and what is there then is asked."""

from __future__ import annotations

import asyncio
import base64
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.report.browser import FLAGS, Page, _port, chromium

LOCAL = tuple(flag.replace("~NOTFOUND", "~NOTFOUND, EXCLUDE 127.0.0.1") for flag in FLAGS)
CODES = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


@dataclass
class Visit:
    """What is done on a page, and what came of it. A step is (what, with what):

    go ADDRESS, key NAME, do SCRIPT, wait SCRIPT (until it is true), ask SCRIPT (its value is kept), picture PATH.
    """

    steps: Sequence[tuple[str, str]]
    width: int = 1280
    dark: bool = False
    values: list[Any] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


def drive(*visits: Visit) -> list[Visit]:
    """Makes all visits in one Chromium, each with no cookie of the one before."""
    asyncio.run(asyncio.wait_for(_drive(visits), 150))
    return list(visits)


async def _drive(visits: Sequence[Visit]) -> None:
    program = chromium()
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = await asyncio.create_subprocess_exec(
            program, *LOCAL, f"--user-data-dir={folder}", "about:blank",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            port = await _port(Path(folder))
            async with aiohttp.ClientSession() as http:
                async with http.get(f"http://127.0.0.1:{port}/json/list") as answer:
                    target = next(page for page in await answer.json() if page["type"] == "page")
                async with http.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                    for number, visit in enumerate(visits):
                        await _visit(Page(socket, number), visit)
        finally:
            process.terminate()
            await process.wait()


async def _visit(page: Page, visit: Visit) -> None:
    for domain in ("Page", "Network", "Log", "Runtime"):
        await page.send(f"{domain}.enable")
    await page.send("Network.clearBrowserCookies")
    await page.send("Log.clear")
    features = [{"name": "prefers-color-scheme", "value": "dark" if visit.dark else "light"}]
    await page.send("Emulation.setEmulatedMedia", media="", features=features)
    size = {"width": visit.width, "height": 844, "deviceScaleFactor": 1, "mobile": visit.width < 600}
    await page.send("Emulation.setDeviceMetricsOverride", **size)
    for what, given in visit.steps:
        await _step(page, visit, what, given)
    visit.requests = [
        e["params"]["request"]["url"] for e in page.events if e.get("method") == "Network.requestWillBeSent"
    ]
    visit.messages = [e["params"]["entry"]["text"] for e in page.events if e.get("method") == "Log.entryAdded"]


async def _step(page: Page, visit: Visit, what: str, given: str) -> None:
    if what == "go":
        await page.send("Page.navigate", url=given)
        await _until(page, "document.readyState === 'complete' && location.href !== 'about:blank'")
    elif what == "key":
        about: dict[str, Any] = {"key": given, "windowsVirtualKeyCode": CODES.get(given, ord(given[0].upper()))}
        text = {"Enter": "\r"}.get(given, given if len(given) == 1 else "")
        await page.send("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
        await page.send("Input.dispatchKeyEvent", type="keyUp", **about)
    elif what == "wait":
        await _until(page, given)
    elif what == "picture":
        shot = await page.send("Page.captureScreenshot")
        Path(given).write_bytes(base64.b64decode(shot["data"]))
    else:
        value = await _evaluated(page, given)
        visit.values += [value] if what == "ask" else []


async def _until(page: Page, script: str) -> None:
    for _ in range(160):
        with suppress(AssertionError):  # the page is on its way to another address
            if await _evaluated(page, script):
                return
        await asyncio.sleep(0.05)
    raise AssertionError(f"never came true: {script}")


async def _evaluated(page: Page, script: str) -> Any:
    found = await page.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
    assert "exceptionDetails" not in found, (script, found["exceptionDetails"])
    return found["result"].get("value")


@contextmanager
def explorer(*arguments: str) -> Iterator[str]:
    """`tiltmeter explore` in a process of its own; yields the address that it prints."""
    command = [sys.executable, "-m", "tiltmeter", "explore", *arguments, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
