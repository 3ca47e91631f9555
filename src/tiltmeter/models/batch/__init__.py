"""Work that a provider does in bulk. format.py defines the interface; each provider has a file."""

from __future__ import annotations

from ...records import Message, Request
from ..http import HttpModel
from .wire import Wire


def wire_of(model: HttpModel) -> Wire:
    """Returns the connection to a model's provider, with the headers of its dialect."""
    size = "" if "text" in model.makes else "1024x1024"
    exchange = model.exchange(Request(model.name, (), size=size))
    sent = exchange.build(Request(model.name, (Message("user", "?"),), size=size))
    return Wire(model.connection, sent.headers, exchange.translate_status)
