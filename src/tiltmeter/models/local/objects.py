"""`objects`: the colours of a product and of its background, and whether either has writing, by
networks on this machine.

It answers the form of the attributes instrument for the four attributes that SODA always has, and
no others. U²-Net p says which pixels stand out (the product); the rest is background; a band along
the edge belongs to neither. The colour of a part is the palette's colour of most of its pixels
(instruments/colour.py). Writing is what RapidOCR reads; a line belongs to the part that holds most
of its box. A line of at most BRAND words is `brand_text`, a longer one the list's other kind of
text, both together are `mixed`: length is all that it goes by, since it does not know what a brand
is, and it never says `logo_symbol`, since it sees no pictures in what is not letters.

How many products and whether people are in the picture it cannot tell: it leaves these out, so that
`constraint` is `invalid`. How often it errs on rendered pictures is printed by
benchmarks/objects.py.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import Incapable
from ...instruments.images import colour
from ...records import Request
from .offline import Offline, plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .offline import Pixels

    Mask = NDArray[np.bool_]

COLOURS = {"product_color": "product", "background_color": "background"}
WRITING = {"text_presence": "product", "background_text_presence": "background"}
UNSEEN = ("products", "people")  # asked of every picture, and left out
NO_TEXT, BRAND_TEXT, MIXED, NOT_APPLICABLE = "no_text", "brand_text", "mixed", "not_applicable"
OTHERS = ("descriptive_text", "promotional_text")
BRAND = 3  # words of a line that may be a brand's name
READ = 0.5  # least confidence of a line that is read: RapidOCR's own
SIGNS = 2  # letters or digits that make a line: one alone is as often a handle that looks like a D
SIDE = 320  # pixels of U²-Net p's input, which is square
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, which it is scaled to
LEAST = 0.005  # share of the picture from which on a part is one
MOST = 10_000  # pixels of a part that are looked at: every so-manyth
EDGE = (
    1 / 100
)  # of the longer side on either side of the product's edge: shadow, blur, both colours at once


class Line(NamedTuple):
    """A line of writing. box: left, top, right, bottom in pixels."""

    text: str
    box: tuple[int, int, int, int]


class Objects(Offline):
    """`objects`."""

    extra = "objects"
    needs = ("onnxruntime", "rapidocr")
    uses = ("u2netp",)
    method = "objects-1"

    def asked(self, request: Request) -> Mapping[str, tuple[str, ...]]:
        """Attribute → its values, () for a colour."""
        form = json.loads(request.schema).get("properties", {}) if request.schema else {}
        wanted = {
            name: tuple(field.get("enum", ())) for name, field in form.items() if name not in UNSEEN
        }
        foreign = [name for name in wanted if name not in COLOURS and name not in WRITING]
        if foreign or not wanted:
            raise Incapable(
                f"{self.name} tells {', '.join((*COLOURS, *WRITING))}, and is asked for "
                f"{', '.join(foreign) or 'text'}. Type: --taxonomy FILE with the line "
                "'attributes = []' for these "
                "four alone, or name a vision model, for instance --judge openai:gpt-4.1-mini"
            )
        return wanted

    def _load(self) -> None:
        super()._load()
        self._ocr, self._one_at_a_time = _reader(), threading.Lock()

    def answer(self, asked: Any, image: Pixels) -> tuple[str, str]:
        salient = self.salient(image)
        parts = {"product": inside(salient), "background": inside(~salient)}
        lines = self.lines(image) if any(name in WRITING for name in asked) else []
        found = {}
        for name, values in asked.items():
            if name in COLOURS:
                found[name] = seen_colour(image, parts[COLOURS[name]])
            else:
                mine = [line for line in lines if on(line, salient) == WRITING[name]]
                found[name] = (
                    writing(mine, values)
                    if parts[WRITING[name]].mean() >= LEAST
                    else NOT_APPLICABLE
                )
        evidence = {
            "product": round(float(salient.mean()), 3),
            "lines": [line.text for line in lines],
        }
        return json.dumps(found), json.dumps(evidence, ensure_ascii=False)

    def salient(self, image: Pixels) -> Mask:
        """Which pixels stand out, shape (height, width)."""
        import numpy as np
        from PIL import Image

        height, width = image.shape[:2]
        small = np.asarray(
            Image.fromarray(image).resize((SIDE, SIDE), Image.Resampling.BILINEAR), dtype=np.float32
        )
        light = small / np.float32(max(float(small.max()), 1.0))  # as rembg has it
        light = ((light - np.array(MEAN)) / np.array(DEVIATION)).astype(np.float32)
        found = self.run("u2netp", np.ascontiguousarray(light.transpose(2, 0, 1)[None]))[0][0, 0]
        back = Image.fromarray(found).resize((width, height), Image.Resampling.BILINEAR)
        return np.asarray(back) > 0.5

    def lines(self, image: Pixels) -> list[Line]:
        """The writing in a picture."""
        with self._one_at_a_time:  # it keeps the state of a call in itself
            found = self._ocr(image[:, :, ::-1])
        if found.boxes is None:
            return []
        return [
            Line(
                text,
                (
                    int(box[:, 0].min()),
                    int(box[:, 1].min()),
                    int(box[:, 0].max()) + 1,
                    int(box[:, 1].max()) + 1,
                ),
            )
            for box, text in zip(found.boxes, found.txts, strict=True)
            if sum(sign.isalnum() for sign in text) >= SIGNS
        ]


def inside(part: Mask) -> Mask:
    """A part without a band along its edge, but not along the picture's."""
    from scipy.ndimage import binary_erosion

    smaller: Mask = binary_erosion(
        part, iterations=max(1, round(EDGE * max(part.shape))), border_value=1
    )
    return smaller if smaller.mean() >= LEAST else part


def seen_colour(image: Pixels, part: Mask) -> str:
    """The palette's colour of most of a part; not_applicable where there is hardly any."""
    if part.mean() < LEAST:
        return NOT_APPLICABLE
    mine = image[part]
    return colour.dominant(mine[:: -(-len(mine) // MOST)]) or NOT_APPLICABLE


def on(line: Line, salient: Mask) -> str:
    """Whether most of a line's box stands out with the product."""
    left, top, right, bottom = line.box
    box = salient[max(top, 0) : bottom, max(left, 0) : right]
    return "product" if box.size and box.mean() >= 0.5 else "background"


def writing(lines: Sequence[Line], values: Sequence[str]) -> str:
    """The value for the lines of a part.

    Worked: none → no_text; "ACME" → brand_text; "ACME" and "made for long days out" → mixed.
    """
    other = next((value for value in values if value in OTHERS), MIXED)
    kinds = {BRAND_TEXT if len(line.text.split()) <= BRAND else other for line in lines}
    return MIXED if len(kinds) > 1 else kinds.pop() if kinds else NO_TEXT


def _reader() -> Any:
    """RapidOCR with the models that come in it; one thread, so that sums keep their order."""
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.text_score": READ,
            "Global.use_cls": False,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def objects(name: str, **options: Any) -> Objects:
    """`objects`."""
    return Objects("objects", **plain(name, "objects", options))
