"""`diffusers:NAME_OR_PATH[?SETTINGS]`: a pipeline of the library diffusers that makes pictures on
this machine.

NAME_OR_PATH is a folder as `save_pretrained` writes it, or OWNER/NAME on the Hugging Face Hub. Only
files that are not in this machine's cache are fetched from the Hub, so a run that goes on another
day has the same commit, and a cached copy needs no network.

SETTINGS follow a `?`, with `&` between them (drawing.py), and are part of the subject's name:

    steps, guidance    num_inference_steps and guidance_scale; by default those of the pipeline's
                       class
    dtype              float32 (the default), float16 or bfloat16
    device             cpu, mps, cuda or cuda:N; by default the first available of cuda, mps and cpu
    revision, variant  of the Hub's repository: branch, tag or commit; which of its files
    batch              pictures generated at a time; 1 by default
    others             arguments of the pipeline's call, unchanged

A trial's seed determines the noise from which a picture is made. The noise is sampled on the CPU,
whatever the device, as diffusers advises, and separately for each picture of a batch. On the same
device, with the same versions and the same batch, the same trial gives the same picture. Code that
comes with a pipeline is never run.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import inspect
import io
import os
import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from ...errors import Incapable, MissingExtra, ModelError, TiltmeterError, UnknownName
from ...records import ERROR, REFUSAL, Reply, Request
from .. import FREE, Model, Price
from ..kinds import ModelKind
from ..options import DEFAULTS, PICTURES, ModelOptions
from ..providers.drawing import pixels, prompt
from . import weights
from .picture_batches import PictureBatches
from .pipeline_names import FIXED, INDEX, LOADED, OURS, SHORT, Named, index, parse_name

NEEDS = ("diffusers", "torch", "transformers", "accelerate")
# The Hub's client says what it runs in, and for that asks the Hub for a list, even where all is
# cached.
QUIET = {"HF_HUB_DISABLE_TELEMETRY": "1"}
STEP_PIXELS = 8  # pixels: a latent of Stable Diffusion and its kin stands for 8 × 8 of them
_FULL = re.compile(r"out of memory|can't allocate memory|not enough memory", re.IGNORECASE)
# one picture at a time, by device
_DRAWING: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


class Diffusers(Model):
    """A diffusers pipeline: loaded by `open`, dropped by `close`, called in a thread."""

    makes = ("pictures",)

    def __init__(self, name: str, price: Price | None = None) -> None:
        self.name, self.price, self._named = f"diffusers:{name}", price or FREE, parse_name(name)
        self.batch = self._named.batch
        self.parallel = 1 if self.batch == 1 else 2 * self.batch  # the next one waits meanwhile
        self._batches = PictureBatches(self.batch, self._draw)
        self._pipeline: Any = None
        self._device = self._served = self._fingerprint = ""

    @property
    def fingerprint(self) -> str:
        """The class, weights, library versions, device and dtype of the pipeline, once open."""
        return f"{self._served} {self._fingerprint}".strip()

    def check(self, request: Request) -> None:
        """Raises Incapable for text, or for sides that are not multiples of STEP_PIXELS pixels."""
        super().check(request)
        sides = pixels(request.size)
        if any(side % STEP_PIXELS for side in sides):
            near = "x".join(
                str(max(STEP_PIXELS, round(side / STEP_PIXELS) * STEP_PIXELS)) for side in sides
            )
            raise Incapable(
                f"{self.name} needs sides that are a multiple of {STEP_PIXELS} pixels, but "
                f'{request.size} is asked for. Write in the protocol\'s mode: size = "{near}"'
            )

    async def open(self) -> None:
        """Loads the pipeline onto its device, in a thread."""
        await asyncio.to_thread(self._load)

    async def close(self) -> None:
        """Drops the pipeline and frees the GPU's cached memory."""
        self._pipeline = None
        if self._device.startswith("cuda"):
            import_module("torch").cuda.empty_cache()

    def sends_temperature(self, request: Request) -> bool:
        """Returns False: a diffusion pipeline has no temperature."""
        return False

    async def ask(self, request: Request) -> Reply:
        """Generates a picture, in a thread; raises Incapable as `check` does."""
        self.check(request)
        if self.batch > 1:
            return await self._batches.ask(request)
        return (await asyncio.to_thread(self._draw, (request,)))[0]

    def _load(self) -> None:
        with self._translate_errors("load"):
            os.environ.update(QUIET)
            torch, library = import_module("torch"), import_module("diffusers")
            silence(library)
            device = self._device = choose_device(torch, self._named.device)
            folder = self._named.folder or self._from_hub(library)
            kind = self._pipeline_class(library, folder)
            with _DRAWING[device]:
                self._pipeline = kind.from_pretrained(
                    str(folder),
                    dtype=getattr(torch, self._named.dtype),
                    local_files_only=True,
                    **variant(self._named),
                ).to(device)
            self._pipeline.set_progress_bar_config(disable=True)
            content = digest(folder) if self._named.folder else ""
        mark = f"sha256:{content[:16]}" if content else f"{self._named.where}@{folder.name[:12]}"
        self._served = f"{kind.__name__} {mark}"
        where = (
            f"{device} ({torch.cuda.get_device_name(device)})"
            if device.startswith("cuda")
            else device
        )
        self._fingerprint = (
            f"diffusers-{library.__version__} torch-{torch.__version__} {where} {self._named.dtype}"
        )

    def _from_hub(self, library: ModuleType) -> Path:
        """Returns the cached copy's folder, named after its commit; fetches it if incomplete."""
        fetch, where = library.DiffusionPipeline.download, self._named.where
        try:
            return Path(fetch(where, local_files_only=True, **self._named.hub))
        except (OSError, ValueError):
            return Path(fetch(where, **self._named.hub))

    def _pipeline_class(self, library: ModuleType, folder: Path) -> Any:
        """Returns the pipeline's class, checked before the weights are loaded."""
        name = str(index(folder)["_class_name"])
        kind = getattr(library, name, None)
        if kind is None:
            raise ModelError(
                f"diffusers {library.__version__} has no pipeline {name}. Type: pip install "
                "--upgrade diffusers"
            )
        takes = inspect.signature(kind.__call__).parameters
        lacking = [each for each in OURS if each not in takes]
        if lacking:
            raise Incapable(
                f"{self.name} is a {name}, which does not accept {' and '.join(lacking)}: it "
                "cannot make a picture from a text alone. Name another pipeline."
            )
        for each in self._named.call:
            if each not in takes:
                kinds = [
                    *SHORT,
                    *LOADED,
                    *(name for name in takes if name not in ("self", "kwargs", *FIXED)),
                ]
                raise UnknownName(f"setting of {name}", each, kinds)
        return kind

    def _draw(self, requests: Sequence[Request]) -> list[Reply]:
        """Generates a batch of pictures of one size."""
        width, height = pixels(requests[0].size)
        texts: Any = [prompt(request) for request in requests]
        generators: Any = [_noise(request.sampling.seed) for request in requests]
        call = dict(self._named.call)
        if len(requests) == 1:
            texts, generators = texts[0], generators[0]
        else:  # a text for all is a text for each
            call |= {n: [v] * len(requests) for n, v in call.items() if isinstance(v, str)}
        with self._translate_errors("draw with"), _DRAWING[self._device]:
            result = self._pipeline(
                prompt=texts, width=width, height=height, generator=generators, **call
            )
            flagged = getattr(result, "nsfw_content_detected", None) or getattr(
                result, "nsfw_detected", None
            )
            is_unsafe = flagged or [False] * len(requests)
            pictures = list(zip(requests, result.images, is_unsafe, strict=True))
        return [self._read(request, image, bool(flag)) for request, image, flag in pictures]

    def _read(self, request: Request, image: Any, is_held_back: bool) -> Reply:
        """Makes a picture's reply: a refusal if a filter withheld it, an error if it is black."""
        width, height = pixels(request.size)
        if is_held_back:
            return self._reply("The pipeline's safety checker held the picture back.", REFUSAL)
        if image.size != (width, height):
            came = f"{image.width}x{image.height}"
            raise ModelError(
                f"{self.name} draws {came}, but the protocol asks for {request.size}. Write in its "
                "mode: "
                f'size = "{came}"'
            )
        if not any(high for _, high in image.convert("RGB").getextrema()):
            return self._reply(
                f"The picture is black all over, as it is where {self._named.dtype} overflows.",
                ERROR,
            )
        target = io.BytesIO()
        image.save(target, "PNG")
        return self._reply(picture=target.getvalue())

    def _reply(self, text: str = "", outcome: str = "answer", picture: bytes = b"") -> Reply:
        return Reply(
            text,
            outcome,
            served=self._served,
            fingerprint=self._fingerprint,
            usage=(0, 0),
            picture=picture,
        )

    @contextmanager
    def _translate_errors(self, doing: str) -> Iterator[None]:
        """Turns errors of the libraries into a ModelError with what to type."""
        try:
            yield
        except TiltmeterError:
            raise
        except Exception as error:  # noqa: BLE001
            # diffusers, torch, transformers, safetensors and the Hub's client have no base in
            # common.
            reason = " ".join(str(error).split())
            if isinstance(error, MemoryError) or _FULL.search(reason):
                raise ModelError(self._too_large()) from None
            on_hub = self._named.folder is None and self._pipeline is None
            sought = (
                f" (no folder {self._named.where} is here, so the Hub's is meant)" if on_hub else ""
            )
            raise ModelError(
                f"diffusers cannot {doing} {self.name}{sought}: "
                f"{reason[:400] or type(error).__name__}"
            ) from None

    def _too_large(self) -> str:
        sign = "&" if "?" in self.name else "?"
        ways = []
        if self._named.dtype == "float32":
            ways.append(f"--model '{self.name}{sign}dtype=bfloat16', which takes half")
        if self._device != "cpu" and not self._named.device:
            ways.append(f"--model '{self.name}{sign}device=cpu', which is slow")
        first = f"Type {', or '.join(ways)}. Or name" if ways else "Name"
        return (
            f"{self.name} does not fit into the memory of {self._device or 'the device'}. "
            f"{first} a smaller pipeline."
        )


