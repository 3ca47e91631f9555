"""A server that writes down what it delivered: chat, and pictures behind a queue.

    python benchmarks/ledger.py        (prints its base URL as its first line)

POST /v1/chat/completions answers after a moment; POST /v1/MODEL takes the work of drawing a grey
dot, as Black Forest Labs do, and GET /v1/work/N has it a moment later. GET /v1/count: how many
requests were answered and how much work was taken, in all; with ?settled once no request is open,
since requests of a killed process are answered too.
"""

from __future__ import annotations

import asyncio
import random
import signal
from base64 import b64encode

from aiohttp import web
from aiohttp.typedefs import Handler

MOMENT_S = 0.01
# A grey picture of one pixel; what stands behind its end makes another file of it.
GREY_DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010800000000"
    "3a7e9b550000000a49444154789c6360000000020001e221bc33"
    "0000000049454e44ae426082"
)


class Ledger:
    """What was delivered. A request counts when its reply begins to go out."""

    def __init__(self) -> None:
        self.delivered, self._open = 0, 0
        self._work: dict[str, int] = {}  # id → looks at it so far

    @web.middleware
    async def note_open(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Counts the open requests for answers."""
        if request.method == "GET":
            return await handler(request)
        self._open += 1
        try:
            return await handler(request)
        finally:
            self._open -= 1

    async def chat(self, request: web.Request) -> web.Response:
        """A word: `male` of a judge called panel-…, else `she`."""
        body = await request.json()
        await asyncio.sleep(random.uniform(0.5, 1.5) * MOMENT_S)
        self.delivered += 1
        word = "male" if str(body["model"]).startswith("panel") else "she"
        message = {"role": "assistant", "content": word}
        usage = {"prompt_tokens": 9, "completion_tokens": 1}
        return web.json_response({"choices": [{"message": message}], "usage": usage})

    async def take(self, request: web.Request) -> web.Response:
        """A receipt for work."""
        await request.read()
        await asyncio.sleep(random.uniform(0.5, 1.5) * MOMENT_S)
        self.delivered += 1
        number = str(len(self._work))
        self._work[number] = 0
        return web.json_response({"id": number, "polling_url": f"/work/{number}"})

    async def look(self, request: web.Request) -> web.Response:
        """Pending at the first look, then a picture of its own."""
        number = request.match_info["number"]
        self._work[number] += 1
        if self._work[number] == 1:
            return web.json_response({"id": number, "status": "Pending"})
        picture = b64encode(GREY_DOT + number.encode()).decode()
        result = {"sample": f"data:image/png;base64,{picture}"}
        return web.json_response({"id": number, "status": "Ready", "result": result})

    async def count(self, request: web.Request) -> web.Response:
        """{"delivered": all so far}."""
        while "settled" in request.query:
            await asyncio.sleep(2 * MOMENT_S)  # what was sent before a kill arrives meanwhile
            if not self._open:
                break
        return web.json_response({"delivered": self.delivered})


async def serve() -> None:
    """Serves on a free port of loopback until SIGTERM."""
    ledger, done = Ledger(), asyncio.Event()
    app = web.Application(client_max_size=2**26, middlewares=[ledger.note_open])
    app.router.add_post("/v1/chat/completions", ledger.chat)
    app.router.add_get("/v1/work/{number}", ledger.look)
    app.router.add_get("/v1/count", ledger.count)
    app.router.add_post("/v1/{model}", ledger.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, done.set)
    await done.wait()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve())
