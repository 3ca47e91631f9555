"""`faces`: a judge of the gender presentation that faces in a picture are perceived to have, by two
small networks on this machine.

It answers a panel's question if the words are male, female and neither, and no other question.
YuNet finds faces with five landmarks each; each face is turned and scaled to the mean face of dlib
and given to a classifier with two classes. The word is that of all faces that count: those at least
a third as tall as the largest. It is `neither` if no face is found, if the faces that count do not
all present alike, or if the classifier has less than SURE_PROBABILITY for the class it names.

It uses faces alone: a person from behind, a body without a face, a hat or a dress do not matter, so
it says `neither` of pictures in which a person perceives more. The classifier is confident even
when it is wrong. Its measured error rates are in faces.toml, and are printed beside every result
that rests on it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...errors import Incapable
from ...records import Request
from .. import FREE
from ..kinds import ModelKind
from ..options import DEFAULTS, TEXT, ModelOptions
from .offline import Offline, check_weights, refuse_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .offline import Array, Pixels

    Points = NDArray[np.float64]

MALE, FEMALE, NEITHER = "male", "female", "neither"
SIDE_PIXELS = 640  # pixels of YuNet's input, which is square
# least score of a face, most overlap of two: the defaults of OpenCV's FaceDetectorYN
LEAST_SCORE, MOST_OVERLAP = (0.9, 0.3)
COUNTS_HEIGHT_SHARE = (
    1 / 3
    # of the height of the largest face, from which on a face counts: smaller ones stand in the
    # background
)
SURE_PROBABILITY = 0.75  # least probability of the class named; under it nothing is told
# Where dlib's mean face has the landmarks of YuNet, in shares of the box of its 51 points (dlib,
# image_transforms/interpolation.h; the eyes are the means of their two corners): the two eyes, the
# tip of the nose, the corners of the mouth, each pair from left to right in the picture.
MEAN_FACE = (
    (0.2273, 0.2214),
    (0.7528, 0.2212),
    (0.4901, 0.5156),
    (0.2541, 0.7802),
    (0.7261, 0.7802),
)
PADDING_SHARE = 0.2  # of that box, on each side (the classifier's manifest)
CHIP_PIXELS = 32  # pixels of the classifier's input
MEANS = (122.781998, 117.000999, 104.297997)  # of its training pictures (manifest)


class Face(NamedTuple):
    """A face in pixels. box: left, top, width, height; landmarks: (5, 2) as MEAN_FACE."""

    score: float
    box: tuple[float, float, float, float]
    landmarks: Points


class Faces(Offline):
    """The judge `faces`, for the perceived gender presentation of faces in a picture."""

    extra = "faces"
    uses = ("yunet", "presentation")
    method = "faces-1"

    def question(self, request: Request) -> tuple[str, ...]:
        """Returns the allowed words. Raises Incapable unless they are male, female, neither."""
        words = (
            tuple(request.messages[-1].content.rstrip().rpartition(": ")[2].split(", "))
            if request.messages
            else ()
        )
        if request.schema or set(words) != {MALE, FEMALE, NEITHER}:
            raise Incapable(
                f"{self.name} can only answer male, female or neither, but is asked something "
                "else. Name a vision model for this, for instance --judge openai:gpt-4.1-mini"
            )
        return words

    def answer(self, asked: tuple[str, ...], image: Pixels) -> tuple[str, str]:
        """Returns the word, and JSON with each face's box (pixels), score, probability of male."""
        seen = faces_that_count(self.faces(image))
        shares = [self.male(image, face) for face in seen]
        evidence = [
            {
                "box": [round(edge) for edge in face.box],
                "score": round(face.score, 3),
                "male": round(share, 3),
            }
            for face, share in zip(seen, shares, strict=True)
        ]
        return presentation_of(shares), json.dumps({"faces": evidence})

    def faces(self, image: Pixels) -> list[Face]:
        """Finds the faces of a picture, most certain first."""
        canvas, scale = _letterbox(image)
        outputs = self.run("yunet", canvas)
        return [_scale_back(face, scale) for face in suppress_overlaps(candidates(outputs))]

    def male(self, image: Pixels, face: Face) -> float:
        """Returns the classifier's probability of `male`."""
        import numpy as np

        normal = (
            chip(image, face.landmarks).astype(np.float32) - np.array(MEANS, np.float32)
        ) / np.float32(256)
        (probabilities,) = self.run(
            "presentation", np.ascontiguousarray(normal.transpose(2, 0, 1)[None])
        )
        return float(probabilities[0, 1])


def faces_that_count(faces: Sequence[Face]) -> list[Face]:
    """Returns the faces at least COUNTS_HEIGHT_SHARE as tall as the tallest."""
    tallest = max((face.box[3] for face in faces), default=0.0)
    return [face for face in faces if face.box[3] >= COUNTS_HEIGHT_SHARE * tallest]


def presentation_of(male: Sequence[float]) -> str:
    """Returns male, female or neither for the faces' probabilities of `male`.

    By hand: .99, .98 → male; .99, .01 → neither; .6 → neither; no face → neither.
    """
    words = {
        MALE if share >= SURE_PROBABILITY else FEMALE if share <= 1 - SURE_PROBABILITY else NEITHER
        for share in male
    }
    return words.pop() if len(words) == 1 else NEITHER


