"""Dialogues that are written as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..records import Json
from .text.json_replies import json_in

NAME_WORDS = 3  # of a key that names who speaks
_SPEAKER = ("speaker", "character", "role", "name", "who")  # keys of a turn


def from_json(text: str, is_speaker: Callable[[str], bool]) -> str:
    """Returns the dialogue of a JSON text ({"woman": "…", "man": "…"}, or a list of turns) as one
    line per speech; "" if the JSON holds no dialogue; a text that is not JSON unchanged.
    """
    if not text.lstrip().startswith(("{", "[", "```")):
        return text
    data = json_in(text)
    if not isinstance(data, Mapping | list):
        return text
    if isinstance(data, Mapping) and len(data) > 1 and all(map(_is_name, data)):
        texts = [(name, said) for name, said in data.items() if isinstance(said, str)]
        if len(texts) == len(data):  # names of their own, and no keys of a program
            return "\n".join(f"{name}: {said}" for name, said in texts)
    turns = data if isinstance(data, list) else [data]
    return "\n".join(_lines([turn for turn in turns if isinstance(turn, Mapping)], is_speaker))


def _lines(turns: Sequence[Mapping[str, Json]], is_speaker: Callable[[str], bool]) -> list[str]:
    """Returns the lines of some JSON objects. If several have the same two keys, each is a pair of
    speaker and text, whatever the keys are called.
    """
    pairs = (
        len(turns) > 1 and {len(turn) for turn in turns} == {2} and len({*map(tuple, turns)}) < 2
    )
    return [line for turn in turns for line in _turn(turn, is_speaker, pairs)]


def _turn(turn: Mapping[str, Json], is_speaker: Callable[[str], bool], pair: bool) -> list[str]:
    """Returns the lines of a JSON object: one line per key that is a speaker; or a line of its
    speaker and text; or the lines of the objects inside it.
    """
    texts = {name: speech for name, speech in turn.items() if isinstance(speech, str)}
    named = [f"{name}: {speech}" for name, speech in texts.items() if is_speaker(name)]
    if named:
        return named
    inside = [value for value in turn.values() if isinstance(value, list)]
    turns = [part for part in (inside[0] if inside else ()) if isinstance(part, Mapping)]
    turns += [
        part for part in turn.values() if isinstance(part, Mapping) and any(map(is_speaker, part))
    ]
    if turns:
        return _lines(turns, is_speaker)
    speaking = (n for n, speech in texts.items() if n.lower() in _SPEAKER or is_speaker(speech))
    speaker = texts.pop(next(speaking, next(iter(texts), "") if pair else ""), "")
    speech = next(iter(texts.values()), "")
    return [f"{speaker}: {speech}"] if speaker and speech else []


def _is_name(key: str) -> bool:
    """True if a key may be a person's name; keys of programs begin with a small ASCII letter."""
    return 0 < len(key.split()) <= NAME_WORDS and not (key[:1].isascii() and not key[:1].isupper())
