"""Judges that are small networks on this machine: they answer one kind of question about a picture,
at no cost.

They replace a vision model (`--judge faces`): instruments ask them like any model, and their calls
are stored like any call. Other questions are refused with what to type: no judge guesses.

Each picture is read at the size that the request limits it to, in a thread, one network thread per
picture; the same picture gets the same answer whatever else runs.
"""

from __future__ import annotations

import asyncio
import importlib.util
import io
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from ... import images
from ...errors import Incapable, MissingExtra, ModelError, UsageError
from ...records import Reply, Request
from .. import FREE, Model, Price
from ..kinds import DoctorFinding
from ..options import ReadBlob
from . import weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

    Array = NDArray[np.float32]
    Pixels = NDArray[np.uint8]  # shape (height, width, 3), RGB


Question = tuple[str, ...]  # the words that a judge is asked to choose from
REMEMBERED_ANSWERS = 256

# ONNX (DequantizeLinear, version 21): a scale for the whole tensor goes with block_size 0. The file
# has 64 at twenty such nodes, and no others with axis 0; onnxruntime refuses them, OpenCV reads
# them so.
_BLOCKS = b"\n\nblock_size\x18\x40\xa0\x01\x02*\x0b\n\x04axis\x18\x00"
_MENDED = {"yunet": (_BLOCKS, _BLOCKS.replace(b"\x40", b"\x00"))}


class Offline(Model):
    """The base of offline judges. A subclass sets the fields, and defines `question`, `answer`."""

    extra: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ("onnxruntime",)
    uses: ClassVar[tuple[str, ...]]
    # a changed rule has another name, which stands in the fingerprint of its replies
    method: ClassVar[str]

    def __init__(self, name: str, read: ReadBlob | None = None, price: Price | None = None) -> None:
        for module in self.needs:
            if importlib.util.find_spec(module) is None:
                raise MissingExtra(f"--judge {name}", self.extra)
        self.name, self.price, self.parallel = name, price or FREE, os.cpu_count() or 1
        self._read = read
        self._nets: dict[str, InferenceSession] = {}
        self._answers: dict[tuple[str, str], tuple[str, str]] = {}

    def question(self, request: Request) -> Question:
        """Parses a request's question. Raises Incapable if this judge cannot answer it."""
        raise NotImplementedError

    def answer(self, asked: Question, image: Pixels) -> tuple[str, str]:
        """Returns the reply, and the evidence for it as JSON."""
        raise NotImplementedError

    async def open(self) -> None:
        """Loads the networks, in a thread."""
        await asyncio.to_thread(self._load)

    def _load(self) -> None:
        self._nets = {name: session(name) for name in self.uses}

    def run(self, name: str, inputs: Array) -> Sequence[Array]:
        """Runs a network with one input; returns its outputs."""
        net = self._nets[name]
        outputs: Sequence[Array] = net.run(None, {net.get_inputs()[0].name: inputs})
        return outputs

    async def ask(self, request: Request) -> Reply:
        """Returns the judge's reply about one picture. Raises Incapable for other questions."""
        self.check(request)
        asked = self.question(request)
        text, raw = await asyncio.to_thread(self._answer_once, asked, request)
        return Reply(text, served=self.name, fingerprint=self.fingerprint, usage=(0, 0), raw=raw)

    @property
    def fingerprint(self) -> str:
        """The rule, weights and library version of the judge."""
        import onnxruntime

        marks = "+".join(f"{name}:{weights.KNOWN[name].sha256[:8]}" for name in self.uses)
        return f"{self.method} {marks} onnxruntime-{onnxruntime.__version__}"

    def _answer_once(self, asked: Question, request: Request) -> tuple[str, str]:
        """Answers a question about a picture; takes the answer to a repeated one from a cache."""
        names = [name for message in request.messages for name in message.pictures]
        key = (repr(names), repr((asked, request.longest)))
        if key not in self._answers:
            answer = self.answer(asked, self._load_picture(names, request.longest))
            if len(self._answers) >= REMEMBERED_ANSWERS:
                self._answers.clear()
            self._answers[key] = answer
            return answer
        return self._answers[key]

    def _load_picture(self, names: Sequence[str], longest: int) -> Pixels:
        """Loads and scales a request's picture. Raises Incapable unless there is exactly one."""
        if self._read is None or len(names) != 1:
            raise Incapable(
                f"{self.name} labels one picture at a time, but {len(names)} are shown. Name a "
                "vision model, for instance --judge openai:gpt-4.1-mini"
            )
        try:
            return pixels(images.encode_for_judge(self._read(names[0]), longest)[1])
        except images.Unusable as problem:
            raise ModelError(
                f"The picture {names[0]} {problem}. Replace it, and run the same command again."
            ) from None


def pixels(content: bytes) -> Pixels:
    """Decodes a picture's bytes as RGB of shape (height, width, 3)."""
    import numpy as np
    from PIL import Image

    with Image.open(io.BytesIO(content)) as image:
        return np.asarray(image.convert("RGB"))


def session(name: str) -> InferenceSession:
    """Loads a network by its name in weights.toml; fetches it if it is not cached.

    The network has one thread, so that its sums keep their order.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    content = weights.fetch(weights.KNOWN[name]).read_bytes()
    if name in _MENDED:
        content = content.replace(*_MENDED[name])
    return onnxruntime.InferenceSession(
        content, sess_options=options, providers=["CPUExecutionProvider"]
    )


def check_weights(kind: str, command: str) -> Iterator[DoctorFinding]:
    """Yields a finding for `doctor`: if a judge's weights are cached. command: fetches them."""
    area = "judges on this machine"
    missing = [
        one for one in weights.KNOWN.values() if kind in one.judges and not weights.find_cached(one)
    ]
    if not missing:
        yield DoctorFinding(area, kind, True, f"its weights are in {weights.cache()}")
        return
    size = sum(one.download or one.size for one in missing) / 1e6
    titles = " and ".join(one.title for one in missing)
    yield DoctorFinding(
        area, kind, None, f"not fetched yet: {titles} (about {size:.0f} MB)", command
    )


def refuse_name(kind: str, name: str) -> None:
    """Raises UsageError if a name follows the colon of a judge that has no variants."""
    if name:
        raise UsageError(f"{kind} has no variants. Type: --judge {kind}")
