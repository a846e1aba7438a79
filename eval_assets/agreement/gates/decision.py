"""Decision of each gate from measured figures and declared minimums.

The asset checks call it, and so does every asset behind the gates: Dagster's blocking checks hold
back only what is directly downstream in the same run.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from eval_assets.agreement.gates.declarations import GATES
from eval_assets.bands import CONTRADICTING_ALPHA, FEWEST_GROUPS
from eval_assets.config.evaluation import USUAL_MINIMUMS, Gate, GateName, Severity
from eval_assets.scale import TOLERANCE
from eval_assets.stats import more_to_decide, probability_below
from eval_assets.stats.intervals import FEWEST_DELETIONS
from eval_assets.verdicts import GateResult, Verdict
from eval_assets.wording import counted, figure_text, or_none, planned

_FEWEST_UNITS = 2
"""One unit, or one group of units, cannot show agreement beyond chance."""


@dataclass(frozen=True)
class GateFigure:
    """One measured value that a gate compares, with the figures that explain it.

    Args:
        undefined_because: Why `value` is NaN; empty if it is defined.
        little_variation: Note on ratings that hardly vary, if that explains a low alpha; else
        empty.
        n_groups: Response groups that the units belong to; None if each unit is its own.
        settled: The value if all disagreements were settled; NaN if there are none.
        repetition: Note on judges that give equal scores throughout; else empty.
    """

    question_id: str | None
    value: float
    low: float
    high: float
    n_units: int
    undefined_because: str = ""
    little_variation: str = ""
    n_disagreements: int = 0
    n_groups: int | None = None
    by_chance: float = 0.0
    settled: float = math.nan
    repetition: str = ""

    def n_more(self, minimum: float) -> int | None:
        """Return the further units with which four of five studies have a clear verdict.

        It is rounded up to two digits. None with too few groups, and where `more_to_decide` is.
        """
        n_groups = self.n_units if self.n_groups is None else self.n_groups
        n_more = more_to_decide(
            self.value, low=self.low, high=self.high, limit=minimum, n=self.n_units
        )
        return planned(n_more) if n_groups >= FEWEST_GROUPS and n_more is not None else None


def run_again(folder: Path) -> str:
    """Return the remedy for stored figures of an evaluation that are missing or old."""
    return f"Run eval-assets run --data {quote(str(folder))}"


@dataclass(frozen=True)
class Unusable:
    """Reason why stored figures cannot be compared: missing, or older than the data.

    Args:
        folder: The evaluation folder, of which a run measures them.
        changed: Tables whose files changed after they were read.
    """

    reason: str
    folder: Path
    changed: tuple[str, ...] = ()

    @property
    def remedy(self) -> str:
        """What to do, without a full stop."""
        return run_again(self.folder)

    def sentence(self, table: str) -> str:
        """Return the reason and the remedy, with the table of the figures as their subject."""
        return f"{table} is {self.reason}. {self.remedy}."


@dataclass(frozen=True)
class GateEvidence:
    """All figures that one gate compares.

    Args:
        figures: One overall and one per question; empty if nothing was measured.
        data_version: Version of the measured data; empty if nothing was measured.
        unusable: Reason why the figures cannot be compared; None if they can.
    """

    figures: tuple[GateFigure, ...]
    data_version: str = ""
    unusable: Unusable | None = None


@dataclass(frozen=True, kw_only=True)
class GateVerdict(GateFigure):
    """A figure with a gate's verdict on it; a row of the table `gate_verdicts`.

    Args:
        explanation: Reason of the verdict, without the remedy.
        remedy: Next step, without a full stop; empty if there is none.
    """

    gate: GateName
    minimum: float
    verdict: GateResult
    explanation: str
    remedy: str

    @property
    def reason(self) -> str:
        """The explanation, with the remedy if there is one."""
        return f"{self.explanation}. {self.remedy}" if self.remedy else self.explanation

    def to_json(self) -> dict[str, object]:
        """Return the verdict in the types of JSON; an undefined figure is None."""
        fields = vars(self) | {
            name: or_none(getattr(self, name))
            for name in ("value", "low", "high", "by_chance", "settled", "probability_below")
        }
        del fields["explanation"]
        return fields | {
            "verdict": self.verdict.value,
            "state": self.state.value,
            "reason": self.reason,
        }

    @property
    def state(self) -> Verdict:
        """The verdict by the interval; `verdict` follows what the gate compares."""
        if self.verdict is GateResult.NOT_EVALUABLE and not self.n_units:
            return Verdict.NOT_MEASURED
        return Verdict.of_interval(self, minimum=self.minimum)

    @property
    def probability_below(self) -> float:
        """Probability that agreement is truly below the minimum; NaN without an interval."""
        return _probability_below(self.gate, self, self.minimum)

    @property
    def is_inconclusive(self) -> bool:
        """Return whether the interval contains the minimum."""
        return self.verdict is not GateResult.NOT_EVALUABLE and _holds(self, self.minimum)


@dataclass(frozen=True)
class GateOutcome:
    """The verdicts of one gate on all its figures.

    Args:
        severity: `warn` if the gate never blocks.
        data_version: Version of the data that the verdicts belong to.
        unusable: Reason why the figures cannot be compared; None if they can.
    """

    gate: GateName
    severity: Severity
    overall: GateVerdict
    questions: tuple[GateVerdict, ...]
    is_closed: bool
    data_version: str
    unusable: Unusable | None

    def to_json(self) -> dict[str, object]:
        """Return the outcome in the types of JSON."""
        return {
            "gate": self.gate,
            "severity": self.severity,
            "is_closed": self.is_closed,
            "state": self.state.value,
            "reason": self.reason,
            "verdicts": [verdict.to_json() for verdict in (self.overall, *self.questions)],
        }

    @property
    def title(self) -> str:
        """Name of the figure that the gate compares."""
        return GATES[self.gate].title

    @property
    def passed(self) -> bool:
        """Return whether the gate passes overall and on every question."""
        return self.overall.verdict is GateResult.PASS and not self._failing

    @property
    def state(self) -> Verdict:
        """The verdict of the worst question, by its interval."""
        if self.unusable is not None:
            return Verdict.NOT_MEASURED
        return Verdict.worst(of.state for of in self.questions or (self.overall,))

    @property
    def reason(self) -> str:
        """The verdict in words, with the remedy if the gate is not open for every question."""
        return ". ".join(filter(None, (self.explanation, self.advice)))

    @property
    def explanation(self) -> str:
        """The verdict in words, without the remedy."""
        if self.passed or self.overall.verdict is not GateResult.PASS:
            return self.overall.explanation
        failing = ", ".join(f"{v.question_id} ({_in_short(v)})" for v in self._failing)
        if self.is_closed:
            verb = "do" if len(self._failing) > 1 else "does"
            consequence = f"No question passes every gate; {failing} {verb} not pass this one"
        elif self.severity == "warn":
            consequence = f"Not reached on {failing}"
        else:
            consequence = f"Left out of tuning: {failing}"
        return f"{self.overall.explanation}. {consequence}"

    @property
    def advice(self) -> str:
        """The remedy in words; empty if there is none."""
        if self.overall.verdict is not GateResult.PASS or not self._failing:
            return self.overall.remedy
        worst = min(self._failing, key=lambda v: v.value if math.isfinite(v.value) else -math.inf)
        start = f"Start with {worst.question_id}: " if len(self._failing) > 1 else ""
        return f"{start}{worst.remedy}" if worst.remedy else ""

    @property
    def _failing(self) -> list[GateVerdict]:
        return [verdict for verdict in self.questions if verdict.verdict is not GateResult.PASS]


def evaluate_gates(
    evidence: Mapping[GateName, GateEvidence], gates: Mapping[GateName, Gate]
) -> tuple[GateOutcome, ...]:
    """Decide every gate that applies.

    Args:
        evidence: Figures of each gate that applies; a gate without a key does not.
        gates: Minimums declared now.

    Returns:
        One outcome per gate, in the order of `evidence`. A gate blocks if its overall value is
        below the minimum (by more than 1e-9), undefined, missing or older than the data; and if
        no question passes every blocking gate with usable figures, unless another gate that no
        question passes explains it.

    Examples:
        >>> good = GateFigure(None, value=0.81, low=0.78, high=0.84, n_units=200)
        >>> [outcome] = evaluate_gates(
        ...     {"human_a_hh": GateEvidence((good,), "v1")}, {"human_a_hh": Gate(minimum=0.75)}
        ... )
        >>> outcome.is_closed, outcome.reason
        (False, '0.81 reaches the minimum 0.75')
    """
    verdicts = {
        name: [
            _verdict(name, figure, gates[name], of_gate.unusable)
            for figure in _overall_first(of_gate)
        ]
        for name, of_gate in evidence.items()
    }
    for of_gate in verdicts.values():
        if len(of_gate) == 2 and all(verdict.is_inconclusive for verdict in of_gate):  # noqa: PLR2004
            # An only question has one number, though its alpha may be at another level.
            overall, only = of_gate
            of_gate[1] = replace(only, remedy=overall.remedy)
    blocking = [
        of_gate
        for name, of_gate in verdicts.items()
        if gates[name].severity == "error" and evidence[name].unusable is None
    ]
    none_passes = _no_question_passes(blocking)
    # A gate that passes no question is the reason; gates that pass some questions stay open.
    is_explained = any(_has_failing(of) and not _has_passing(of) for of in blocking)
    return tuple(
        GateOutcome(
            gate=name,
            severity=gates[name].severity,
            overall=overall,
            questions=tuple(questions),
            is_closed=gates[name].severity == "error"
            and (
                overall.verdict is not GateResult.PASS
                or (
                    none_passes
                    and _has_failing(questions)
                    and not (is_explained and _has_passing(questions))
                )
            ),
            data_version=evidence[name].data_version,
            unusable=evidence[name].unusable,
        )
        for name, (overall, *questions) in verdicts.items()
    )


def tunable_questions(
    outcomes: Sequence[GateOutcome], question_ids: Sequence[str]
) -> tuple[str, ...]:
    """Return the questions with a passing figure in every blocking gate; none if one is closed."""
    if any(outcome.is_closed for outcome in outcomes):
        return ()
    passing = [
        {v.question_id for v in outcome.questions if v.verdict is GateResult.PASS}
        for outcome in outcomes
        if outcome.severity == "error"
    ]
    return tuple(
        question_id
        for question_id in question_ids
        if all(question_id in questions for questions in passing)
    )


def _overall_first(evidence: GateEvidence) -> list[GateFigure]:
    """Return the overall figure, undefined if it was not measured, then those of the questions."""
    overall = [figure for figure in evidence.figures if figure.question_id is None]
    missing = GateFigure(None, math.nan, math.nan, math.nan, 0)
    return [*(overall or [missing]), *(f for f in evidence.figures if f.question_id is not None)]


def _has_passing(verdicts: Sequence[GateVerdict]) -> bool:
    return any(v.question_id and v.verdict is GateResult.PASS for v in verdicts)


def _has_failing(verdicts: Sequence[GateVerdict]) -> bool:
    return any(v.question_id and v.verdict is not GateResult.PASS for v in verdicts)


def _no_question_passes(by_gate: Sequence[Sequence[GateVerdict]]) -> bool:
    """Return whether every measured question fails one of these gates."""
    measured = [{v.question_id: v.verdict for v in of_gate if v.question_id} for of_gate in by_gate]
    measured = [by_question for by_question in measured if by_question]
    questions = set[str]().union(*measured)
    return bool(questions) and not any(
        all(by_question.get(question_id) is GateResult.PASS for by_question in measured)
        for question_id in questions
    )


def _verdict(
    name: GateName, figure: GateFigure, gate: Gate, unusable: Unusable | None
) -> GateVerdict:
    result, (explanation, remedy) = GateResult.NOT_EVALUABLE, _not_evaluable(name, figure, gate)
    if unusable:
        explanation, remedy = unusable.reason, unusable.remedy
    elif not explanation:
        is_reached = gate.is_reached(value=figure.value, low=figure.low)
        result = GateResult.PASS if is_reached else GateResult.FAIL
        explanation, remedy = _comparison(name, figure, gate, result)
        if result is GateResult.PASS and (missing := _missing_evidence(name, figure, gate.minimum)):
            result, explanation = GateResult.NOT_EVALUABLE, missing
            if figure.n_groups is not None and figure.n_groups < min(FEWEST_GROUPS, figure.n_units):
                remedy = _ADD_GROUPS
    return GateVerdict(
        **vars(figure),
        gate=name,
        minimum=gate.minimum,
        verdict=result,
        explanation=explanation,
        remedy=remedy,
    )


def _not_evaluable(name: GateName, figure: GateFigure, gate: Gate) -> tuple[str, str]:
    """Return why a figure cannot be compared, and the remedy; nothing if it can."""
    units = GATES[name].units
    if figure.n_units < _FEWEST_UNITS:
        singular = units.replace("responses", "response").replace("units", "unit")
        n_units = f"1 {singular}" if figure.n_units else f"no {units}"
        remedy = f"Have {'more ' if figure.n_units else ''}responses {_RATED_TWICE}"
        if GATES[name].raters == "judge":
            remedy = _SCORE_MORE if figure.n_units else _FIND_SCORES
        return f"{n_units}; at least 2 are needed", remedy
    if figure.n_groups is not None and figure.n_groups < _FEWEST_UNITS:
        reason = f"all {figure.n_units} {units} belong to one response group"
        return f"{reason}; at least {_FEWEST_UNITS} are needed", _ADD_GROUPS
    if not math.isfinite(figure.value):
        # With two units or more, only equal ratings leave a figure undefined.
        return figure.undefined_because or "undefined", _ADD_VARIETY
    if math.isnan(figure.low + figure.high):
        return _without_interval(name, figure, gate.minimum), _more_ratings(
            name, figure, gate.minimum
        )
    return "", ""


def _without_interval(name: GateName, figure: GateFigure, minimum: float) -> str:
    """Return why a defined figure has no interval: the jackknife leaves out what it depends on.

    Without that response or group, the others of a question are all rated the same, or none is
    left. Of more groups than `FEWEST_DELETIONS`, the jackknife may leave out several at once.
    """
    n_groups = figure.n_units if figure.n_groups is None else figure.n_groups
    noun = "responses" if n_groups == figure.n_units else "response groups"
    quantity = "one" if n_groups <= FEWEST_DELETIONS else "some"
    value = GATES[name].statistic.text(figure.value, minimum=minimum)
    return (
        f"{value} has no interval, because it would be undefined without {quantity} of the "
        f"{n_groups:,} {noun}"
    )


def _comparison(
    name: GateName, figure: GateFigure, gate: Gate, result: GateResult
) -> tuple[str, str]:
    """Return how a defined figure compares with its minimum, and the remedy if one is due."""
    minimum = gate.minimum
    statistic = GATES[name].statistic
    value, low, high = (
        statistic.text(number, minimum=minimum)
        for number in (figure.value, figure.low, figure.high)
    )
    subject = value if gate.by == "value" else f"the lower end {low} of {value}"
    verb = "reaches" if result is GateResult.PASS else "is below"
    required = statistic.minimum_text(minimum)
    explanation = f"{subject} {verb} the minimum {required}{_lowered(name, minimum)}"
    if _holds(figure, minimum):
        so_far = ", so tuning may go on" if result is GateResult.PASS else " so far"
        probability = _probability_below(name, figure, minimum)
        explanation += (
            f"{so_far}; {low} to {high} does not settle it, and the probability that agreement is "
            f"below the minimum is {probability:.2f}"
        )
        if result is GateResult.PASS and gate.by == "value" and probability > _OFTEN_BELOW:
            explanation += " (by: low asks for 0.025)"
        return explanation + _copy_note(figure), _more_ratings(name, figure, minimum)
    remedy = "" if result is GateResult.PASS else _remedy(name, figure, minimum)
    return explanation + _copy_note(figure), remedy


_OFTEN_BELOW = 0.1
"""Probability of agreement below the minimum from which on an open gate offers `by: low`."""


def _probability_below(name: GateName, figure: GateFigure, minimum: float) -> float:
    statistic = GATES[name].statistic
    value, low, high, limit = (
        number / statistic.highest for number in (figure.value, figure.low, figure.high, minimum)
    )
    n_groups = figure.n_units if figure.n_groups is None else figure.n_groups
    return probability_below(
        value, low=low, high=high, limit=limit, n_groups=n_groups, is_share=statistic.is_share
    )


def _copy_note(figure: GateFigure) -> str:
    """Return the end of a sentence about judges that repeat each other; else nothing."""
    return f"; {figure.repetition}" if figure.repetition else ""


def _holds(figure: GateFigure, minimum: float) -> bool:
    """Return whether the figure's interval lies on both sides of the minimum."""
    return figure.low < minimum - TOLERANCE and minimum + TOLERANCE < figure.high


