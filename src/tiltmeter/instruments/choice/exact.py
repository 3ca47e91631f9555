"""The probability of each option, computed from the log-probabilities of the next tokens instead of
sampled answers.

The quantity: with what probability does the continuation, ignoring case and leading blanks, quotes
and markup, begin with one of an option's forms? Tokens are followed as *bytes*, over whole token
sequences:

  - a token that completes a form counts for its option (he), unless a longer form begins with it
    (彼 before 彼女);
  - a token that begins a form (s, 彼, a lone quote) is open: if it has at least THRESHOLD of the
    probability, the subject is asked again with the token appended to the start of its answer, and
    the probabilities multiply:
    P(彼女) = P(彼)·P(女|彼) and P(彼) = P(彼)·(1 − P(女|彼));
  - a token that ends inside a character cannot be sent back through a chat API: it counts as
    `unresolved`, unless its bytes begin no form;
  - any other token counts as `other`;
  - tokens that a server does not list (it lists only the likeliest) count as `unresolved`; after a
    complete form they count for that form, if each longer form's next token is listed.

So one call is enough if each form is a single token. Text that follows a complete form in a *later*
token is ignored: "he" then "/she" counts as he. The shares are at temperature 1 without top-p or
top-k and sum to 1; the sum over the options is the captured mass, and odds and shares among the
options are conditional on it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Generator, Sequence
from typing import NamedTuple

from ...errors import Incapable
from ...languages.letters import fold, is_mark, is_unspaced
from ...languages.phrases import language
from ...records import ANSWER, OTHER, UNRESOLVED, Answered, Reply, Request, Token
from .forms import Forms

# An open path with less is left unresolved. On the bundled model "S" and "s" have .006 each after
# "The answer is '", and "he" follows in 3 % of that: paying for such paths would double the calls
# for .0002 of the probability.
THRESHOLD = 0.01
CALLS = 12  # further requests a trial
DEPTH = 6  # tokens of one path
ROUNDING = 0.02  # by which a sum of listed probabilities may exceed 1, since servers round
# and by which it may miss 1 with nothing unlisted: log-probabilities are stored to six places
EXACT = 1e-5
_OPEN, _PIECE = "\0open", "\0piece"  # no option can be called so
_LOST = "\ufffd".encode()  # what servers without bytes send for a piece of a character
_BEFORE = "'\"“”‘’‚„«»‹›`´「」『』《》*_~#>([{<:-–—.…¿¡"  # may stand before a form, beside blanks
_INSIDE = "-/"  # after a form these make another word of it: he-man, he/she

Asking = Generator[Sequence[Request], Sequence[Reply], dict[str, float]]


class AnswerPlaces:
    """A classifier of an answer's first bytes: an option, `other`, open, or a cut character."""

    def __init__(self, forms: Forms, code: str) -> None:
        self._options = {
            fold(form): option for option, written in forms.items() for form in written
        }
        self._words = sorted(self._options, key=len, reverse=True)
        blocked = map(fold, language(code).pack.list_of("blocked"))
        self._blocked = tuple(word for word in blocked if word not in self._options)

    def of(self, path: bytes) -> str:
        """Returns the option that the bytes complete, or `other`, _OPEN or _PIECE."""
        text, piece = _decode(path)
        if piece:
            return _PIECE if self._may_go_on(text, piece) else self._complete(text)
        if not text:
            return _OPEN
        if text.startswith(self._blocked):
            return OTHER
        reached = {self._options[word] for word in self._longer(text)}
        return _OPEN if reached - {self._complete(text)} else self._complete(text)

    def value_at_end(self, path: bytes) -> str:
        """Returns the value of the bytes if the answer ends after them."""
        text, piece = _decode(path)
        return OTHER if piece else self._complete(text)

    def value_of_unlisted(self, path: bytes, listed: Sequence[bytes]) -> str:
        """Returns the value to count for tokens after `path` that the server does not list."""
        text, _ = _decode(path)
        missing = [word[len(text) :].encode() for word in self._longer(text)]
        if self._complete(text) == OTHER or not all(
            any(_meet(rest, token) for token in listed) for rest in missing
        ):
            return UNRESOLVED
        return self._complete(text)

    def _longer(self, text: str) -> list[str]:
        return [word for word in self._words if word.startswith(text) and word != text]

    def _complete(self, text: str) -> str:
        """Returns the option whose form is the text or its first whole word(s); else `other`."""
        for word in self._words:
            if text.startswith(word) and _ends(word, text[len(word) :]):
                return self._options[word]
        return OTHER

    def _may_go_on(self, text: str, piece: bytes) -> bool:
        """True if a cut-off character may belong to a form, a listed word or a lead-in."""
        rests = [
            word[len(text) :] for word in (*self._words, *self._blocked) if word.startswith(text)
        ]
        rests += [] if text else [*_BEFORE, "\u3000", "\u00a0"]
        spelled = (
            variant.encode() for rest in rests for variant in (rest, rest.upper(), rest.title())
        )
        return any(
            s.startswith(piece) or (piece.startswith(_LOST) and s[:1] >= b"\x80") for s in spelled
        )


