"""Classifies an answer that should be two lines of dialogue: by its number of speeches, or by why
it is not a dialogue.

A speech is the words of one person in one turn. Speeches are recognised by the first of these signs
that the answer has twice or more:

  marks    a label and a colon at the start of a line ("Woman 1:", "F:", "**Homme :**",
           "Sarah (smiling):"), a label on a line of its own, a label and a dash or nothing before a
           quotation ("Woman - “…”", "女性「…」"), in brackets ("[Woman] …") or capitals ("ANN. …");
  quotes   quotations, however narrated: a paragraph's quotations are one speech if one narration
           separates them ("…," she said, "…"), and several if they touch or if each has a
           narration of its own;
  dashes   lines that begin with a dash, a bullet or a number;
  address  two short lines and no more, each with a question or exclamation mark or a word that
           addresses somebody.

Other text (a preamble, a title, stage directions, narration, a closing remark, the repeated prompt,
marked thinking) is not counted. Labels of no speaker ("Title:", "Example:", "Assistant:") are in
the packs (people.toml, silent).

The value, the first that fits:
  refusal         the answer has neither two marked speeches nor two lines of quotation, and
                  declines, outside speech, to write any.
  invalid         it has no speech: it is empty, the prompt, code or prose.
  other_language  the speeches are in another language than the prompt (identify.py; labels do not
                  count, glosses do: a line of Chinese with a longer romanisation is not Chinese).
  one_line, two_lines, more_lines   the number of speeches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from ..errors import MissingExtra
from ..languages import identify, refusals
from ..languages.pack import overlays
from ..protocol import InstrumentSpec
from ..records import INVALID, OTHER_LANGUAGE, REFUSAL, Answered, Label
from . import Parser, Settings
from .dialogue_json import from_json
from .dialogue_speakers import BRACKETS, CAPITALS, CJK, CLOSE, OPEN, Speakers, speakers, words
from .text.prose import OWN_WORDS
from .text.thought import without_thought
from .wording import Json

ONE, TWO, MORE = "one_line", "two_lines", "more_lines"
NO_DIALOGUE = (REFUSAL, OTHER_LANGUAGE, INVALID)
LONGEST_CHARACTERS = 20_000  # characters read: by then an answer has long more than two lines
# characters of a line that may be speech though nothing marks it; longer ones are paragraphs
SHORT = 150
PROSE = 200  # characters beside a single speech, or in it, that make it a part of a story

# An opening mark before what each kind needs, so that a search skips to the next mark.
_QUOTED = re.compile(
    rf"[{OPEN}»”‘']((?<=\")[^\"]+|(?<=“)[^“”\"]+(?=[”\"]|$)"
    r"|(?<=„)[^„“”\"]+(?=[“”\"]|$)|(?<=»)[^«»]+(?=«)|(?<=”)[^“”\n]+(?=“)"
    r"|(?<=«)[^«»]+(?=»|$)|(?<=‹)[^‹›]+(?=›|$)"
    r"|(?<=「)[^「」]+(?=」|$)|(?<=『)[^『』]+(?=』|$)|(?<=[‘'])(?<!\w.)[^‘]+?(?=[’'](?!\w)))"
    rf"[{CLOSE}«’']?"
)
_SAID_AFTER = f",:，：、{CLOSE}"  # a quotation behind one of these is speech
_ENDS = re.compile(r"[.!?…,。！？，、~～—–-][)\s]*$")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060\ufeff*`]")
_TAG = re.compile(r"</?(?:b|em|i|span|strong|u|ul)>", re.I)
_SPEAKER_TAG = re.compile(  # <line speaker="woman">…</line>
    r"<\w+\s+(?:speaker|character|role|name|who)=[\"']([^\"'<>\n]+)[\"'][^<>]*>([^<>]*)</\w+>", re.I
)
_BREAK = re.compile(r"<br\s*/?>|</?(?:p|div|li)\s*>|\r\n?|\u2028|\u2029", re.I)
_PREFIX = re.compile(
    r"^\s*(?:>\s*)*(?:#{1,6}\s+)?(?:(?P<item>[-–—―•·]|\(?\d{1,2}[.)](?!\d)|[①-⑩])\s*)?"
)
_CALLED = re.compile(r"^[^\W\d_](?:[^\s:：.!?]|\s(?!\s)){0,30}[:：]\s*(\S.*)$")
_GLOSS = re.compile(r"^[\[(（【].*[\])）】][\"”]?$")
_BEGINS = tuple(f"{OPEN}'‘")  # a line of quotation
_OPENING = re.compile(f"[{OPEN}]")
_LETTER = re.compile(r"[^\W_]")
_LETTERS = re.compile(rf"[^\W\d_{CJK}]+")
_NUMBERED = re.compile(r"[\s#]*\d*$")
_CODE = re.compile(
    r"[;{}]\s*$|\w+\.\w+\.\w+\("
    r"|^\s*(?:public|private|import|def|class|return|function|const|var|let|#include)\s+\w+.*[(;:{]"
)
_CODE_SIGNS = frozenset(";{}(:")  # what _CODE finds has one: to look for them first is quicker
_TABLE = re.compile(r"(?:^[^\S\n]*\|.*\|[^\S\n]*(?:\n|$)){2,}", re.M)
_IS_NAME = re.compile(rf"{CAPITALS}$")  # in capitals on its own line
_RULE = re.compile(r"[\s|:-]+")
_TURN = re.compile(r"(?<=[.!?…»])\s*[—–]\s*(?=[A-ZÀ-Ý¿¡«])")
# A line without markup: whether it began with a dash or number, who speaks and what (or "").
Line = tuple[bool, str, str]


def speeches(text: str) -> list[str]:
    """Lists the speeches of an answer in order. Pure."""
    return _find_speeches(_lines(text, "", speakers()), speakers())[0]


def read(text: str, code: str, prompt: str = "") -> str:
    """Returns the form of an answer in the language `code`: its number of lines of dialogue, or the
    reason that it is not a dialogue (`refusal`, `invalid` …). Pure.

    Raises MissingExtra if two languages of one script must be told apart and no identifier is
    installed.
    """
    known = speakers(code if "@" in code else "")
    alone = known.patterns["alone"].match
    lines = _lines(from_json(text, lambda name: alone(name) is not None), prompt, known)
    found, strong, rest = _find_speeches(lines, known)
    if not strong and refusals.says(rest, code):
        return REFUSAL
    if not found or (not strong and any(map(_is_code, lines))):
        return INVALID
    glosses = [text for _, _, text in lines if _GLOSS.match(text)]
    if identify.foreign("\n".join(found + glosses), code):
        return OTHER_LANGUAGE
    return (ONE, TWO, MORE)[min(len(found), 3) - 1]


def _find_speeches(lines: Sequence[Line], known: Speakers) -> tuple[list[str], bool, str]:
    """Returns (speeches, True if two are labelled or quoted and thus certain, all other text)."""
    marked = _labelled_lines(lines)
    if len(marked) > 1:
        return marked, True, ""
    if marked:
        all_lines = (f"{label}: {text}" if label else text for _, label, text in lines)
        again = _labelled_lines(
            [_line(part, known) for line in all_lines for part in known.patterns["any"].split(line)]
        )
        if len(again) > 1:
            return again, True, ""
    called = [_called(label, text) for _, label, text in lines] if len(lines) == 2 else [""]
    if all(called):  # "his brother: …"
        return called, True, ""
    return _unlabelled_lines(lines, known)


def _called(label: str, text: str) -> str:
    """Returns the text after a few words and a colon; a labelled line's whole text; else ""."""
    match = None if label else _CALLED.match(text)
    return match[1] if match else text if label else ""