def _missing_evidence(name: GateName, figure: GateFigure, minimum: float) -> str:
    """Return why a figure above the minimum shows nothing; empty if its interval is above it."""
    if not _holds(figure, minimum):
        return ""
    n_groups = figure.n_units if figure.n_groups is None else figure.n_groups
    statistic = GATES[name].statistic
    value, low, high = (
        statistic.text(number, minimum=minimum)
        for number in (figure.value, figure.low, figure.high)
    )
    measured = f"agreement of {value}, with interval {low} to {high}"
    if n_groups < FEWEST_GROUPS:
        requirement = f"if the interval contains the minimum, at least {FEWEST_GROUPS} are needed"
        return f"{measured}, rests on {n_groups} response groups; {requirement}"
    if figure.low < figure.by_chance - TOLERANCE:
        chance = figure_text(figure.by_chance, limits=[])
        return f"{measured}, may be no better than chance, {chance}"
    return ""


def _is_lowered(name: GateName, minimum: float) -> bool:
    return minimum < USUAL_MINIMUMS.get(name, minimum) - TOLERANCE


def _lowered(name: GateName, minimum: float) -> str:
    if not _is_lowered(name, minimum):
        return ""
    return f" (lowered from {USUAL_MINIMUMS[name]:g})"


_RATED_TWICE = "rated by two raters or more"
_ADD_GROUPS = "Add responses to other prompts"
_ADD_VARIETY = "Add responses that differ more: agreement beyond chance shows only if ratings vary"
_FIND_SCORES = "Find out why scores are missing, and run the judges again"
_IF_ALL_SCORED = ", new ones if all are scored"
_SCORE_MORE = f"Have the judges score more responses{_IF_ALL_SCORED}"
_RARER = ", above all some that deserve the rarer values"