class Path(NamedTuple):
    """An unsettled token sequence. mass: its probability; depth: its number of tokens."""

    mass: float
    depth: int


class Tree:
    """The probability of one trial: the shares settled so far, and the paths still open."""

    def __init__(self, places: AnswerPlaces, subject: str) -> None:
        self._places, self._subject = places, subject
        self.shares: defaultdict[str, float] = defaultdict(float)
        self.open: dict[bytes, Path] = {}

    def grow(self, path: bytes, tokens: Sequence[Token]) -> None:
        """Divides the probability of an open path among the tokens listed after it."""
        mass, depth = self.open.pop(path)
        listed = [(token.bytes, math.exp(min(token.logprob, 1.0))) for token in tokens]
        total = math.fsum(p for _, p in listed)
        if not total <= 1 + ROUNDING:
            raise Incapable(
                f"{self._subject} lists log-probabilities whose probabilities sum to {total:.2f}; "
                "they cannot be natural logarithms at one position. Type: --mode sampled"
            )
        scale = mass / total if total > 1 - EXACT else mass
        for token, p in listed:
            self._put(path, token, p * scale, depth + 1)
        self.shares[self._places.value_of_unlisted(path, [token for token, _ in listed])] += max(
            0.0, mass - total * scale
        )

    def _put(self, path: bytes, token: bytes, mass: float, depth: int) -> None:
        # no bytes: the answer ends
        kind = self._places.of(path + token) if token else self._places.value_at_end(path)
        if kind == _OPEN:
            before = self.open.get(path + token, Path(0.0, depth))
            self.open[path + token] = Path(before.mass + mass, depth)
        else:
            self.shares[UNRESOLVED if kind == _PIECE else kind] += mass

    def give_up(self, path: bytes) -> None:
        """Counts the probability of an open path as `unresolved` and closes the path."""
        self.shares[UNRESOLVED] += self.open.pop(path).mass

    def worth(self, number: int) -> list[bytes]:
        """Returns up to `number` open paths, likeliest first, that justify a call."""
        candidates = [
            prefix
            for prefix, path in self.open.items()
            if path.mass >= THRESHOLD and path.depth < DEPTH
        ]
        return sorted(candidates, key=lambda prefix: -self.open[prefix].mass)[:number]


def read_probabilities(item: Answered, forms: Forms, code: str, annotator: str) -> Asking:
    """Returns the shares of the options, `other` and `unresolved`, which sum to 1. Yields further
    requests to the subject.

    Raises Incapable if the reply has no log-probabilities, or impossible ones.
    """
    trial = item.trial
    if not item.reply.alternatives:
        raise Incapable(
            f"{trial.subject} gives no log-probabilities, which --mode {trial.mode} needs. Type: "
            "--mode sampled"
        )
    tree = Tree(AnswerPlaces(forms, code), trial.subject)
    tree.open[b""] = Path(1.0, 0)
    tree.grow(b"", item.reply.alternatives[0])
    calls_left = CALLS
    while paths := tree.worth(calls_left):
        calls_left -= len(paths)
        replies = yield [_further(item, prefix, annotator) for prefix in paths]
        for prefix, reply in zip(paths, replies, strict=True):
            if reply.outcome == ANSWER and reply.alternatives:
                tree.grow(prefix, reply.alternatives[0])
            else:
                tree.give_up(prefix)
    for prefix in list(tree.open):
        tree.give_up(prefix)
    order = (*forms, OTHER, UNRESOLVED)
    return {value: tree.shares[value] for value in order if tree.shares[value] > 0}


def _further(item: Answered, path: bytes, annotator: str) -> Request:
    """Makes the trial's request again, with `path` appended to the start of the answer."""
    trial = item.trial
    return Request(
        trial.subject,
        trial.messages,
        trial.sampling,
        trial.begin + path.decode(),
        len(item.reply.alternatives[0]),
        purpose=annotator,
        nonce=f"{trial.id}/{path.hex()}",
    )


def _decode(path: bytes) -> tuple[str, bytes]:
    """Decodes bytes to folded text without a lead-in; returns also a cut-off last character."""
    whole, lost, after = path.partition(_LOST)
    try:
        text, piece = whole.decode(), lost + after
    except UnicodeDecodeError as error:
        text, piece = path[: error.start].decode(), path[error.start :]
    return _bare(fold(text)), piece


def _bare(text: str) -> str:
    while (shorter := text.lstrip().lstrip(_BEFORE)) != text:
        text = shorter
    return text


def _ends(word: str, rest: str) -> bool:
    """True if a form ends before `rest`: no letter follows, or the script has no spaces."""
    if not rest or is_unspaced(word[-1]):
        return True
    return not (rest[0].isalnum() or rest[0] in _INSIDE or is_mark(rest[0]))


def _meet(rest: bytes, token: bytes) -> bool:
    """True if a token is the beginning of the missing rest of a form, or begins with that rest."""
    folded = fold(token.decode("utf-8", "replace")).encode()
    return bool(token) and (rest.startswith((token, folded)) or folded.startswith(rest))
