"""A planted model as a judge: it labels the answer that it is shown, with a given error rate. Pure.

It recognises a judge's question by its format (instruments/judges/text.py): task and answer stand
between marks, and the last message ends in the list of labels. Settings: `judge=never` always
replies nonsense, so that a limit on rounds is reached; `agree=p` is the share of replies that are a
label at all; `accuracy=p` the share of labels that are right, with all others equally likely. The
right label of a choice is known for a planted model's own sentences; other texts are searched for
the forms: one form means its value, several `both`, none `invalid`. A rubric's value is known by
its sentence in prose.py.

A dialogue's topic (instruments/judges/negotiation.py) is known by the lines of the packs; any other
text has a random topic, always the same. Asked for a verdict, the judge agrees if the proposed
topic is right and objects otherwise, and says the opposite in 1 − accuracy of its verdicts: two
judges of accuracy a agree at once in a² + (1 − a)² of dialogues, and in a² on the right topic. With
`judge=never` it proposes the right topic and objects to every proposal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from ..errors import Incapable
from ..models.http.body import at, list_at, object_at
from ..records import INVALID, REFUSAL, Json, Request
from .answers import PlantedAnswers
from .dialogues import topic_in
from .pictures import Band, drawable
from .prose import value_sentence
from .settings import Settings
from .speech import declines, dialogues, judge_sentences, one_of
from .tilt import uniforms

_SHOWN = re.compile(r"<(task|answer) (\w+)>\n(.*?)\n</\1 \2>", re.DOTALL)
_STANDS = re.compile(r"^(?:The first reader's topic|.*The topic is now): (.+)$", re.MULTILINE)
_MARKS = re.compile(r"^\W*\d*[.)]?\s*")
_PERSON = re.compile(r"PERSON-\d+")
_FORM = re.compile(r"^\{\n.*^\}$", re.DOTALL | re.MULTILINE)  # of pictures, in a printed prompt
_LINE = re.compile(r'"(\w+)": (?:write actual color|choose from (\[.*?\]))')


class PlantedJudge:
    """A judge for answers to the prompts of one protocol."""

    def __init__(
        self,
        settings: Settings,
        subject: PlantedAnswers,
        see: Callable[[str], bytes] | None = None,
    ) -> None:
        self._settings, self._subject, self._see = settings, subject, see
        self._read = lru_cache(maxsize=4096)(subject.meaning)

    def reply(self, request: Request, draws: Sequence[float]) -> str | None:
        """Returns a judge's reply, decided by draws[1:]; None if the request is not a judge's."""
        settings = self._settings
        pictures = [name for message in request.messages for name in message.pictures]
        fields = shown_to(request)
        if not fields:
            audited = self._subject.protocol.pictures
            return self._look_at(request, pictures, draws) if pictures and not audited else None
        labels = request.messages[-1].content.rstrip().rpartition(": ")[2].split(", ")
        if "copied lines" in request.messages[-1].content:
            return self._copy(fields["answer"], labels, draws)
        if set(labels) == {"agree", "object"} or not set(labels) - set(dialogues("en")):
            return self._negotiate(request, fields["answer"], labels, draws)
        right = _grade_told(fields["answer"], labels)
        right = right or self._read(fields.get("task", ""), fields["answer"])
        grades = [label for label in labels if label.isdecimal()]
        if grades and right not in (*grades, REFUSAL):
            place = uniforms("grade", fields["answer"], number=1)[0]  # of any text the same
            right = grades[int(place * len(grades))]
        if not right:
            return None
        if right == INVALID:
            self._subject.check_labels(labels)
        if settings.judge == "never" or draws[1] >= settings.agree:
            return one_of(judge_sentences("nonsense"), draws[3], settings).format(form=labels[0])
        return one_of(judge_sentences("label"), draws[3], settings).format(
            form=_erring(settings, right, labels, draws[2])
        )

    def _copy(self, answer: str, labels: Sequence[str], draws: Sequence[float]) -> str:
        """Copies the people or words listed in an answer, one per line; or replies `invalid`."""
        settings = self._settings
        if settings.judge == "never" or draws[1] >= settings.agree:
            return one_of(judge_sentences("nonsense"), draws[3], settings).format(form=labels[0])
        parts = (_MARKS.sub("", part).strip(" .*_\"'") for part in re.split(r"[,;\n]", answer))
        copied = [*dict.fromkeys(_PERSON.findall(answer))]
        copied = copied or [part for part in parts if 0 < len(part.split()) <= 2]
        if len(copied) < 2 or draws[2] >= settings.accuracy:
            return INVALID
        return "\n".join(copied)

    def _look_at(self, request: Request, pictures: Sequence[str], draws: Sequence[float]) -> str:
        """Labels a picture by a word of the question's list, or by JSON in the wanted form."""
        if self._see is None:
            raise Incapable(
                "planted: the judge needs the folder of a run to read the picture from."
            )
        if self._settings.judge == "never" or draws[1] >= self._settings.agree:
            return one_of(judge_sentences("nonsense"), draws[3], self._settings).format(form="?")
        band = Band(self._see(pictures[0]))
        if request.schema:
            schema: Json = json.loads(request.schema)
            listed = at(schema, "properties", "attributes", "items")
            return json.dumps(
                _choose_attributes(listed, request)
                if listed
                else self._fill_form(schema, band, draws)
            )
        if printed := _FORM.search(request.messages[0].content):
            return self._fill_printed(printed[0], band, draws)
        labels = request.messages[-1].content.rstrip().rpartition(": ")[2].split(", ")
        right = band.any_value(labels) or labels[-1]
        return one_of(judge_sentences("label"), draws[3], self._settings).format(
            form=_erring(self._settings, right, labels, draws[2])
        )

    def _fill_form(self, schema: Json, band: Band, draws: Sequence[float]) -> dict[str, str]:
        """Fills a flat schema: each property gets a value of its `enum`, or a known attribute's."""
        filled = {}
        for name, form in object_at(schema, "properties").items():
            listed = list_at(form, "enum") or drawable().get(name, ("unclear",))
            offered = [str(value) for value in listed]
            (uniform,) = uniforms("property", name, list(draws), number=1)
            filled[name] = _erring(
                self._settings, band.value(name, offered) or offered[-1], offered, uniform
            )
        return filled

    def _fill_printed(self, form: str, band: Band, draws: Sequence[float]) -> str:
        """Fills a value into each line of a published form that asks for one."""

        def filled(line: re.Match[str]) -> str:
            name = {"color": "product_color"}.get(line[1], line[1])
            schema: Json = {"properties": {name: {"enum": json.loads(line[2] or "[]")}}}
            return f'"{line[1]}": "{self._fill_form(schema, band, draws)[name]}"'

        return _LINE.sub(filled, form)

    def _negotiate(
        self, request: Request, answer: str, labels: Sequence[str], draws: Sequence[float]
    ) -> str:
        """Returns a topic or a verdict, and a reason on the second line."""
        settings, never = self._settings, self._settings.judge == "never"
        if draws[1] >= settings.agree:
            return one_of(judge_sentences("nonsense"), draws[3], settings).format(form=labels[0])
        topic = topic_in(answer)
        if not topic:
            topics = list(dialogues("en"))
            topic = topics[int(uniforms("topic", answer, number=1)[0] * len(topics))]
        if "object" not in labels:
            verdict = topic if never else _erring(settings, topic, labels, draws[2])
        else:
            right = "agree" if _standing(request) == topic else "object"
            verdict = "object" if never else _erring(settings, right, labels, draws[2])
        reason = "I see no fit." if verdict == "object" else "The lines say so."
        return (
            f"{one_of(judge_sentences('label'), draws[3], settings).format(form=verdict)}\n{reason}"
        )


