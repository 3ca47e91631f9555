"""Parses a `diffusers:` model's name: the pipeline, and the settings to load and call it with."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ...errors import UnknownName, UsageError
from ...records import Json
from ..providers.drawing import split_settings

INDEX = "model_index.json"
DTYPES = ("float32", "float16", "bfloat16")
LOADED = ("dtype", "device", "revision", "variant", "batch")
MOST_AT_ONCE = 64  # pictures of a batch
SHORT = {"steps": "num_inference_steps", "guidance": "guidance_scale"}
OURS = ("prompt", "width", "height", "generator")  # said by the trial
FIXED = (*OURS, "num_images_per_prompt", "output_type", "return_dict")
_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")
_HUB = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


class Named(NamedTuple):
    """The components of a name. folder: None if the Hub is meant; call: arguments of the pipeline's
    call; batch: pictures per batch.
    """

    where: str
    folder: Path | None
    dtype: str
    device: str
    hub: dict[str, str]
    call: dict[str, Json]
    batch: int = 1


def parse_name(name: str) -> Named:
    """Parses a model's name; reads model_index.json alone if it is a folder. Raises UsageError."""
    where, settings = split_settings(name)
    if not where:
        raise UsageError(
            "Which pipeline? Type --model diffusers:PATH with a folder that save_pretrained "
            "wrote, or --model diffusers:OWNER/NAME with a name on the Hugging Face Hub"
        )
    wanted = {key: str(settings.pop(key)) for key in LOADED if key in settings}
    path = Path(where).expanduser()
    folder = path if path.is_dir() else None
    if folder:
        index(folder)
    elif not _HUB.fullmatch(where):
        raise UsageError(
            f"{where} is neither a folder nor a name on the Hub (OWNER/NAME). Type: --model "
            "diffusers:PATH with a folder that save_pretrained wrote"
        )
    if folder and "revision" in wanted:
        raise UsageError(
            f"{where} is a folder, but revision is for names on the Hub. Leave revision out."
        )
    if wanted.get("dtype", DTYPES[0]) not in DTYPES:
        raise UnknownName("dtype", wanted["dtype"], DTYPES)
    if "device" in wanted and not _DEVICE.fullmatch(wanted["device"]):
        raise UnknownName("device", wanted["device"], ("cpu", "mps", "cuda", "cuda:1"))
    hub: dict[str, str] = {key: wanted[key] for key in ("revision", "variant") if key in wanted}
    return Named(
        where,
        folder,
        wanted.get("dtype", DTYPES[0]),
        wanted.get("device", ""),
        hub,
        arguments(settings),
        _batch(wanted.get("batch", "1")),
    )


def _batch(text: str) -> int:
    """Parses the number of pictures per batch. Raises UsageError unless it is 1 to MOST_AT_ONCE."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_AT_ONCE:
        raise UsageError(
            f"diffusers: batch={text} must be a number of pictures from 1 to {MOST_AT_ONCE}. Type "
            "for instance: batch=4"
        )
    return int(text)


def arguments(settings: Mapping[str, Json]) -> dict[str, Json]:
    """Converts settings to arguments: steps=30 → num_inference_steps=30. Raises UsageError."""
    by_name = {SHORT.get(key, key): value for key, value in settings.items()}
    for key in FIXED:
        if key in by_name:
            raise UsageError(f"diffusers: the audit sets {key} itself. Leave it out.")
    steps, guidance = by_name.get("num_inference_steps", 1), by_name.get("guidance_scale", 0)
    if type(steps) is not int or steps < 1:
        raise UsageError(
            f"diffusers: steps={steps} must be a number of steps. Type for instance: steps=30"
        )
    number = not isinstance(guidance, bool) and isinstance(guidance, (int, float))
    if not number or not math.isfinite(float(str(guidance))):
        raise UsageError(
            f"diffusers: guidance={guidance} must be a number. Type for instance: guidance=7.5"
        )
    return by_name


def index(folder: Path) -> dict[str, Json]:
    """Reads model_index.json. Raises UsageError if it does not name a class of diffusers."""
    try:
        content = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        if not isinstance(content["_class_name"], str):
            raise UsageError(
                f"{folder} needs code of its own for the pipeline, which is never run. Name "
                "another pipeline."
            )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(
            f"{folder} is not a pipeline: it has no {INDEX} that names a class. Type: --model "
            "diffusers:PATH with a folder that save_pretrained wrote"
        ) from None
    return dict(content)
