"""Verdicts with their wording and colour. Nothing else decides by the text of a verdict."""

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from eval_assets.bands import HasInterval
from eval_assets.scale import TOLERANCE


class Tone(StrEnum):
    """Quality of a figure, from green to red; NONE makes no judgement."""

    GOOD = "good"
    FAIR = "fair"
    WEAK = "weak"
    POOR = "poor"
    NONE = "none"


class Verdict(StrEnum):
    """State of labels or of a judge, as users see it.

    Attributes:
        word: Its word, on every screen.
        sign: Sign beside the word, for readers who see no colour.
        tone: Its colour.
        exit_code: Exit code of a command whose worst verdict it is.
    """

    word: str
    sign: str
    tone: Tone
    exit_code: int

    PASS = ("pass", "PASS", "✓", Tone.GOOD, 0)
    NOT_MEASURED = ("not_measured", "NOT MEASURED", "\N{EN DASH}", Tone.NONE, 4)
    NEED_MORE_DATA = ("need_more_data", "NEED MORE DATA", "?", Tone.FAIR, 4)
    FAIL = ("fail", "FAIL", "✗", Tone.POOR, 3)

    def __new__(cls, value: str, word: str, sign: str, tone: Tone, exit_code: int) -> Self:
        """Return the member of a value, with its wording."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.word = word
        member.sign = sign
        member.tone = tone
        member.exit_code = exit_code
        return member

    @property
    def short_word(self) -> str:
        """Its word in a table with a column for each judge."""
        return {Verdict.NEED_MORE_DATA: "MORE", Verdict.NOT_MEASURED: "--"}.get(self, self.word)

    @property
    def rank(self) -> int:
        """Position among the verdicts, the best first."""
        return list(Verdict).index(self)

    @classmethod
    def worst(cls, verdicts: Iterable["Verdict"]) -> "Verdict":
        """Return the worst of some verdicts; NOT_MEASURED of none.

        Examples:
            >>> Verdict.worst([Verdict.PASS, Verdict.NEED_MORE_DATA, Verdict.NOT_MEASURED]).word
            'NEED MORE DATA'
        """
        return max(verdicts, key=lambda verdict: verdict.rank, default=cls.NOT_MEASURED)

    @classmethod
    def of_interval(cls, figure: HasInterval, *, minimum: float) -> "Verdict":
        """Return the verdict on a figure: on which side of the minimum its whole interval lies.

        Examples:
            >>> from eval_assets.catalogue import Figure
            >>> Verdict.of_interval(Figure(0.81, 0.75, 0.86), minimum=0.667).word
            'PASS'
            >>> Verdict.of_interval(Figure(0.7, 0.6, 0.8), minimum=0.667).word
            'NEED MORE DATA'
        """
        if math.isnan(figure.value):
            return cls.NOT_MEASURED
        if figure.low >= minimum - TOLERANCE:
            return cls.PASS
        return cls.FAIL if figure.high < minimum - TOLERANCE else cls.NEED_MORE_DATA


class GateResult(StrEnum):
    """Result of comparing a figure with the minimum of a gate."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    NOT_EVALUABLE = "not_evaluable"


_TEST_STATES = {
    "fit": Verdict.PASS,
    "fit_in_part": Verdict.PASS,
    "accepted": Verdict.PASS,
    "undecided": Verdict.NEED_MORE_DATA,
    "inconclusive": Verdict.NEED_MORE_DATA,
    "unfit": Verdict.FAIL,
    "rejected": Verdict.FAIL,
}


def state_of_test(verdict: str | None, *, has_pairs: bool) -> Verdict:
    """Return the state of a judge, or of its tuning, by the verdict of a held-out test.

    One that was not evaluated or not asked is NOT MEASURED. One that was not evaluable needs more
    data if `has_pairs`: if the judge was compared with people who agree, on too few groups.

    Examples:
        >>> state_of_test("inconclusive", has_pairs=True).word
        'NEED MORE DATA'
        >>> [state_of_test("not_evaluable", has_pairs=of).word for of in (True, False)]
        ['NEED MORE DATA', 'NOT MEASURED']
    """
    if verdict == "not_evaluable" and has_pairs:
        return Verdict.NEED_MORE_DATA
    return _TEST_STATES.get(verdict or "", Verdict.NOT_MEASURED)