def _grade_told(answer: str, labels: Sequence[str]) -> str:
    """Returns the rubric value that a planted sentence states, `refusal` for a refusal, or ""."""
    declined = REFUSAL in labels and any(answer == refusal for refusal in declines("en"))
    return (
        REFUSAL
        if declined
        else next((label for label in labels if value_sentence(label) in answer), "")
    )


def _choose_attributes(form: Json, request: Request) -> dict[str, Json]:
    """Returns the paintable attributes, with values, that the question does not name."""
    told_words = set(re.findall(r"\w+", request.messages[0].content))
    parts = [str(part) for part in list_at(form, "properties", "part", "enum")]
    return {
        "attributes": [
            {
                "name": name,
                "part": next((part for part in parts if name.startswith(part)), parts[0]),
                "values": list(values),
            }
            for name, values in drawable().items()
            if name not in told_words
        ]
    }


def shown_to(request: Request) -> Mapping[str, str]:
    """Returns {mark (task, answer): text} of the texts that a judge is shown; {} without any."""
    for message in request.messages:
        if "<answer " in message.content:
            return {match[1]: match[3] for match in _SHOWN.finditer(message.content)}
    return {}


def _standing(request: Request) -> str:
    """Returns the topic to judge, which is the last topic shown; "" if none is shown."""
    topics = [
        match
        for message in request.messages
        if message.role == "user"
        for match in _STANDS.findall(message.content)
    ]
    return topics[-1] if topics else ""


def _erring(settings: Settings, right: str, labels: Sequence[str], uniform: float) -> str:
    """Returns the right label; if uniform < 1 − accuracy, another label."""
    others = [label for label in labels if label != right]
    error = 1 - settings.accuracy
    if uniform >= error or not others:
        return right
    return others[min(int(uniform / error * len(others)), len(others) - 1)]