_MOST_DISCUSSED = 20
"""Longest list of responses to discuss, of those that differ most."""


def _more_ratings(name: GateName, figure: GateFigure, minimum: float) -> str:
    """Return the remedy to collect more data, with the number that would decide.

    More data on a figure below the minimum keep the gate closed if the figure stays.
    """
    if figure.by_chance > 1 - TOLERANCE:  # all ratings are equal
        return _ADD_VARIETY
    n_more = figure.n_more(minimum)
    responses = "more responses" if n_more is None else f"about {counted(n_more, 'more response')}"
    text, step, end = "rubric", f"ave {responses} {_RATED_TWICE}", ""
    if GATES[name].raters == "judge":
        text, step, end = "judge prompt", f"ave the judges score {responses}", _IF_ALL_SCORED
    if figure.little_variation:
        return f"H{step}{_RARER}"
    if figure.value >= minimum - TOLERANCE:
        return f"H{step}{end}"
    comma = "," if end else ""
    return f"Revise the {text}, or h{step}{end}{comma} to settle whether it is too low"


def _remedy(name: GateName, figure: GateFigure, minimum: float) -> str:  # noqa: PLR0911 - one each
    """Return what to do about a figure that is certainly below its minimum."""
    if GATES[name].raters == "judge":
        if figure.little_variation and not figure.high < CONTRADICTING_ALPHA:
            return f"Have the judges score more responses{_RARER}"
        return "Compare the judges' replies and revise the judge prompt"
    if not figure.n_disagreements and figure.little_variation:
        return (
            f"There is no disagreement to discuss: {figure.little_variation}. Add responses that "
            "deserve the rarer values"
        )
    if not figure.n_disagreements:
        return (
            "No single response explains it: check whether a rater is stricter than the others, "
            "give an example response for every value of the scale, then have new responses rated"
        )
    n = figure.n_disagreements
    disagreements = f"the {n:,} disagreements" if n > 1 else "the disagreement"
    is_reversed = name == "human_alpha" and figure.high < CONTRADICTING_ALPHA
    if figure.settled < minimum - TOLERANCE and not is_reversed:
        settled = GATES[name].statistic.text(figure.settled, minimum=minimum)
        return (
            "Revise the question and give an example response for every value, then have new "
            f"responses rated. Settling {disagreements} would only reach {settled}"
        )
    largest = f"the first {_MOST_DISCUSSED} of {n:,} disagreements"
    start = f"Discuss {largest if n > _MOST_DISCUSSED else disagreements} with the raters,"
    if is_reversed:
        return (
            f"{start} check whether one of them reads the scale in reverse, and if so have that "
            "rater label again"
        )
    return f"{start} revise the rubric, then have new responses rated"


def _in_short(verdict: GateVerdict) -> str:
    """Return a verdict that is not a pass in two words."""
    if verdict.verdict is GateResult.NOT_EVALUABLE:
        return "not evaluable"
    return GATES[verdict.gate].statistic.text(verdict.value, minimum=verdict.minimum)
