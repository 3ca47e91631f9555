"""A panel: any number of vision models each answer with one word about a picture, and enough of
them must agree.

Each judge is shown only the picture and must reply with one word of a closed list. If its reply is
anything but that word, perhaps with quotes and a full stop, it is asked once more; then its vote is
`invalid`. A longer reply is not searched for words: "female" contains "male", and "neither male nor
female" both. Refusals and errors are recorded as such and are votes for no word.

The label is the word with at least `threshold` votes, if only one has that many. If fewer than
`threshold` votes are words it is `no_decision`. If enough votes are words but no single word
reaches the threshold, it is the word named by `split` (GRAMVIS: neither).

Labels: the attribute of the spec; `ATTRIBUTE_vote` for each judge, with its position in the order
of --judge. With `published` = words in order of precedence, also `ATTRIBUTE_published`: the rule of
papers that take the first of these words that a judge's first reply contains as its vote, and
`split` if too few votes agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar

from ...errors import ProtocolError, UsageError
from ...languages.letters import fold
from ...protocol import InstrumentSpec
from ...records import (
    ANSWER,
    INVALID,
    NO_DECISION,
    UNRESOLVED,
    Answered,
    Message,
    Reply,
    Request,
    Steps,
    Trial,
)
from .. import Panel, Settings
from ..wording import Json, Texts, texts
from .prompt import NOTHING, SAMPLING, nonce, one_of, reply_text

ROUNDS = 2  # replies of one judge that are read
# pixels of a shown picture's longer side: what vision models look at without cutting into tiles
LONGEST_PIXELS = 768


class PicturePanel(Panel):
    """settings: ask (what to say about the picture), words = {word: meaning}, split = a word; and,
    with their defaults, threshold = more than half of the judges, longest = 768 pixels, published =
    no words, question = our question (set it to replace the whole question).
    """

    kind = "panel"
    version = "3"
    modality = "image"
    answers = "picture"
    summary = "vision models say one word each about a picture; enough must agree"
    needs = ("ask", "words", "split")
    settings_schema: ClassVar[Settings] = {
        "ask": {
            "type": "string",
            "minLength": 1,
            "description": "What is to be said of the picture.",
        },
        "question": {
            "type": "string",
            "minLength": 1,
            "description": "The whole question, as authors put it, in place of ours.",
        },
        "words": {
            "type": "object",
            "minProperties": 2,
            "additionalProperties": {"type": "string", "minLength": 1},
            "description": "The words that a judge may say, each with its meaning.",
        },
        "split": {
            "type": "string",
            "description": "The word for a picture on which the judges do not agree.",
        },
        "threshold": {
            "type": "integer",
            "minimum": 1,
            "description": "Votes that must agree; otherwise more than half.",
        },
        "longest": {
            "type": "integer",
            "minimum": 1,
            "default": LONGEST_PIXELS,
            "description": "Pixels of a shown picture's longer side.",
        },
        "published": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string"},
            "description": "The words in the order in which they are looked for inside a reply.",
        },
    }

    @classmethod
    def values(cls, spec: InstrumentSpec) -> Mapping[str, Collection[str]]:
        """Returns {attribute: the words} for the verdict, the votes and the published rule."""
        words = list(spec.settings["words"])
        return {
            spec.attribute: words,
            f"{spec.attribute}_vote": words,
            f"{spec.attribute}_published": words,
        }

    @classmethod
    def examples(cls, spec: InstrumentSpec, value: str, language: str) -> Sequence[str]:
        """Returns the word itself; [] for a value that is not in `words`."""
        return [value] if value in spec.settings["words"] else []

    def __init__(self, spec: InstrumentSpec, *judges: str) -> None:
        settings = spec.settings
        self.words: Mapping[str, str] = settings["words"]
        for word in (settings["split"], *settings.get("published", ())):
            if word not in self.words:
                raise ProtocolError(
                    f"instrument {spec.name}: '{word}' is not one of its words "
                    f"({', '.join(self.words)}). Add it to them, or name one of them."
                )
        if not judges:
            raise UsageError(
                f"{spec.name} is labelled by vision models. Type for instance: --judge "
                "openai:gpt-4.1-mini --judge anthropic:claude-haiku-4-5 --judge "
                "gemini:gemini-3.1-flash-lite"
            )
        self.voters = judges
        self.threshold = int(settings.get("threshold", len(judges) // 2 + 1))
        if not 1 <= self.threshold <= len(judges):
            raise UsageError(
                f"{spec.name} needs {self.threshold} votes that agree, but {len(judges)} judges "
                f"are named. Name {max(1, self.threshold)} or more, each with --judge."
            )
        self.longest = int(settings.get("longest", LONGEST_PIXELS))
        super().__init__(spec, "+".join(judges))
        self.vote, self.published = f"{spec.attribute}_vote", f"{spec.attribute}_published"
        self.attributes = (spec.attribute, *([self.published] if "published" in settings else []))

    def wording(self) -> Mapping[str, Json]:
        """Returns the prompts, rounds, sampling, threshold and the longest side of a picture."""
        return {
            **_texts().table,
            "rounds": ROUNDS,
            "sampling": SAMPLING,
            "threshold": self.threshold,
            "longest": self.longest,
            **({"question": self._question()} if "question" in self.settings else {}),
        }

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """Returns {judge: (fewest, most) calls}: one call per vote of the judge, at most ROUNDS."""
        counts = Counter(self.voters)
        return {judge: (number, number * ROUNDS) for judge, number in counts.items()}

    def steps(self, item: Answered) -> Steps:
        """Returns labels for the verdict, for each vote and, if set, for the published rule."""
        first, votes = yield from self._votes(item)
        labels = [self.label(item, self.decide(votes))]
        labels += [
            self.label(item, vote, place, attribute=self.vote) for place, vote in enumerate(votes)
        ]
        if self.published in self.attributes:
            labels.append(self.label(item, self._as_published(first), attribute=self.published))
        return labels

    def decide(self, votes: Sequence[str]) -> str:
        """Returns the verdict on a list of votes. By hand, threshold 2: male, male, invalid → male;
        male, female, neither → `split`; male, invalid, refusal → no_decision.
        """
        counts = Counter(vote for vote in votes if vote in self.words)
        if counts.total() < self.threshold:
            return NO_DECISION
        reached = [word for word, number in counts.items() if number >= self.threshold]
        return reached[0] if len(reached) == 1 else str(self.settings["split"])

    def _votes(
        self, item: Answered
    ) -> Generator[Sequence[Request], Sequence[Reply], tuple[list[str], list[str]]]:
        """Asks each judge for a word; returns (the judges' first replies, their votes)."""
        asked = [[Message("user", self._question(), (item.output.blob,))] for _ in self.voters]
        votes, first = [INVALID] * len(self.voters), [""] * len(self.voters)
        open_places = list(range(len(self.voters)))
        for turn in range(1, ROUNDS + 1):
            replies = yield [
                self._request(item, place, turn, asked[place]) for place in open_places
            ]
            still = []
            for place, reply in zip(open_places, replies, strict=True):
                word = one_of(reply_text(reply), self.words)
                first[place] = first[place] or reply_text(reply)
                if word is None and reply.outcome == ANSWER:
                    again = _texts().text("again").format(words=", ".join(self.words))
                    asked[place] += [
                        Message("assistant", reply_text(reply) or NOTHING),
                        Message("user", again),
                    ]
                    still.append(place)
                else:
                    votes[place] = word or reply.outcome
            if not still:
                break
            open_places = still
        return first, votes

    def _request(
        self, item: Answered, place: int, turn: int, messages: Sequence[Message]
    ) -> Request:
        return Request(
            self.voters[place],
            tuple(messages),
            SAMPLING,
            purpose=self.annotator,
            longest=self.longest,
            nonce=nonce(item, SAMPLING, place, turn),
        )

    def _question(self) -> str:
        whole = self.settings.get("question")
        return str(whole or _question(str(self.settings["ask"]), tuple(self.words.items())))

    def _as_published(self, replies: Sequence[str]) -> str:
        """Returns the word that two or more replies contain, if only one does; else `split`."""
        order = self.settings["published"]
        votes = Counter(
            next((word for word in order if fold(word) in fold(reply)), UNRESOLVED)
            for reply in replies
        )
        reached = [word for word in order if votes[word] >= min(2, len(replies))]
        return str(reached[0] if len(reached) == 1 else self.settings["split"])


@lru_cache
def _question(ask: str, words: tuple[tuple[str, str], ...]) -> str:
    meanings = "\n".join(
        f"- {_texts().text('meaning').format(word=word, meaning=meaning)}"
        for word, meaning in words
    )
    return _texts().fill(
        "ask", ask=ask, meanings=meanings, words=", ".join(word for word, _ in words)
    )


def _texts() -> Texts:
    return texts("panel")