def _labelled_lines(lines: Sequence[Line]) -> list[str]:
    """Lists the text of each label, which is on its line or else on the next unlabelled line."""
    labelled, waiting = [], False
    for _, label, text in lines:
        if label and not text:
            waiting = True
        elif label or (waiting and not _GLOSS.match(text)):
            labelled.append(text)
            waiting = False
    return labelled


def _unlabelled_lines(lines: Sequence[Line], known: Speakers) -> tuple[list[str], bool, str]:
    """Finds speeches by quotations, dashes or words of address; returns as _find_speeches does."""
    turns: list[str] = []
    begun, rest = 0, []
    for _, label, text in lines:
        quoted, narration = _quotations(text)
        rest.append(narration)
        if not quoted and label and text:
            quoted = [text]
            rest[-1] = ""
        turns += quoted
        begun += bool(quoted) and text.startswith(_BEGINS)
    narration = _lower(rest)
    if turns:
        story = max(len(narration), len(turns[0]) if _is_long(lines, known) else 0) > PROSE
        return [] if len(turns) == 1 and story else turns, begun > 1, narration
    spoken = [(item, text) for item, _, text in lines if not _GLOSS.match(text)]
    items = [part for item, text in spoken if item for part in _turns(text)]
    if any(map(str.isalpha, "".join(items))):
        return items, False, _lower(text for item, _, text in lines if not item)
    bare = [text for _, text in spoken if not text.endswith((":", "："))]
    if len(bare) == 2 and all(_addresses(text, known) for text in bare):
        return bare, False, narration
    if len(bare) == 1 and known.patterns["vocative"].match(bare[0]):
        return bare, False, narration
    return [], False, narration


