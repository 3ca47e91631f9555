"""Which of two named people a pronoun means, as in GAP (Webster et al. 2018, "Mind the GAP"): by
the scores of instruments/pronouns/attribution.py, which are fitted to such pairs. Rules only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from tiltmeter.instruments.pronouns import attribution
from tiltmeter.instruments.pronouns.attribution import Entity, Mention, pronoun_role, score
from tiltmeter.instruments.pronouns.passage import WordToken, people, plain, role, tokens, words

PRONOUNS = {
    "he": "m",
    "him": "m",
    "his": "m",
    "himself": "m",
    "she": "f",
    "her": "f",
    "hers": "f",
    "herself": "f",
}


def resolve(
    found: Sequence[WordToken], people: Sequence[Entity], pronouns: Mapping[int, str]
) -> dict[int, list[tuple[float, Entity]]]:
    """For each pronoun (token → gender) the entities that agree with it, best first; chains them as
    it goes.
    """
    answers: dict[int, list[tuple[float, Entity]]] = {}
    for at, gender in pronouns.items():
        mine = pronoun_role(found, at)
        ranked = sorted(
            (
                (score(found, at, mine, entity, people)[0], entity)
                for entity in people
                if gender in ("", entity.gender) or not entity.gender
            ),
            key=lambda pair: -pair[0],
        )
        answers[at] = ranked
        if ranked:
            token = found[at]
            ranked[0][1].mentions.append(Mention(at, at, mine, token.sentence, token.clause, True))
            ranked[0][1].gender = gender
    return answers


_NAME = re.compile(r"[^\W\d_a-z][^\W\d_]*(?:[-'][^\W\d_]+)*")


def names(found: Sequence[WordToken], text: str) -> list[tuple[int, int]]:
    """Runs of capitalised words that may be a person's name: (first, last) tokens."""
    runs: list[tuple[int, int]] = []
    at = 0
    kinds = (
        "determiners",
        "prepositions",
        "pronouns",
        "conjunctions",
        "adverbs",
        "boundary",
        "auxiliaries",
    )
    closed = words(*kinds)
    while at < len(found):
        if found[at].raw[0].isupper() and found[at].word not in closed:
            last = at
            while (
                last + 1 < len(found)
                and not found[last].own
                and found[last + 1].raw[0].isupper()
                and found[last + 1].word not in closed
            ):
                last += 1
            runs.append((at, last))
            at = last + 1
        else:
            at += 1
    return runs


def people_in(found: Sequence[WordToken], runs: Sequence[tuple[int, int]]) -> list[Entity]:
    """Runs of names as entities: a run whose words are all in a longer one (a surname, a first
    name) is the same person."""
    entities: list[Entity] = []
    for first, last in runs:
        name = frozenset(found[i].word for i in range(first, last + 1)) - _TITLES
        if not name:
            continue
        mention = Mention(
            first, last, role(found, first, last), found[first].sentence, found[first].clause
        )
        for entity in entities:
            if name <= entity.name or entity.name <= name:
                entity.name |= name
                entity.mentions.append(mention)
                break
        else:
            entities.append(Entity(name, _gender(found, first, last), [mention], len(entities)))
    return entities


def _gender(found: Sequence[WordToken], first: int, last: int) -> str:
    """What a title or a first name says: "m", "f", or "" where neither is known or a name is borne
    by both.
    """
    said = people()["title"].get(found[first].word) or people()["name"].get(found[first].word)
    return said if said in ("m", "f") else ""


_TITLES = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "miss",
        "mx",
        "dr",
        "prof",
        "professor",
        "rev",
        "reverend",
        "sir",
        "lady",
        "lord",
    ]
)


def referent(text: str, offset: int, a: tuple[str, int], b: tuple[str, int]) -> str:
    """Which of two named people the pronoun at an offset means: "A", "B" or "neither". Offsets
    count characters.

    >>> referent("Ann thanked Cara. She left.", 18, ("Ann", 0), ("Cara", 12))
    'A'
    """
    scored = compare(text, offset, a, b)
    table = attribution.weights()
    best = max(("A", "B"), key=lambda side: scored[side])
    return best if scored[best] > scored["other"] - table["neither"] else "neither"


def compare(text: str, offset: int, a: tuple[str, int], b: tuple[str, int]) -> dict[str, float]:
    """The scores of both candidates and of the best other person."""
    found = tokens(plain(text))
    begins = {token.begin: i for i, token in enumerate(found)}
    runs = _with_candidates(found, begins, names(found, text), (a, b))
    people = people_in(found, runs)
    at = _token_at(found, offset)
    pronouns = {
        i: PRONOUNS[token.word]
        for i, token in enumerate(found)
        if token.word in PRONOUNS and i < at
    }
    pronouns[at] = PRONOUNS.get(found[at].word, "")
    ranked = resolve(found, people, pronouns)[at]
    sides = {"A": -math.inf, "B": -math.inf, "other": -math.inf}
    place = {side: _token_at(found, start) for side, (_, start) in (("A", a), ("B", b))}
    for total, entity in ranked:
        covers = [
            side
            for side, i in place.items()
            if any(m.first <= i <= m.last and not m.chained for m in entity.mentions)
        ]
        for side in covers or ["other"]:
            sides[side] = max(sides[side], total)
    return sides


def _token_at(found: Sequence[WordToken], offset: int) -> int:
    for i, token in enumerate(found):
        if token.begin <= offset < token.begin + len(token.raw):
            return i
    raise ValueError(f"no word at offset {offset}")


def _with_candidates(
    found: Sequence[WordToken],
    begins: Mapping[int, int],
    runs: list[tuple[int, int]],
    candidates: Sequence[tuple[str, int]],
) -> list[tuple[int, int]]:
    """The runs of names, with the two candidates cut out exactly as they are given."""
    kept = list(runs)
    for name, start in candidates:
        first = _token_at(found, start)
        last = _token_at(found, start + len(name) - 1)
        kept = [run for run in kept if run[1] < first or run[0] > last]
        kept.append((first, last))
    return sorted(kept)


def features(
    found: Sequence[WordToken], at: int, mine: int, mention: Mention, between: int
) -> Iterator[tuple[str, float]]:
    """What is seen of a pronoun (token `at`, role `mine`) and one mention, as names of weights with
    their amounts.
    """
    for name in attribution._place_weights(*attribution._place(found[at], at, mine, mention)):
        yield name, 1.0
    if not mention.chained:
        for name in attribution._setting(found, mention, at, mine):
            yield name, 1.0
    yield "between", float(min(between, 4))
    yield "distance", math.log1p(abs(at - mention.first))


def of_entity(entity: Entity, at: int) -> Iterator[tuple[str, float]]:
    """What is seen of the entity whatever the mention."""
    before = 0
    for mention in entity.mentions:
        before += mention.first < at and not mention.chained
    yield "named", math.log1p(before)
    if entity.order == 0:
        yield "first", 1.0