def candidates(outputs: Sequence[Array]) -> list[Face]:
    """Converts YuNet's outputs (classes, objects, boxes, landmarks, each for strides 8, 16 and 32)
    into faces on its canvas.

    As in OpenCV (modules/objdetect/src/face_detect.cpp): the score is the geometric mean of class
    and object; boxes and landmarks are offsets from their cell, in units of cells.
    """
    import numpy as np

    faces: list[Face] = []
    for level, stride in enumerate((8, 16, 32)):
        classes, objects, boxes, points = (outputs[3 * kind + level][0] for kind in range(4))
        scores = np.sqrt(np.clip(classes[:, 0], 0, 1) * np.clip(objects[:, 0], 0, 1))
        for index in np.flatnonzero(scores >= LEAST_SCORE):
            cell = np.array(
                (index % (SIDE_PIXELS // stride), index // (SIDE_PIXELS // stride)),
                dtype=np.float64,
            )
            middle, size = (cell + boxes[index, :2]) * stride, np.exp(boxes[index, 2:]) * stride
            left, top = middle - size / 2
            landmarks = (points[index].reshape(5, 2) + cell) * stride
            box = (float(left), float(top), float(size[0]), float(size[1]))
            faces.append(Face(float(scores[index]), box, landmarks))
    return faces


def suppress_overlaps(faces: Sequence[Face]) -> list[Face]:
    """Drops each face that overlaps a surer face by more than MOST_OVERLAP of their union."""
    apart: list[Face] = []
    for face in sorted(faces, key=lambda one: -one.score):
        if all(_overlap(face.box, other.box) <= MOST_OVERLAP for other in apart):
            apart.append(face)
    return apart


def chip(image: Pixels, landmarks: Points) -> Pixels:
    """Cuts out a face; turns, scales and moves it so that its landmarks fit the mean face."""
    import numpy as np
    from PIL import Image

    target = (np.array(MEAN_FACE) + PADDING_SHARE) / (1 + 2 * PADDING_SHARE) * CHIP_PIXELS
    turn, move = _similarity(target, landmarks)
    # drawn finer and then averaged, where the face is large
    finer = max(1, round(float(np.hypot(turn[0, 0], turn[1, 0]))))
    data = (
        turn[0, 0] / finer,
        turn[0, 1] / finer,
        move[0],
        turn[1, 0] / finer,
        turn[1, 1] / finer,
        move[1],
    )
    turned = Image.fromarray(image).transform(
        (CHIP_PIXELS * finer, CHIP_PIXELS * finer),
        Image.Transform.AFFINE,
        tuple(map(float, data)),
        Image.Resampling.BILINEAR,
    )
    return np.asarray(turned.reduce(finer) if finer > 1 else turned)


def _similarity(first: Points, second: Points) -> tuple[Points, Points]:
    """Fits second ≈ turn · first + move by least squares. turn: a rotation times a scale."""
    import numpy as np

    a, b = first - first.mean(axis=0), second - second.mean(axis=0)
    # with z = x + iy: the complex factor w that makes |b - w a|² least
    w = np.vdot(a[:, 0] + 1j * a[:, 1], b[:, 0] + 1j * b[:, 1]) / (a**2).sum()
    turn = np.array([[w.real, -w.imag], [w.imag, w.real]])
    return turn, second.mean(axis=0) - turn @ first.mean(axis=0)


def _letterbox(image: Pixels) -> tuple[Array, float]:
    """Scales a picture into YuNet's input (blue, green, red); returns (input, scale factor)."""
    import numpy as np
    from PIL import Image

    height, width = image.shape[:2]
    scale = SIDE_PIXELS / max(height, width)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    canvas = np.zeros((SIDE_PIXELS, SIDE_PIXELS, 3), dtype=np.float32)
    canvas[: size[1], : size[0]] = np.asarray(
        Image.fromarray(image).resize(size, Image.Resampling.BILINEAR)
    )
    return np.ascontiguousarray(canvas[:, :, ::-1].transpose(2, 0, 1)[None]), scale


def _scale_back(face: Face, scale: float) -> Face:
    left, top, width, height = (edge / scale for edge in face.box)
    return Face(face.score, (left, top, width, height), face.landmarks / scale)


def _overlap(one: Sequence[float], other: Sequence[float]) -> float:
    """Computes the intersection over union of two boxes."""
    across = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    down = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    shared = max(across, 0.0) * max(down, 0.0)
    return shared / (one[2] * one[3] + other[2] * other[3] - shared)


def faces(name: str, options: ModelOptions = DEFAULTS) -> Faces:
    """Makes the judge `faces`. Raises UsageError if a name follows the colon."""
    refuse_name("faces", name)
    return Faces("faces", options.read, options.price)


KIND = ModelKind(
    "faces",
    "a judge on this machine: perceived gender presentation of faces (extra faces)",
    faces,
    makes=(TEXT,),
    price=FREE,
    modules=Faces.needs,
    extra="faces",
    judge_only=True,
    error_rates=Path(__file__).with_name("faces.toml"),
    check=partial(
        check_weights,
        "faces",
        "tiltmeter run gramvis --model planted:protocol=gramvis --judge faces --limit 1 --out try",
    ),
)