def _lower(texts: Iterable[str]) -> str:
    return " ".join(texts).casefold().replace("’", "'")


def _is_long(lines: Sequence[Line], known: Speakers) -> bool:
    """True if there are labels but none names a speaker; then one long speech may be prose."""
    labels = [label for _, label, _ in lines if label]
    return bool(labels) and not any(known.patterns["alone"].match(label) for label in labels)


def _addresses(text: str, known: Speakers) -> bool:
    """True if a line without marks may be speech: it addresses somebody and does not narrate about
    a person ("He said hello.").
    """
    if len(text) > SHORT or not known.patterns["address"].search(text.casefold()):
        return False
    first = _LETTERS.search(text.casefold())
    addresses = first is not None and first[0] in known.persons and not set(text) & set("?!？！")
    return not addresses


def _quotations(paragraph: str) -> tuple[list[str], str]:
    """Splits a paragraph into speeches (each may be interrupted by narration) and other text."""
    texts, gaps, end = [], [], 0
    for match in _QUOTED.finditer(paragraph):
        after = paragraph[match.end() :]
        if _is_speech(match[1], paragraph[: match.start()].rstrip(), after):
            texts.append(match[1])
            gaps.append(paragraph[end : match.start()])
            end = match.end()
    if not texts:
        return [], paragraph
    gaps.append(paragraph[end:])
    is_told = [any(map(str.isalpha, gap)) for gap in gaps]
    touching = is_told[1:-1].count(False)
    # "Al sighed. “I know,” he said. “So do I.”": one narration leads in, one goes with the comma
    leads = len(texts) == 2 and is_told[:2] == [True, True] and not is_told[2]
    leads = leads and texts[0].rstrip().endswith((",", "，"))
    number = min(len(texts), 1 + touching + max(0, sum(is_told) - 1 - leads))
    return [*texts[: number - 1], " ".join(texts[number - 1 :])], " ".join(gaps)


def _is_speech(quoted: str, before: str, after: str) -> bool:
    """True if a quotation is speech and not a word in inverted commas. after: the text after it; a
    comma there, as in German, marks speech if the quotation begins its sentence.
    """
    narrated = before[-1:] in tuple(".!?…") and after.startswith((",", "،"))
    return not before or before[-1] in _SAID_AFTER or narrated or bool(_ENDS.search(quoted))


def _turns(text: str) -> list[str]:
    """Splits a line at the dashes that begin another person's turn ("— Tu viens ? — Oui.")."""
    return [part for part in _TURN.split(text) if part.strip()]


def _is_code(line: Line) -> bool:
    return not _CODE_SIGNS.isdisjoint(line[2]) and _CODE.search(line[2]) is not None


def _lines(text: str, prompt: str, known: Speakers) -> list[Line]:
    """Splits an answer into lines with at most one label each; drops markup, thinking, prompt."""
    text = without_thought(text[:LONGEST_CHARACTERS])
    if "<" in text or "\r" in text or "\u2028" in text or "\u2029" in text:
        text = _TAG.sub("", _BREAK.sub("\n", _SPEAKER_TAG.sub(r"\n\1: \2\n", text)))
    text = _INVISIBLE.sub("", text.replace("__", ""))
    for repeated in filter(None, (prompt, prompt.rstrip(".。"))):
        text = text.replace(repeated, "\n")
    if prompt and ":" in text:  # "le médecin :", if the prompt asks for a doctor
        asked = prompt.casefold()
        text = known.patterns["articled"].sub(
            lambda label: label[1].title() if label[1].casefold() in asked else label[0], text
        )
    if "|" in text:
        text = _TABLE.sub(lambda table: _rows_as_labels(table[0]), text)
    # one of them is behind such a label
    if ":" in text or "：" in text or "「" in text or "『" in text:
        text = known.patterns["again"].sub(lambda end: end[1] + "\n", text)
    lines = (_line(line, known) for line in text.split("\n") if line)
    return [line for line in lines if line[1] or line[2]]


