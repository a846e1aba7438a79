"""Verdicts with their wording and colour. Nothing else decides by the text of a verdict."""

from enum import StrEnum
from typing import Self


class Tone(StrEnum):
    """Quality of a figure, from green to red; NONE makes no judgement."""

    GOOD = "good"
    FAIR = "fair"
    WEAK = "weak"
    POOR = "poor"
    NONE = "none"


class GateResult(StrEnum):
    """Result of comparing a figure with the minimum of a gate."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    NOT_EVALUABLE = "not_evaluable"


class GateState(StrEnum):
    """State of a gate over all questions."""

    OPEN = "open"
    UNDECIDED = "undecided"
    PARTLY_OPEN = "partly open"
    BELOW = "below, does not block"
    CLOSED = "closed"

    @property
    def tone(self) -> Tone:
        """Its colour."""
        return {
            self.OPEN: Tone.GOOD,
            self.UNDECIDED: Tone.FAIR,
            self.PARTLY_OPEN: Tone.FAIR,
            self.BELOW: Tone.WEAK,
            self.CLOSED: Tone.POOR,
        }[self]


class JudgeVerdict(StrEnum):
    """Agreement of a judge with humans on one question, the best first.

    Attributes:
        sentence: The verdict as the predicate of a sentence about the judge.
        tone: Its colour.
    """

    sentence: str
    tone: Tone

    MATCHES_HUMANS = ("matches_humans", "matches human agreement", Tone.GOOD)
    INCONCLUSIVE = ("inconclusive", "is inconclusive: more response groups are needed", Tone.FAIR)
    BELOW_HUMANS = ("below_humans", "is below human agreement", Tone.WEAK)
    LIKE_PROMPT = (
        "like_prompt",
        "is not shown to tell responses of one group apart",
        Tone.POOR,
    )
    LIKE_CONSTANT = (
        "like_constant",
        "is not shown to be better than one constant score",
        Tone.POOR,
    )
    LIKE_SHUFFLED = (
        "like_shuffled",
        "is not shown to be better than its shuffled scores",
        Tone.POOR,
    )
    AGAINST_HUMANS = ("against_humans", "contradicts human ratings", Tone.POOR)
    REPEATS_A_RATER = (
        "repeats_a_rater",
        "gives the scores of one rater throughout",
        Tone.POOR,
    )
    NOT_COMPARED = ("not_compared", "scored no response that humans rated", Tone.NONE)

    def __new__(cls, value: str, sentence: str, tone: Tone) -> Self:
        """Return the member of a value, with its wording."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        member.tone = tone
        return member

    @property
    def rank(self) -> int:
        """Position among the verdicts, the best first."""
        return list(JudgeVerdict).index(self)

    @property
    def is_control(self) -> bool:
        """Return whether a judge that never reads the responses could do as well."""
        return self in {
            self.LIKE_PROMPT,
            self.LIKE_CONSTANT,
            self.LIKE_SHUFFLED,
            self.AGAINST_HUMANS,
        }


class Fitness(StrEnum):
    """Verdict of a sealed test on the use of a judge in place of a human rater."""

    FIT = "fit"
    UNFIT = "unfit"
    UNDECIDED = "undecided"
    NOT_EVALUABLE = "not_evaluable"

    @property
    def tone(self) -> Tone:
        """Its colour."""
        return {self.FIT: Tone.GOOD, self.UNFIT: Tone.POOR, self.UNDECIDED: Tone.FAIR}.get(
            self, Tone.NONE
        )
