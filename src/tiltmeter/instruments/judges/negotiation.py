"""Labels a dialogue with a topic that two models agree on: one proposes, the other agrees or
objects with a reason, and the first replies to the objection.

After Sun et al. (2023), as Zhao et al. (2024, 4.4 and Appendix E) use it, with prompts of our own
(data/negotiation.toml):

  1. the generator reads the dialogue and the list of topics and names one, with a reason;
  2. the discriminator reads dialogue, list, topic and reason and agrees, or objects with a reason;
  3. the generator gets the objection in the same conversation, and keeps its topic or takes
     another, which goes to the discriminator; and so on, for at most ROUNDS rounds. Without
     agreement by then the label is `unresolved`.

The first line of a reply must be one topic of the list or one of the two verdicts, perhaps with
quotes and a full stop; words inside a sentence are ignored. After another reply, or an objection
without a reason, the model is asked once more with the list; then the label is `invalid`. So there
are at most 4 × rounds calls, all of them stored.

The two roles are played by any two models, or by one ("… in both roles" in the annotator's name: a
model tends to agree with itself). Answers that are no dialogue in their language (dialogue.py) get
that outcome without any call.

Labels: the attribute of the spec (a topic), and `rounds` (the number of rounds until agreement);
both get the outcome if there is no topic.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from ...errors import ProtocolError, UsageError
from ...languages.letters import fold
from ...protocol import InstrumentSpec
from ...records import (
    INVALID,
    OUTCOMES,
    UNRESOLVED,
    Answered,
    Message,
    Reply,
    Request,
    Steps,
    Trial,
)
from .. import Settings, Team
from ..dialogue import NO_DIALOGUE, form_of
from ..text.thought import without_thought
from ..wording import Json, Texts, texts
from .prompt import AROUND, SAMPLING, converse, mark, nonce, one_of, plain

ROUNDS = 5  # unless the protocol says otherwise
MOST_ROUNDS = 20
ATTRIBUTE = "rounds"
AGREE, OBJECT = "agree", "object"
SHOWN_CHARACTERS = 4_000  # characters of a dialogue that are shown; two lines have about 150
_VERDICT = re.compile(
    rf"\W*(?P<word>{AGREE}|{OBJECT})[{re.escape(AROUND)}]*(?:[:;,—–-]+(?P<rest>.*))?$", re.I
)

_YES_OR_NO = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)
Turn = Generator[Sequence[Request], Sequence[Reply], "WordAndReason | None"]


class WordAndReason(NamedTuple):
    """A parsed reply: a topic or a verdict, and its reason ("" if it gives none)."""

    word: str
    reason: str


class Negotiation(Team):
    """settings: topics = {name: meaning}, rounds = 5; printed = a paper's prompts in place of ours,
    and the names of the topics in them.
    """

    kind = "negotiation"
    version = "2"
    modality = "text"
    parts: ClassVar[tuple[str, ...]] = ("generator", "discriminator")
    answers = "dialogue"
    summary = "two judges agree on the topic of a dialogue, or do not"
    needs = ("topics",)
    settings_schema: ClassVar[Settings] = {
        "topics": {
            "type": "object",
            "minProperties": 2,
            "additionalProperties": {"type": "string", "minLength": 1},
            "description": "The topics, each with its meaning.",
        },
        "rounds": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_ROUNDS,
            "default": ROUNDS,
            "description": "How often the two may object before a dialogue stays unresolved.",
        },
        "printed": {
            "type": "object",
            "required": ["propose", "check", "objected", "names"],
            "description": "What authors printed: the three prompts and a name for each topic.",
        },
    }
    typical_answer: ClassVar[str] = (
        "Woman 1: Did you see the match last night?\nWoman 2: Yes, and I still cannot believe it!"
    )

    def __init__(self, spec: InstrumentSpec, *judges: str) -> None:
        if not judges or not all(judges):
            raise UsageError(
                f"{spec.name} is labelled by two models. Type for instance: --judge "
                "openai:gpt-4.1-mini --judge openai:gpt-4.1   (the generator, then the "
                "discriminator; a single model does both)"
            )
        self.topics, self.rounds = _topics(spec), int(spec.settings.get("rounds", ROUNDS))
        self.printed: Mapping[str, Any] = spec.settings.get("printed", {})
        if self.printed and self.printed["names"].keys() != self.topics.keys():
            raise ProtocolError(f"instrument {spec.name}: printed.names must name all topics.")
        self.generator, self.discriminator = judges[0], judges[-1]
        same = self.generator == self.discriminator
        super().__init__(
            spec, f"{judges[0]} in both roles" if same else f"{judges[0]} and {judges[-1]}"
        )
        self.attributes = (spec.attribute, ATTRIBUTE)

    def wording(self) -> Mapping[str, Json]:
        """Returns the prompts, rounds, sampling, number of characters shown, and both models."""
        return {
            **_texts().table,
            "rounds": self.rounds,
            "sampling": SAMPLING,
            "shown": SHOWN_CHARACTERS,
            "generator": self.generator,
            "discriminator": self.discriminator,
            **({"printed": dict(self.printed)} if self.printed else {}),
        }

    def calls(self, trial: Trial, exact: bool) -> Mapping[str, tuple[int, int]]:
        """Returns {model: (fewest, most) calls}: per round and role one, or two if unreadable."""
        most = 2 * self.rounds
        if self.generator == self.discriminator:
            return {self.generator: (2, 2 * most)}
        return {self.generator: (1, most), self.discriminator: (1, most)}

    def steps(self, item: Answered) -> Steps:
        """Lets both models negotiate; returns a label for the topic and one for the rounds."""
        form = form_of(item)
        if form in NO_DIALOGUE:
            return [self.label(item, form, attribute=attribute) for attribute in self.attributes]
        labels = yield from self._negotiate(item)
        return [
            self.label(item, value, attribute=name)
            for name, value in zip(self.attributes, labels, strict=True)
        ]

    def _negotiate(
        self, item: Answered
    ) -> Generator[Sequence[Request], Sequence[Reply], tuple[str, str]]:
        """Negotiates; returns the topic and the number of rounds, or an outcome for both."""
        answer = plain(without_thought(item.trial.begin + item.output.text)).strip()[
            :SHOWN_CHARACTERS
        ]
        proposing, checking = [self._turn((), "propose", answer=answer)], list[Message]()
        for number in range(1, self.rounds + 1):
            proposed = yield from self._ask(item, self.generator, proposing, list(self.topics))
            if proposed is None:
                return INVALID, INVALID
            checking.append(
                self._turn(
                    checking,
                    "renewed" if checking else "check",
                    answer=answer,
                    topic=proposed.word,
                    reason=proposed.reason or _texts().text("no_reason"),
                )
            )
            verdict = yield from self._ask(item, self.discriminator, checking, [AGREE, OBJECT])
            if verdict is None:
                return INVALID, INVALID
            if verdict.word == AGREE:
                return proposed.word, str(number)
            proposing.append(
                self._turn(proposing, "objected", topic=proposed.word, objection=verdict.reason)
            )
        return UNRESOLVED, UNRESOLVED

    def _ask(
        self, item: Answered, model: str, messages: list[Message], words: Sequence[str]
    ) -> Turn:
        """Asks a model, and again if its reply is unreadable; appends both to `messages`."""
        role = self.parts[OBJECT in words]

        def request(said: tuple[Message, ...], turn: int) -> Request:
            again = nonce(item, SAMPLING, role, len(said))
            return Request(model, said, SAMPLING, purpose=self.annotator, nonce=again)

        def read(text: str) -> tuple[WordAndReason | None, str]:
            words_read = self._read(text, words)
            if words_read is not None and (words_read.word != OBJECT or words_read.reason):
                return words_read, ""
            fault = (
                _texts().section("faults").text("first_line" if words_read is None else "objection")
            )
            named = ", ".join(self._words(words))
            return None, _texts().fill("again", fault=fault, words=named)

        words_read, _ = yield from converse(messages, request, read, 2)
        return words_read

    def _read(self, text: str, words: Sequence[str]) -> WordAndReason | None:
        """Parses a reply: to our prompt, by its first line; to a paper's published prompt, a
        sentence that names exactly one topic or begins with yes or no. None if unreadable.
        """
        if not self.printed:
            return verdict_of(text) if OBJECT in words else topic_of(text, words)
        if OBJECT in words:
            begun = _YES_OR_NO.match(text)
            return begun and WordAndReason(AGREE if begun[1].lower() == "yes" else OBJECT, text)
        names = self.printed["names"].items()
        named = [topic for topic, name in names if fold(name) in fold(text)]
        return WordAndReason(named[0], text) if len(named) == 1 else None

    def _words(self, words: Sequence[str]) -> Sequence[str]:
        """Returns the allowed words as the reminder to a model names them."""
        if not self.printed:
            return words
        return ("yes", "no") if OBJECT in words else list(self.printed["names"].values())

    def _as_printed(self, text: str, shown: Mapping[str, str]) -> Message:
        names = list(self.printed["names"].values())
        listed = ", ".join(f"{number}. {name}" for number, name in enumerate(names, 1))
        topic = self.printed["names"].get(shown.get("topic", ""), "")
        filled = self.printed[text].format_map({**shown, "names": listed, "topic": topic})
        return Message("user", filled)

    def _turn(self, before: Sequence[Message], text: str, **shown: str) -> Message:
        """Makes a message by filling texts into a prompt. The texts shown stand between marks that
        occur neither in these texts nor in earlier messages.
        """
        if self.printed:
            return self._as_printed("check" if text == "renewed" else text, shown)
        meanings = "\n".join(
            f"- {_texts().text('topic').format(name=name, meaning=meaning)}"
            for name, meaning in self.topics.items()
        )
        code = mark(*(message.content for message in before), *shown.values())
        filled = _texts().fill(
            text, mark=code, topics=meanings, names=", ".join(self.topics), **shown
        )
        return Message("user", filled)


def topic_of(text: str, topics: Sequence[str]) -> WordAndReason | None:
    """Returns the first line's topic and the reason below; None if other topics are named too."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = {word for line in lines if (word := one_of(line, topics)) is not None}
    if not lines or len(named) != 1 or one_of(lines[0], topics) is None:
        return None
    return WordAndReason(
        named.pop(), " ".join(line for line in lines[1:] if one_of(line, topics) is None)
    )


def verdict_of(text: str) -> WordAndReason | None:
    """Returns the verdict at the start of the first line ("Object: …") and the reason, or None."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = _VERDICT.match(lines[0]) if lines else None
    if first is None or any(one_of(line, (AGREE, OBJECT)) for line in lines[1:]):
        return None
    return WordAndReason(
        first["word"].lower(), " ".join([(first["rest"] or "").strip(), *lines[1:]]).strip()
    )


def _topics(spec: InstrumentSpec) -> Mapping[str, str]:
    """Returns the topics. Raises ProtocolError if one is confusable with another or an outcome."""
    topics: Mapping[str, str] = spec.settings["topics"]
    for name in topics:
        if (
            name in OUTCOMES
            or one_of(name, topics) != name
            or name != name.strip()
            or "," in name
            or "\n" in name
        ):
            raise ProtocolError(
                f"instrument {spec.name}: the topic '{name}' is an outcome, differs from another "
                "topic only in case, or contains a comma. Rename it."
            )
    return topics


def _texts() -> Texts:
    return texts("negotiation")