def _noise(seed: int | None) -> Any:
    """Returns a noise generator with this seed; None if `seed` is None."""
    return None if seed is None else import_module("torch").Generator("cpu").manual_seed(seed)


def digest(folder: Path) -> str:
    """Hashes all that a pipeline is loaded from: model_index.json and its components' folders."""
    parts = [folder / name for name, value in index(folder).items() if isinstance(value, list)]
    files = [
        folder / INDEX,
        *(file for part in parts for file in part.rglob("*") if file.is_file()),
    ]
    lines = sorted(
        f"{file.relative_to(folder).as_posix()} {weights.sha256(file)}\n" for file in files
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def variant(name: Named) -> dict[str, str]:
    """Returns the library's argument that selects which files of a repository to load."""
    return {"variant": name.hub["variant"]} if "variant" in name.hub else {}


def choose_device(torch: ModuleType, wanted: str) -> str:
    """Returns the wanted device, or the first available. Raises ModelError if torch lacks it."""
    devices = {
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
        "cpu": 1,
    }
    kind, _, number = (wanted or next(kind for kind, count in devices.items() if count)).partition(
        ":"
    )
    if int(number or 0) >= devices[kind]:
        raise ModelError(
            f"torch sees no device {wanted} here. Leave device out of the name, or type device=cpu."
        )
    return f"{kind}:{number or 0}" if kind == "cuda" else kind


def silence(library: ModuleType) -> None:
    """Turns off the libraries' progress bars and warnings."""
    for each in (library, import_module("transformers")):
        each.utils.logging.set_verbosity_error()
        each.utils.logging.disable_progress_bar()


def diffusers(name: str, options: ModelOptions = DEFAULTS) -> Diffusers:
    """Makes the model `diffusers:NAME_OR_PATH[?SETTINGS]`. Raises MissingExtra if not installed."""
    model = Diffusers(name, options.price)
    if any(importlib.util.find_spec(module) is None for module in NEEDS):
        raise MissingExtra("Using a diffusers: model", "diffusers")
    return model


KIND = ModelKind(
    "diffusers",
    "diffusers:NAME_OR_PATH, a pipeline on this machine: pictures (extra diffusers)",
    diffusers,
    makes=(PICTURES,),
    price=FREE,
    modules=NEEDS,
    extra="diffusers",
)
