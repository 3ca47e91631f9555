"""python -m tests.batches FORMAT: see server.py."""

import argparse
import asyncio
import json
import logging

from tests.batches.provider import Oddities
from tests.batches.server import FORMATS, serve

parser = argparse.ArgumentParser(prog="python -m tests.batches")
parser.add_argument("format", choices=sorted(FORMATS))
parser.add_argument("--settings", default="")
parser.add_argument("--oddities", default="{}", help="JSON, as the class Oddities has them")
given = parser.parse_args()
logging.getLogger("aiohttp").setLevel(logging.CRITICAL)  # clients are killed in mid-call
asyncio.run(serve(given.format, given.settings, Oddities(**json.loads(given.oddities))))