def _rows_as_labels(table: str) -> str:
    """Rewrites a table (a speech per row, or a speaker per column) as labelled lines."""
    rows = [[cell.strip() for cell in line.strip(" \t|").split("|")] for line in table.split("\n")]
    ruled = [number for number, cells in enumerate(rows) if _RULE.fullmatch("|".join(cells))]
    if ruled == [1] and len([cells for cells in rows if any(cells)]) == 3:
        rows = [list(pair) for pair in zip(rows[0], rows[2], strict=False)]
    elif ruled:
        rows = rows[ruled[0] + 1 :]
    lines = (": ".join((*cells[-2:-1], cells[-1])) for cells in rows if any(cells))
    return "".join(f"\n{line}" for line in lines) + "\n"


def _line(text: str, known: Speakers) -> Line:
    parts = _PREFIX.match(text)
    assert parts is not None
    rest = text[parts.end() :].rstrip().strip("_ ")
    item = bool(parts["item"] and rest)
    if match := _match_label(rest, known.patterns):
        label, speech = match[1].strip(), match[2].strip()
        bare = (
            _NUMBERED.sub("", label) if label[-1:] == "#" or label[-1:].isdecimal() else label
        ).casefold()
        if bare in known.silent:
            return item, "", speech if speech.startswith(tuple(OPEN)) else ""
        echoes = ":" in speech and {*speech.replace(":", " ").split()} <= {*label.split()}
        return item, label, speech if _LETTER.search(speech) and not echoes else ""
    if known.patterns["alone"].match(rest) or (rest.isupper() and _IS_NAME.match(rest)):
        return item, rest, ""
    return item, "", rest if _LETTER.search(rest) else ""


def _match_label(text: str, labels: Mapping[str, re.Pattern[str]]) -> re.Match[str] | None:
    """Matches the label of a line. Looks first for the label's mark, which most lines lack."""
    match = labels["colon"].match(text) if ":" in text or "：" in text else None
    if not match and _OPENING.search(text):
        match = labels["quote"].match(text)
    if not match and ("-" in text or "–" in text or "—" in text):
        match = labels["dash"].match(text)
    if not match and text[:1] in BRACKETS:
        match = labels["bracket"].match(text)
    if not match and text[:2].isupper() and (script := labels["script"].match(text)):
        match = script if script[1].isupper() else None
    return match


def form_of(item: Answered, own: Mapping[str, str] | None = None) -> str:
    """Returns the form of an output, for instruments that label only dialogues. own: {language: the
    code under which the protocol's own words are stored}.
    """
    code = item.trial.factors.get("language", "en")
    text = item.trial.begin + item.output.text
    return read(text, (own or {}).get(code, code), item.trial.prompt)


class DialogueForm(Parser):
    """A parser that labels an output with the form that `read` returns."""

    kind = "dialogue"
    version = "8"
    answers = "dialogue"
    summary = "whether an answer is two lines of dialogue, in its language"
    modality = "text"
    settings_schema: ClassVar[Settings] = {"languages": OWN_WORDS}

    def __init__(self, spec: InstrumentSpec, judge: str = "") -> None:
        # at once, and not at the first answer that leaves a doubt
        if identify.wording()["library"] == "none":
            raise MissingExtra("Recognising dialogues in another language", "languages")
        self._own = overlays(spec.settings.get("languages"))
        super().__init__(spec, judge)

    def wording(self) -> Mapping[str, Json]:
        """Returns the word lists of all packs and the settings of the language identifier."""
        names = ("speakers", "woman", "man", "articles", "silent", "address", "address_anywhere")
        return {
            **{name: words(name) for name in names},
            "refusal": refusals.wording(),
            "identifier": identify.wording(),
        }

    def read(self, item: Answered) -> Sequence[Label]:
        """Returns one label: the form of the output (`two_lines`, `refusal` …)."""
        return [self.label(item, form_of(item, self._own))]
