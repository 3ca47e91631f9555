"""How models are reached: which server, at which price, with what the table of models knows of
each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import registry
from ..errors import UsageError
from ..models import FREE, Model, Price, table
from ..models.http.provider import on_this_machine
from ..store import Store

# Kinds that are one provider's; another server for them is named by kind.
OWN_ADDRESS = ("anthropic", "gemini", "bfl", "replicate", "ideogram", "fal")
# Kinds that cost nothing.
AT_HOME = (
    "builtin",
    "gguf",
    "diffusers",
    "file",
    "folder",
    "replay",
    "planted",
    "planted-rewriter",
    "faces",
    "objects",
)


@dataclass(frozen=True, slots=True)
class Connect:
    """How models are reached. prices: by model name, US dollars for a million tokens, in and out.

    base_url:  the server of every model that has no provider of its own (`openai:` and kinds of
               other packages).
    base_urls: servers by kind or by model name.
    """

    base_url: str = ""
    timeout: float = 120.0
    prices: Mapping[str, Price] = field(default_factory=dict)
    builtin_from: str | None = None
    base_urls: Mapping[str, str] = field(default_factory=dict)

    def url(self, name: str) -> str:
        kind = name.partition(":")[0]
        general = "" if kind in OWN_ADDRESS else self.base_url
        return self.base_urls.get(name) or self.base_urls.get(kind) or general

    def price(self, name: str) -> Price | None:
        """The price given; else the table's, which at another server counts only where it is the
        user's own row.
        """
        row = table.find(name)
        return self.prices.get(name) or (
            row.price if row and (row.own or not self.url(name)) else None
        )

    def model(self, name: str, concurrency: int, run: Store | None = None) -> Model:
        """UsageError where the table says that the provider retired the model, unless another
        server is named.

        run: where the pictures lie that a model is shown, and the factors of the trials that a
        folder of pictures answers.
        """
        row, url = table.find(name), self.url(name)
        known: dict[str, Any] = {}
        if row and not url:
            table.refuse_retired(row)
        if run:
            known |= {"read": run.blob, "factors": run.factors}
        if row:
            known |= {
                "omitted": row.omitted,
                "think_off": row.takes.get("think_off") is True,
                "modality": "" if row.own else row.modality,
            }
        made: Model = registry.model(
            name,
            base_url=url,
            timeout=self.timeout,
            price=self.price(name),
            builtin_from=self.builtin_from,
            concurrency=concurrency,
            **known,
        )
        return made

    def expected_price(self, name: str) -> Price | None:
        """The price that the model will have when it is made: nothing for one on this machine or
        one that is stored.
        """
        kind = name.partition(":")[0]
        return self.price(name) or (
            FREE if kind in AT_HOME or on_this_machine(self.url(name)) else None
        )

    def known(self, name: str) -> dict[str, Any]:
        """What the table says of a model: its end and where its price is from."""
        row = table.find(name)
        shown: dict[str, Any] = {
            "name": name,
            "listed": row is not None,
            "retires_on": None,
            "retired": False,
            "soon": False,
        }
        if row and not self.url(name):
            shown |= {
                "retires_on": row.retires_on and str(row.retires_on),
                "retired": row.retired(),
                "soon": row.ends_soon(),
            }
        if row and row.price and name not in self.prices:
            shown |= {"price_date": str(row.price_date), "price_source": row.price_source}
        return shown

    def check(self, names: Iterable[str]) -> None:
        """Refuses a base URL that none of the models would use."""
        names = list(names)
        if self.base_url and all(name.partition(":")[0] in OWN_ADDRESS for name in names):
            kind = names[0].partition(":")[0]
            raise UsageError(
                "--base-url is for openai: models. Type for instance: --base-url "
                f"{kind}={self.base_url}"
            )
