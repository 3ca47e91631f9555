"""All headline claims of a run, with the selections that the first sentence needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ....stats.results import count_of
from ..verdict_words import Word
from .clauses import is_tested
from .facts import ClaimFacts, Nuisance, Strength, strength


@dataclass(frozen=True)
class Claims:
    """All headline claims of a run, with the selections that the first sentence needs."""

    every: tuple[ClaimFacts, ...]

    @cached_property
    def questions(self) -> list[ClaimFacts]:
        """The claims not about a nuisance; if rules plus a judge labelled some, only these; without
        those over too few items, if others were tested.
        """
        enough = [facts for facts in self._asked if not facts.few]
        return enough if any(map(is_tested, enough)) else self._asked

    @cached_property
    def _asked(self) -> list[ClaimFacts]:
        asked = [facts for facts in self.every if not facts.spec.nuisance] or list(self.every)
        return [facts for facts in asked if facts.joined] or asked

    @property
    def left_out(self) -> list[str]:
        """Says how many claims have too few items to be among the questions; [] if none has."""
        number = len(self._asked) - len(self.questions)
        noun = self.lead.nouns[1]
        return [f"not enough {noun} for {count_of(number, 'other comparison')}"] if number else []

    @cached_property
    def tilts(self) -> list[ClaimFacts]:
        """The questions with a tilt; first missing answers and refusals, as they decide who is
        answered at all.
        """
        facts_with_tilt = [facts for facts in self.questions if facts.tilts]
        return sorted(facts_with_tilt, key=lambda facts: (not facts.unanswered, not facts.refusals))

    @cached_property
    def tested(self) -> list[ClaimFacts]:
        """The questions that were tested against a null value."""
        return [facts for facts in self.questions if is_tested(facts)]

    @cached_property
    def lead(self) -> ClaimFacts:
        """The claim to lead with. If any tilts: among the claims of the first measure with a tilt
        beyond weak signs (else of the first with a tilt), the one whose interval lies farthest from
        no tilt. If none tilts: the first by verdict, p, order in the protocol and size.
        """
        if self.tilts:
            strong = [facts for facts in self.tilts if strength(facts.row) is not Strength.WEAK]
            first = (strong or self.tilts)[0].spec.name
            of_first = [facts for facts in self.tilts if facts.spec.name == first]
            return max(of_first, key=lambda facts: (facts.least, facts.effect))
        order = list(dict.fromkeys(facts.spec.name for facts in self.questions))
        return min(
            [facts for facts in self.questions if not facts.unanswered] or self.questions,
            key=lambda facts: (
                facts.word.record.look.weight,
                facts.refusals,
                facts.row.p if facts.word == Word.UNDECIDED and facts.row.p is not None else 0.0,
                order.index(facts.spec.name),
                -facts.effect,
            ),
        )

    @cached_property
    def alike(self) -> list[ClaimFacts]:
        """The leading claim, and the same claim in other models, languages, modes or groups."""
        lead = self.lead
        return [
            facts
            for facts in self.questions
            if facts.spec.name == lead.spec.name
            and facts.what == lead.what
            and facts.row.instrument == lead.row.instrument
        ]

    @cached_property
    def models(self) -> list[str]:
        """The models of the claims in `alike`."""
        return list(dict.fromkeys(facts.model for facts in self.alike))

    @cached_property
    def places(self) -> int:
        """The number of combinations of language, mode and group in `alike`, whatever the model."""
        return len({facts.place for facts in self.alike})

    @cached_property
    def tilting(self) -> list[ClaimFacts]:
        """The claims in `alike` that tilt, the largest tilt first."""
        tilts = [facts for facts in self.alike if facts.tilts]
        return sorted(tilts, key=lambda facts: -facts.effect)

    @cached_property
    def overall(self) -> list[ClaimFacts]:
        """The pooled claim over all languages or groups, if it tilts in the lead's direction."""
        lead = self.lead
        return [
            facts
            for facts in self.tilts
            if facts.spec.over
            and facts.spec.attribute == lead.spec.attribute
            and facts.above == lead.above
            and facts.spec.name != lead.spec.name
        ][:1]

    @cached_property
    def contradicting(self) -> list[ClaimFacts]:
        """The leading claim by annotators whose labels show no tilt, or the other direction."""
        lead = self.lead
        return [
            facts
            for facts in self.questions
            if (facts.spec.name, facts.model) == (lead.spec.name, lead.model)
            and (facts.what, facts.place) == (lead.what, lead.place)
            and facts.row.instrument != lead.row.instrument
            and not (facts.tilts and facts.above == lead.above)
        ]

    @property
    def one_way(self) -> bool:
        """True if all claims in `tilting` tilt in the same direction."""
        return len({facts.above for facts in self.tilting}) == 1

    @cached_property
    def nuisance(self) -> Nuisance | None:
        """The nuisance with the largest significant effect, or None."""
        tested = [facts for facts in self.questions if facts.word.record.tested]
        candidates = [
            nuisance for facts in tested for nuisance in facts.nuisances if nuisance.found
        ]
        among = [
            Nuisance(facts.spec.nuisance, (), facts.effect, True)
            for facts in self.every
            if facts.spec.nuisance and facts.tilts
        ]
        return max([*among, *candidates], key=lambda one: one.size, default=None)

    @property
    def of_nuisance(self) -> list[ClaimFacts]:
        """The claims on the largest nuisance, for its most affected value; only tilts, if any."""
        name = self.nuisance.name if self.nuisance else ""
        of_name = [facts for facts in self.every if name and facts.spec.nuisance == name]
        chosen = [facts for facts in of_name if facts.tilts] or of_name
        largest = max(chosen, key=lambda facts: facts.effect, default=None)
        return [facts for facts in chosen if largest is not None and facts.what == largest.what]

    @property
    def largest(self) -> float:
        """The size of the largest tilt."""
        return max((facts.effect for facts in self.tilts), default=0.0)

    @property
    def outweighed(self) -> bool:
        """True if the largest nuisance moves the numbers more than any tilt does."""
        are_shares = all(facts.row.unit == "share" for facts in self.tilts)
        return self.nuisance is not None and are_shares and self.nuisance.size > self.largest
