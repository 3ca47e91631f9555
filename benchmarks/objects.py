"""The offline judge of products against rendered pictures of which everything is known: colours and
writing.

    python benchmarks/objects.py            # 70 pictures of known colour, 40 with and without
                                            writing: about three minutes
    python benchmarks/objects.py --small    # 14 and 8
    python benchmarks/objects.py --write    # and writes src/tiltmeter/models/objects.toml, which
                                            stands beside every result

A product is one of five simple shapes with shade, light and a shadow, in a colour with a name (CSS
Color Module Level 4, whose
names say what they are: a `forestgreen` is a green), before a background of another. Lines of
writing are short names or longer sentences, on the product, on the background, on both or on none.
Every picture is asked about as the attributes instrument asks. What is printed are confusion
matrices, the drawn value by row, with Wilson's intervals: the pictures are
independent, but they are drawings, and a photograph is harder. One rule came from these pictures: a
line of a single sign is not counted as writing, since a cup's handle was read as a D.

Exit status 1 where a share of right answers is under LEAST, or where objects.toml holds other
numbers than these.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import io
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, ImageColor, ImageDraw, ImageFilter, ImageFont

from tiltmeter.instruments import measured
from tiltmeter.models.local.objects import BRAND_TEXT, MIXED, NO_TEXT, Objects, objects
from tiltmeter.records import Message, Request
from tiltmeter.stats.rates import wilson

SIZE = 512  # pixels
LEAST = 0.85  # of the answers about one attribute
COLOURS = {
    "black": "black #111111 #1c1c1c",
    "gray": "gray dimgray darkgray slategray lightslategray",
    "white": "white snow ghostwhite",
    "beige": "beige antiquewhite wheat tan",
    "brown": "saddlebrown sienna #6b4423",
    "red": "red crimson firebrick darkred",
    "orange": "orange darkorange #ee7f1a",
    "yellow": "gold yellow #f2d230",
    "green": "green forestgreen limegreen seagreen darkgreen",
    "turquoise": "turquoise darkturquoise lightseagreen teal",
    "blue": "blue royalblue dodgerblue mediumblue steelblue",
    "navy": "navy midnightblue #0a1f44",
    "purple": "purple rebeccapurple darkviolet darkorchid",
    "pink": "pink hotpink deeppink lightpink",
}
SHAPES = ("cup", "backpack", "laptop", "bear", "car")
BRANDS = (
    "ACME",
    "Kinto",
    "NOVA",
    "Rivera & Co",
    "Lumen",
    "ORBIT 7",
    "Bellwood",
    "TASKA",
    "Maple House",
    "VENTO",
)
SENTENCES = (
    "made for long days out",
    "keeps your coffee warm all day",
    "thirty litres and two pockets",
    "wash with cold water only",
    "buy one and get the second free",
    "new and now even lighter",
    "our best offer of the summer",
    "order now and pay in May",
    "a gift that will last for years",
    "designed to be mended at home",
)


class Drawn(NamedTuple):
    """One picture and what is true of it."""

    content: bytes
    truth: Mapping[str, str]


def coloured(every: int = 1) -> Iterator[Drawn]:
    """Each colour of the palette as a product in five shapes, before five other colours."""
    names = list(COLOURS)
    for place, name in enumerate(names):
        for number, shape in enumerate(SHAPES[::every] if every > 1 else SHAPES):
            behind = next(
                other
                for step in range(len(names))
                if contrast(name, other := names[(place + 5 + 3 * number + step) % len(names)])
            )
            truth = {"product_color": name, "background_color": behind}
            yield drawn(shape, shade(name, number), shade(behind, number), truth)


def written(every: int = 1) -> Iterator[Drawn]:
    """40 pictures: ten without writing, ten each with it on the product, on the background and on
    both.
    """
    kinds = (
        [NO_TEXT] * 10
        + [BRAND_TEXT] * 6
        + ["sentence"] * 4
        + [NO_TEXT] * 10
        + [BRAND_TEXT, "sentence"] * 5
    )
    behind = [NO_TEXT] * 20 + [BRAND_TEXT] * 6 + ["sentence"] * 4
    behind += [BRAND_TEXT, BRAND_TEXT, "sentence", "sentence", MIXED] * 2
    names = list(COLOURS)
    for number, (mine, back) in enumerate(zip(kinds, behind, strict=True)):
        if number % every:
            continue
        product, background = (
            names[number % len(names)],
            "white" if number % len(names) != 2 else "gray",
        )
        truth = {
            "text_presence": mine.replace("sentence", "descriptive_text"),
            "background_text_presence": back.replace("sentence", "promotional_text"),
        }
        yield drawn(
            ("cup", "backpack", "laptop")[number % 3],
            shade(product, number),
            shade(background, 0),
            truth,
            lines(mine, number),
            lines(back, number + 3),
        )


def lines(kind: str, number: int) -> list[str]:
    brand, sentence = BRANDS[number % len(BRANDS)], SENTENCES[number % len(SENTENCES)]
    return {NO_TEXT: [], BRAND_TEXT: [brand], "sentence": [sentence], MIXED: [brand, sentence]}[
        kind
    ]


def shade(name: str, number: int) -> tuple[int, int, int]:
    shades = COLOURS[name].split()
    red, green, blue = ImageColor.getrgb(shades[number % len(shades)])[:3]
    return red, green, blue


def contrast(first: str, second: str) -> bool:
    """Whether a product of one colour can be told before the other at all: in lightness or in
    hue.
    """
    near = ("black navy", "white beige", "gray white", "blue navy", "blue turquoise", "red brown")
    return first != second and {first, second} not in [set(pair.split()) for pair in near]


def drawn(
    shape: str,
    product: tuple[int, int, int],
    background: tuple[int, int, int],
    truth: Mapping[str, str],
    on_product: Iterable[str] = (),
    behind: Iterable[str] = (),
) -> Drawn:
    """A picture of a shape with light from the left, a shadow below and a background that darkens
    downwards.
    """
    mask = Image.new("L", (SIZE, SIZE), 0)
    figure(ImageDraw.Draw(mask), shape)
    image = ramped(background, 1.0, 0.9, across=False)
    shadow = Image.new("L", (SIZE, SIZE), 0)
    ImageDraw.Draw(shadow).ellipse((110, 405, 410, 445), fill=110)
    image.paste((0, 0, 0), (0, 0), shadow.filter(ImageFilter.GaussianBlur(10)))
    image.paste(ramped(product, 1.08, 0.86, across=True), (0, 0), mask)
    pen = ImageDraw.Draw(image)
    for place, text in enumerate(behind):
        pen.text(
            (SIZE / 2, 36 + 40 * place),
            text,
            fill=ink(background),
            font=font(text, 30, 470),
            anchor="mm",
        )
    for text in on_product:
        pen.text(
            (SIZE / 2 - 6, 300), text, fill=ink(product), font=font(text, 34, 210), anchor="mm"
        )
    target = io.BytesIO()
    image.save(target, "PNG")
    return Drawn(target.getvalue(), truth)


def ramped(colour: tuple[int, int, int], first: float, last: float, across: bool) -> Image.Image:
    """A surface whose light goes from one share to another."""
    ramp = Image.linear_gradient("L").resize((SIZE, SIZE))
    ramp = ramp.rotate(90) if across else ramp
    bands = [
        ramp.point(
            [min(255, round(part * (first + (last - first) * level / 255))) for level in range(256)]
        )
        for part in colour
    ]
    return Image.merge("RGB", bands)


def figure(pen: ImageDraw.ImageDraw, shape: str) -> None:
    if shape == "cup":
        pen.rounded_rectangle((140, 170, 360, 420), 30, fill=255)
        pen.ellipse((320, 220, 430, 350), outline=255, width=24)
    elif shape == "backpack":
        pen.rounded_rectangle((140, 140, 370, 425), 60, fill=255)
        pen.arc((205, 95, 305, 190), 180, 360, fill=255, width=18)
        pen.rounded_rectangle((115, 270, 395, 425), 24, fill=255)
    elif shape == "laptop":
        pen.rounded_rectangle((125, 200, 387, 385), 12, fill=255)
        pen.polygon([(110, 385), (402, 385), (430, 425), (82, 425)], fill=255)
    elif shape == "bear":
        for box in (
            (170, 90, 230, 150),
            (280, 90, 340, 150),
            (175, 105, 335, 255),
            (160, 235, 350, 425),
            (110, 260, 190, 350),
            (320, 260, 400, 350),
        ):
            pen.ellipse(box, fill=255)
    else:
        pen.rounded_rectangle((60, 290, 452, 390), 40, fill=255)
        pen.polygon([(140, 300), (190, 215), (330, 215), (385, 300)], fill=255)
        pen.ellipse((110, 350, 190, 430), fill=255)
        pen.ellipse((325, 350, 405, 430), fill=255)


def ink(surface: tuple[int, int, int]) -> str:
    return "white" if sum(surface) < 380 else "black"


def font(text: str, size: int, room: int) -> Any:
    """As large as asked for, or as fits."""
    face = ImageFont.load_default(size)
    return (
        ImageFont.load_default(size * room / face.getlength(text))
        if face.getlength(text) > room
        else face
    )


def request(attributes: Iterable[str], picture: str) -> Request:
    """What the attributes instrument asks, in its schema."""
    fields: dict[str, Any] = {"products": {"type": "string"}, "people": {"type": "string"}}
    for name in attributes:
        other = "descriptive_text" if name == "text_presence" else "promotional_text"
        values = [NO_TEXT, "logo_symbol", BRAND_TEXT, other, MIXED, "not_applicable"]
        fields[name] = {"type": "string", **({} if "color" in name else {"enum": values})}
    schema = json.dumps({"type": "object", "properties": fields})
    return Request("objects", (Message("user", "?", (picture,)),), schema=schema)


async def looked(pictures: Iterable[Drawn]) -> dict[str, Counter[tuple[str, str]]]:
    """Attribute → how often what was drawn was called what."""
    shown: dict[str, bytes] = {}
    judge = objects("", read=shown.__getitem__)
    await judge.open()
    found: dict[str, Counter[tuple[str, str]]] = {}
    for number, picture in enumerate(pictures):
        shown[str(number)] = picture.content
        said = json.loads((await judge.ask(request(picture.truth, str(number)))).text)
        for name, value in picture.truth.items():
            found.setdefault(name, Counter())[value, said[name]] += 1
    return found


def right(matrix: Counter[tuple[str, str]]) -> float:
    return sum(number for (true, said), number in matrix.items() if true == said) / matrix.total()


def printed(
    name: str, matrix: Counter[tuple[str, str]], say: Callable[[str], None] = print
) -> None:
    """The matrix, then the share of right answers with its interval."""
    columns = list(dict.fromkeys([true for true, _ in matrix] + [said for _, said in matrix]))
    say(
        f"\n{name}: drawn by row, said by column\n| | {' | '.join(columns)} "
        f"|\n|---{'|---:' * len(columns)}|"
    )
    for true in dict.fromkeys(true for true, _ in matrix):
        say(f"| {true} | {' | '.join(str(matrix[true, said] or '·') for said in columns)} |")
    share = wilson(round(right(matrix) * matrix.total()), matrix.total())
    say(f"right: {share.value:.3f} [{share.low:.3f}, {share.high:.3f}], n = {matrix.total()}")


def as_toml(found: Mapping[str, Counter[tuple[str, str]]], date: str) -> str:
    """The file that stands beside results."""
    lines = [
        "# Made by: python benchmarks/objects.py --write",
        f'method = "{Objects.method}"',
        f'date = "{date}"',
        'on = "rendered products of known colour and writing"',
        'with = "benchmarks/objects.py"',
    ]
    for name, matrix in found.items():
        share = wilson(round(right(matrix) * matrix.total()), matrix.total())
        lines += [
            "",
            "[[rates]]",
            f'name = "{name}"',
            f"pictures = {matrix.total()}",
            "brief = true",
        ]
        ends = {"share": share.value, "low": share.low, "high": share.high}
        lines += [f"{key} = {value:.4f}" for key, value in ends.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="a fifth of the pictures")
    parser.add_argument("--write", action="store_true", help="write objects.toml")
    options = parser.parse_args()
    every = 5 if options.small else 1
    found = asyncio.run(looked(coloured(every))) | asyncio.run(looked(written(every)))
    for name, matrix in found.items():
        printed(name, matrix)
    good = all(right(matrix) >= LEAST for matrix in found.values())
    if options.small:
        return 0 if good else 1
    file = Path(measured.__file__).with_name("objects.toml")
    if options.write:
        file.write_text(as_toml(found, datetime.date.today().isoformat()), encoding="utf-8")
    same = file.read_text(encoding="utf-8") == as_toml(
        found, str(measured.rates("objects")["date"])
    )
    print(f"\nobjects.toml holds these numbers: {same}")
    return 0 if good and same else 1


if __name__ == "__main__":
    sys.exit(main())
