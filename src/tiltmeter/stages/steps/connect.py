"""Connections to models: their servers and prices, and the facts in the table of models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NotRequired, TypedDict

from ...errors import UsageError
from ...models import FREE, Model, Price, Queued, reasoning, table
from ...models.http.provider import on_this_machine
from ...models.kinds import kind_of, make_model, makes, sees
from ...models.options import TEXT, ModelOptions
from ...models.workers import Workers
from ...secret_filter import environment_secrets, named_secret
from ...store import Store


class KnownModel(TypedDict):
    """A model in the output of `plan --json`. retires_on, price_date: days as YYYY-MM-DD; batch:
    the cost of a call in a batch, in words, if batches are wanted; limits: its known gaps.
    """

    name: str
    listed: bool
    retires_on: str | None
    retired: bool
    soon: bool
    price_date: NotRequired[str]
    price_source: NotRequired[str]
    batch: NotRequired[str]
    limits: NotRequired[list[str]]


class Thinking(TypedDict):
    """The amount of a model's thinking; the fields are those of `ModelOptions`."""

    effort: str | None
    thinks: bool


@dataclass(frozen=True, slots=True)
class Connect:
    """The settings of connections to models. prices: by model name, US dollars per million tokens,
    in and out.

    base_url:  the server of every model that has no provider of its own (`openai:` and kinds of
      other packages).
    base_urls: servers by kind or by model name.
    further:   {"" (as base_url), kind or model name: the servers beside the first}, if a model has
      several.
    workers:   processes that hold models which run inside tiltmeter; None for this process alone.
    columns:   {field: its column} in files of answers.
    named:     the models that the user named: no other model may execute code.
    context:   context size in tokens of a model on this machine; None for the needed size.
    needed_context: tokens of the plan's longest prompt with its reply, by an upper estimate.
    no_system: True if subjects get no system prompt, not even their template's own.
    reasoning: off, default or an effort, for the subjects; None (and for all other models): off if
      that is known to be possible.
    subjects:  the models under audit.
    """

    base_url: str = ""
    timeout: float = 120.0
    prices: Mapping[str, Price] = field(default_factory=dict)
    builtin_from: str | None = None
    base_urls: Mapping[str, str] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    further: Mapping[str, Sequence[str]] = field(default_factory=dict)
    workers: Workers | None = None
    context: int | None = None
    needed_context: int = 0
    no_system: bool = False
    reasoning: str | None = None
    subjects: tuple[str, ...] = ()

    def urls(self, name: str) -> list[str]:
        """Returns all base URLs that the user gave for a model; the first one is `url(name)`."""
        url = self.url(name)
        kind = name.partition(":")[0]
        key = next((key for key in (name, kind) if self.base_urls.get(key)), "")
        return [url, *self.further.get(key, ())] if url else []

    def url(self, name: str) -> str:
        """Returns the base URL that the user gave for a model; "" to use its kind's own server."""
        general = "" if kind_of(name).own_server else self.base_url
        return self.base_urls.get(name) or self.base_urls.get(name.partition(":")[0]) or general

    def price(self, name: str) -> Price | None:
        """Returns the price that the user gave; else, for the usual server, the model table's."""
        row = table.find(name)
        return self.prices.get(name) or (
            row.price if row and (row.own or not self.url(name)) else None
        )

    def model(self, name: str, concurrency: int, run: Store | None = None) -> Model:
        """Makes a model, not yet open.

        run: the store that holds the pictures that a model is shown, and the trials' factors, by
        which a folder of pictures is matched.

        Raises UsageError if the table says that the provider retired the model and no other server
        is named, or if the model would execute code and was not named.
        """
        if kind_of(name).executes and name not in self.named:
            raise UsageError(
                f"{name} would execute code that you did not name. Look at it, then name it: "
                f"--model '{name}'"
            )
        row, url = table.find(name), self.url(name)
        if row and not url:
            table.refuse_retired(row)
        options = ModelOptions(
            base_url=url,
            price=self.price(name) or kind_of(name).price,
            timeout=self.timeout,
            concurrency=concurrency,
            builtin_from=self.builtin_from,
            read=run.blob if run else None,
            factors=run.factors if run else None,
            columns=self.columns,
            context=self.context,
            needed_context=self.needed_context,
            no_system=self.no_system and name in self.subjects,
        )
        if row:
            options = replace(
                options,
                omitted=row.omitted,
                modality="" if row.own else row.modality,
            )
        options = replace(options, **self._thinking(name, row))
        if self.workers is not None and _takes_workers(name):
            return _on_workers(name, options, self.workers)
        urls = self.urls(name)
        if len(urls) < 2 or not kind_of(name).is_served:
            made = make_model(name, options)
            made.sees = made.sees and (bool(url) or sees(name))
            return made
        from ...models.servers import Servers

        return Servers([make_model(name, replace(options, base_url=one)) for one in urls], urls)

    def _thinking(self, name: str, row: table.Listed | None) -> Thinking:
        """Returns the settings of thinking to send. row: the model's entry in the table, if any."""
        choice = self.reasoning if name in self.subjects else None
        if row is None or self.url(name):
            effort = None if choice is None else reasoning.effort(choice, (), switchable=True)
            return {"effort": effort, "thinks": effort not in (None, "", reasoning.NONE)}
        efforts = ("none", *row.efforts) if row.takes.get("think_off") is True else row.efforts
        if choice is None and not efforts:
            return {"effort": None, "thinks": False}
        effort = reasoning.effort(choice, efforts, switchable=False)
        thinks = row.thinks if effort == "" else effort != reasoning.NONE
        return {"effort": effort, "thinks": thinks}

    def expected_price(self, name: str) -> Price | None:
        """Returns the price by which the model's calls will be counted; None if it is unknown."""
        urls = self.urls(name)
        free = FREE if urls and all(map(on_this_machine, urls)) else None
        price = self.price(name) or kind_of(name).price or free
        thinks = self._thinking(name, table.find(name))["thinks"]
        return price._replace(reserve=reasoning.RESERVE_TOKENS) if price and thinks else price

    def batch_price(self, name: str) -> Price | None:
        """Returns a model's price per call in a batch; the full price if the table has no other."""
        row, price = table.find(name), self.expected_price(name)
        share = row.batch_share if row else None
        return price if price is None or share is None else price.times(share)

    def describe(self, name: str) -> KnownModel:
        """Describes a model from the table: its retirement, gaps, and the source of its price."""
        row = table.find(name)
        model = KnownModel(
            name=name, listed=row is not None, retires_on=None, retired=False, soon=False
        )
        if row and not self.url(name):
            model["retires_on"] = str(row.retires_on) if row.retires_on else None
            model["retired"], model["soon"] = row.is_retired(), row.ends_soon()
            if limits := list(self._limits(name, row)):
                model["limits"] = limits
        if row and row.price and name not in self.prices:
            model["price_date"], model["price_source"] = str(row.price_date), row.price_source
        return model

    def _limits(self, name: str, row: table.Listed) -> Iterator[str]:
        """Yields the known gaps of a model that could affect a run."""
        if TEXT not in makes(name):
            return
        if row.takes.get("seed") is False:
            yield "takes no seed: no draw can be repeated"
        elif name.startswith("openai:"):
            yield "its seed is best effort: a draw that is repeated may differ"
        if row.takes.get("logprobs") == 0:
            yield "gives no log-probabilities: --mode sampled"
        if self._thinking(name, row)["thinks"]:
            tokens = f"{reasoning.RESERVE_TOKENS:,} tokens a call"
            yield f"thinks whatever it is told: {tokens} are reserved"

    def describe_batch(self, name: str) -> str:
        """Writes the cost of a call to a model in a batch."""
        row = table.find(name)
        if not kind_of(name).batches:
            return "takes no batches: it is asked as usual"
        if row is None or row.batch_share is None:
            return "the price of a batch is not known: the full price is assumed"
        source = f"as of {row.batch_date}, {row.batch_source}".rstrip(", ")
        return f"in a batch {row.batch_share:.0%} of the price {source}"

    def check(self, names: Iterable[str]) -> None:
        """Raises UsageError for a base URL that none of the models would use, and for a model name
        that contains a key, since names are stored and shown.
        """
        names = list(names)
        for secret in filter(None, (named_secret(environment_secrets(), name) for name in names)):
            raise UsageError(
                f"The name of a model is stored and shown, and '{secret}' holds a key. Put the key "
                "into the environment, where the command can read it: export API_KEY=…"
            )
        if self.workers is not None and not any(map(_takes_workers, names)):
            raise UsageError(
                "--workers is for models that run in tiltmeter's own process (diffusers:, gguf:, "
                f"python:, …), not for {', '.join(names)}. Leave it out, or name several "
                "servers: --base-url URL --base-url URL"
            )
        served = [name for name in names if kind_of(name).is_served]
        if self.base_url and not served:
            raise UsageError(
                f"--base-url names a server, but {', '.join(names)} needs none. Leave it out, or "
                "name a model of the server: --model openai:NAME"
            )
        if self.base_url and all(kind_of(name).own_server for name in served):
            kind = served[0].partition(":")[0]
            raise UsageError(
                "--base-url is for openai: models. Type for instance: --base-url "
                f"{kind}={self.base_url}"
            )


def _takes_workers(name: str) -> bool:
    """True if a model runs on this machine and can run in separate processes."""
    kind = kind_of(name)
    return kind.on_workers and kind.provider is None


def _on_workers(name: str, options: ModelOptions, workers: Workers) -> Model:
    from ...models.workers.pool import WorkerPool
    from ...models.workers.ray_cluster import RayCluster
    from ...models.workers.worker import ShownPictures

    pictures = ShownPictures({})
    factory = partial(make_model, name, replace(options, read=pictures, factors=None))
    model = factory()
    if isinstance(model, Queued):  # its work is done elsewhere
        return make_model(name, options)
    return WorkerPool(model, factory, pictures, workers, RayCluster.join, options.read)
