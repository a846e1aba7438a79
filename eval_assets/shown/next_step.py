"""The one next step: what to do, how many, and why."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from shlex import join

from eval_assets.agreement.comparing import Assessment
from eval_assets.agreement.diagnosis import DeviatingRater, MixedValues, SeverityGap
from eval_assets.agreement.gates.decision import GATES, GateOutcome
from eval_assets.agreement.judge_comparison import JudgeComparison, JudgeFinding, depends_on_the_gap
from eval_assets.agreement.label_agreement import LabelAgreement
from eval_assets.config.evaluation import Evaluation
from eval_assets.shown.sentences import Words, cause_text
from eval_assets.stats.beside_people import FEWEST_VARIED_GROUPS
from eval_assets.verdicts import Verdict
from eval_assets.wording import count_text, counted, listed, percent_text, planned, shortened

_FIRST_ITEMS = 100
"""Items for two people to rate if nothing tells how often each value is given."""

_FEWEST_NEW = 30
"""New items after a revision at the least: fewer say nothing about the rarer values."""

_CONTRADICTION = -0.1
"""If the whole interval of alpha lies below, people contradict one another. People of whom one is
only stricter can lie a little below 0."""

_MOST_EXAMPLES = 2
_AS_MEASURED = "{judge} is as close as it looks"
_IF_EQUAL = "{judge} agrees with people as they do"
_LONGEST_NAME = 24


class Action(StrEnum):
    """Kinds of next steps; a command may belong to each."""

    RATE_TWICE = "rate_twice"
    VARY = "vary"
    REVISE_QUESTION = "revise_question"
    INSTRUCT_RATER = "instruct_rater"
    DISCUSS = "discuss"
    RATE_MORE = "rate_more"
    SCORE = "score"
    USE_JUDGE = "use_judge"
    TEST_JUDGE = "test_judge"
    REVISE_JUDGE = "revise_judge"
    CLASSIFY_SCORES = "classify_scores"
    REPLACE_SCORES = "replace_scores"
    RUN_AGAIN = "run_again"
    DROP_JUDGE = "drop_judge"


@dataclass(frozen=True)
class NextStep:
    """One thing to do.

    Args:
        sentence: What to do, with the number.
        number: How many; None if it has no number.
        unit: Of what.
        reason: What it achieves; may be empty.
        question: Question that it is about; empty if it is about all.
        judge: Judge that it is about; empty if it is about none.
        examples: Items that it is about, with their ratings.
        command: Command that does it; empty if there is none.
    """

    action: Action
    sentence: str
    number: int | None = None
    unit: str = ""
    reason: str = ""
    question: str = ""
    judge: str = ""
    examples: tuple[str, ...] = ()
    command: str = ""

    @property
    def text(self) -> str:
        """What to do, and what it achieves."""
        return " ".join(filter(None, (self.sentence, self.reason)))


def folder_command(step: NextStep, evaluation: Evaluation) -> str:
    """Return the command that takes a step in an evaluation folder; empty if none does."""
    words = ["run"]
    match step.action:
        case Action.RATE_TWICE:
            words = ["assign", "--responses", str(step.number), "--raters-per-response", "2"]
        case Action.RATE_MORE | Action.VARY | Action.DISCUSS:
            question = ["--question", step.question] if len(evaluation.rubric) > 1 else []
            words = ["assign", "--unlabelled", "--responses", str(step.number), *question]
            words += ["--raters-per-response", "2"]
        case Action.REVISE_QUESTION:
            words = ["rubric", "draft", step.question]
        case Action.INSTRUCT_RATER:
            words = ["why", step.question]
        case Action.USE_JUDGE:
            words = ["certificates"]
        case Action.SCORE if not evaluation.judges:
            return ""
    return join(["eval-assets", *words, "--data", str(evaluation.folder)])


def gate_step(outcome: GateOutcome, labels_step: str) -> str:
    """Return what to do about a gate; empty if it passes, or a run has to measure it first.

    `labels_step` is empty if the labels can be trusted.
    """
    if outcome.unusable or (outcome.passed and outcome.state is Verdict.PASS):
        return ""
    is_of_people = GATES[outcome.gate].raters == "human"
    if is_of_people and labels_step:
        return labels_step
    of = min(
        outcome.failing or (outcome.overall,),
        key=lambda of: (of.n_units > 0, -math.inf if math.isnan(of.value) else of.value),
    )
    n = of.n_more(of.minimum)
    responses = f"about {counted(n, 'more response')}" if n else "more responses"
    if is_of_people:
        step = f"Have {responses} rated by two people"
    elif not of.n_units:
        step = "Find out why scores are missing, and run the judges again"
    elif math.isnan(of.value):
        step = "Have the judges score responses that differ more"
    elif of.state is Verdict.FAIL:
        step = "Compare the judges' replies and revise the judge prompt"
    else:
        step = f"Have the judges score {responses}, new ones if all are scored"
    several = f", {of.question_id} first" if len(outcome.questions) > 1 and of.question_id else ""
    return f"{step}{several}."


def next_step(
    assessment: Assessment, words: Words, *, n_items: int, item_names: Callable[[int], str]
) -> NextStep:
    """Return the first thing that is lacking: labels, their agreement, a judge that is proven."""
    if assessment.outdated_because or any(
        of.finding is JudgeFinding.OUTDATED for of in _all(assessment)
    ):
        return NextStep(Action.RUN_AGAIN, "Run the evaluation on the current data.")
    if assessment.are_judges_apart and (step := _drop_judge(assessment)):
        return step
    labels = assessment.deciding_labels
    several = f", {labels.question.id} first" if len(assessment.labels) > 1 else ""
    match assessment.labels_verdict:
        case Verdict.NOT_MEASURED:
            return _measure_labels(labels, words, n_items)
        case Verdict.FAIL:
            n = _after_revision(labels)
            questions = "questions" if several else "question"
            revision = _revision(labels, words) or (
                f"Rewrite the {questions} with an example for each score"
            )
            is_of_rater = isinstance(labels.cause, DeviatingRater)
            return NextStep(
                Action.INSTRUCT_RATER if is_of_rater else Action.REVISE_QUESTION,
                f"{revision}{several}; then have {count_text(n)} new {words.items} rated.",
                n,
                f"new {words.items}",
                _cause(labels, words)
                or f"More labels under {'these questions' if several else 'this question'} "
                "would not help.",
                labels.question.id,
            )
        case Verdict.NEED_MORE_DATA:
            step = _settle_labels(assessment, labels, words, several, item_names)
            of_judge = _judge_step(assessment, words, item_names)
            # The larger number of the same settles both.
            kinds = {(of.action, of.unit, of.question) for of in (step, of_judge)}
            return step if len(kinds) > 1 else max(step, of_judge, key=lambda of: of.number or 0)
    return _judge_step(assessment, words, item_names)


def _drop_judge(assessment: Assessment) -> NextStep | None:
    """Return that judges unlike people are to go, if they hold up the test of another."""
    unlike = {JudgeFinding.BELOW, JudgeFinding.UNLIKELY, JudgeFinding.ONE_VALUE}
    dropped = {of.judge for of in _all(assessment) if of.finding in unlike}
    rest = [judge for judge in assessment.judges if judge not in dropped]
    if not (dropped and rest):
        return None
    return NextStep(
        Action.DROP_JUDGE,
        f"Take {listed(sorted(dropped))} out of evaluation.yaml.",
        reason=f"Judges that disagree hold up the held-out test of {listed(rest)}.",
    )


def _measure_labels(labels: LabelAgreement, words: Words, n_items: int) -> NextStep:
    reason = "That shows whether people agree, and what a judge must reach."
    if not labels.n_ratings:
        n = min(n_items, _FIRST_ITEMS) or _FIRST_ITEMS
        return NextStep(
            Action.RATE_TWICE,
            f"Have two people rate the same {counted(n, words.item)}.",
            n,
            words.items,
            reason,
            labels.question.id,
        )
    if labels.n_double or labels.n_doubles_to_tell is None:
        n = FEWEST_VARIED_GROUPS
        return NextStep(
            Action.VARY,
            f"Add at least {n} {words.items} that deserve other ratings, and have two people rate "
            "them.",
            n,
            f"other {words.items}",
            "Only differences show whether people agree.",
            labels.question.id,
        )
    n, all_of_them = labels.n_doubles_to_tell, labels.n_units
    if n >= all_of_them:
        sentence = f"Have a second person rate the same {counted(all_of_them, words.item)}."
        number = all_of_them
    else:
        number = min(planned(n), all_of_them)
        sentence = (
            f"Have a second person rate {count_text(number)} of the {count_text(all_of_them)} "
            f"{words.items}."
        )
    return NextStep(Action.RATE_TWICE, sentence, number, words.items, reason, labels.question.id)


def _settle_labels(
    assessment: Assessment,
    labels: LabelAgreement,
    words: Words,
    several: str,
    item_names: Callable[[int], str],
) -> NextStep:
    """Return the step for labels whose interval holds the minimum."""
    is_above = labels.deciding.value >= labels.minimum
    if is_above and labels.n_more is not None:
        n = planned(labels.n_more)
        on = f" on {labels.question.id}" if several else ""
        return NextStep(
            Action.RATE_MORE,
            f"Have {count_text(n)} more {words.items} rated by two people{on}.",
            n,
            f"more {words.items}",
            "Then four of five such studies settle it.",
            labels.question.id,
        )
    if math.isnan(labels.deciding.low):
        return NextStep(
            Action.RATE_MORE,
            f"Have {_FEWEST_NEW} more {words.items} rated by two people.",
            _FEWEST_NEW,
            f"more {words.items}",
            "With so few, nothing can be told.",
            labels.question.id,
        )
    n = _after_revision(labels)
    on_question = [of for of in assessment.disagreements if of.question.id == labels.question.id]
    revision = _revision(labels, words) or "Discuss the widest disagreements and sharpen the rubric"
    examples = []
    for of in list(on_question or assessment.disagreements)[:_MOST_EXAMPLES]:
        ratings = [words.rated(of.question, value) for _, value in of.ratings]
        examples.append(f"{item_names(of.unit)}: {', '.join(ratings)}")
    return NextStep(
        Action.DISCUSS,
        f"{revision}{several}, then rate {count_text(n)} new {words.items}.",
        n,
        f"new {words.items}",
        _cause(labels, words),
        labels.question.id,
        examples=tuple(text for text in examples if len(text) <= _LONGEST_NAME),
    )


def _revision(labels: LabelAgreement, words: Words) -> str:
    """Return what removes the cause of most disagreement; empty if no cause stands out."""
    is_of_rater = isinstance(labels.cause, DeviatingRater)
    if labels.alpha.high < _CONTRADICTION and not is_of_rater:
        return "Check whether a person reads the scale in reverse, and if so have them rate again"
    match labels.cause:
        case DeviatingRater(rater):
            return f"Go through examples of each score with {shortened(rater, _LONGEST_NAME)}"
        case SeverityGap(lenient, strict):
            names = (shortened(name, _LONGEST_NAME) for name in (lenient, strict))
            return f"Have {' and '.join(names)} agree on an example for each score"
        case MixedValues(values):
            low, high = (words.rated(labels.question, value) for value in values)
            return f"Write down what separates {low} from {high}, with an example of each"
    return ""


def _cause(labels: LabelAgreement, words: Words) -> str:
    cause = labels.cause
    return "" if cause is None else f"{cause_text(labels.question, cause, words)}."


def _after_revision(labels: LabelAgreement) -> int:
    n = labels.n_after_revision
    return planned(max(_FEWEST_NEW, labels.n_double if n is None else n))


def _all(assessment: Assessment) -> Iterable[JudgeComparison]:
    return (of for comparisons in assessment.judges.values() for of in comparisons)


_ORDER = (
    *(JudgeFinding.EQUAL, JudgeFinding.SELECTED, JudgeFinding.UNTESTED, JudgeFinding.LIKELY),
    *(JudgeFinding.FEW_GROUPS, JudgeFinding.FEW_VARIED, JudgeFinding.CEILING_UNKNOWN),
    *(JudgeFinding.OTHER_SCALE, JudgeFinding.UNLIKELY, JudgeFinding.BELOW),
    *(JudgeFinding.NOISY_LABELS, JudgeFinding.NOT_COMPARED, JudgeFinding.COPY),
    *(JudgeFinding.ONE_VALUE, JudgeFinding.LABELS_FAIL, JudgeFinding.OUTDATED),
)
"""Findings in the order of what is nearest to a judge in use."""


def _judge_step(assessment: Assessment, words: Words, item_names: Callable[[int], str]) -> NextStep:
    judges = sorted(_all(assessment), key=_nearness)
    if not judges:
        n = max(of.n_units for of in assessment.labels)
        return NextStep(
            Action.SCORE,
            f"Have a judge score the {counted(n, words.item)}, and check its scores with this "
            "file.",
            n,
            words.items,
            "These labels can be what it is compared with.",
        )
    best = judges[0]
    on = f" on {best.question.id}" if len(assessment.labels) > 1 else ""
    match best.finding:
        case _ if best.verdict is Verdict.PASS:
            step = _use(best, on, words, n_ratings=sum(of.n_ratings for of in assessment.labels))
        case _ if best.tested is None and best.planned is not None and best.planned.n_units:
            step = _enlarge(best, on, words, n_items=assessment.labels[0].n_units)
        case JudgeFinding.UNTESTED:
            step = NextStep(
                Action.TEST_JUDGE,
                f"Evaluate {best.judge} on the held-out test{on}.",
                reason="Only that shows whether it passes.",
            )
        case JudgeFinding.SELECTED:
            n = best.n_rated - best.n_compared
            score = f"Have {best.judge} score the {counted(n, words.item)} that it skipped{on}."
            step = NextStep(Action.SCORE, score, n, words.items, "People agree less on them.")
        case JudgeFinding.OTHER_SCALE if best.question.scale.has_two_values:
            step = NextStep(Action.CLASSIFY_SCORES, f"Say which scores of {best.judge} are a pass.")
        case JudgeFinding.OTHER_SCALE:
            text = f"Let a run find which scores of {best.judge} are which of people's."
            step = NextStep(Action.TEST_JUDGE, text)
        case JudgeFinding.COPY:
            step = NextStep(
                Action.REPLACE_SCORES,
                f"Put {best.judge}'s own scores in place of {best.copied}'s ratings.",
            )
        case JudgeFinding.UNLIKELY | JudgeFinding.BELOW:
            step = _revise(best, on, words, item_names)
        case _:
            step = _prove(best, on, words)
    return replace(step, question=best.question.id, judge=best.judge)


def _nearness(comparison: JudgeComparison) -> tuple[bool, float, int, float]:
    """Return how much more a judge needs, to choose the nearest to use of several."""
    n_groups = comparison.groups_as_measured or comparison.groups_if_equal
    return (
        comparison.verdict is not Verdict.PASS,
        -_share(comparison),
        _ORDER.index(comparison.finding),
        math.inf if n_groups is None else n_groups,
    )


def _share(comparison: JudgeComparison) -> float:
    """Return the share of the items on which a judge passes, if it does."""
    tested = comparison.tested
    return 1.0 if tested is None or tested.share is None else tested.share


def _use(best: JudgeComparison, on: str, words: Words, *, n_ratings: int) -> NextStep:
    share = _share(best)
    n = round(share * best.n_scored)
    part = f"each {words.item} it scores"
    if share < 1:
        part = f"{percent_text(share)} of {words.items}"
    return NextStep(
        Action.USE_JUDGE,
        f"Let {best.judge} replace one rater of {part}{on}.",
        n,
        "fewer ratings",
        f"That saves {count_text(n)} of {counted(n_ratings, 'rating')}.",
    )


def _enlarge(best: JudgeComparison, on: str, words: Words, *, n_items: int) -> NextStep:
    """Return the number of items with which the held-out test is likely to be passed."""
    total = 0 if best.planned is None or best.planned.n_units is None else best.planned.n_units
    is_if_equal = best.planned is not None and best.planned.is_if_equal
    condition = _IF_EQUAL if is_if_equal else _AS_MEASURED
    n = planned(max(1, total - n_items))
    return NextStep(
        Action.RATE_MORE,
        f"Have {count_text(n)} more {words.items} rated{on}, then run again.",
        n,
        f"more {words.items}",
        f"With {count_text(n + n_items)} in all the test passes four times in five, if "
        f"{condition.format(judge=best.judge)}.",
    )


def _prove(best: JudgeComparison, on: str, words: Words) -> NextStep:
    """Return the number of further items with which a judge would pass."""
    n_groups, condition = best.groups_as_measured, "really this close"
    is_within = best.compared is not None and best.compared.shortfall.value > 0
    is_known = is_within and best.n_paired_groups >= FEWEST_VARIED_GROUPS
    if not is_known or depends_on_the_gap(n_groups, best.groups_if_equal):
        n_groups, condition = best.groups_if_equal, _IF_EQUAL.format(judge="it")
    if n_groups is None:
        n = planned(_FIRST_ITEMS)
        return NextStep(
            Action.RATE_MORE,
            f"Have {count_text(n)} {words.items} that {best.judge} scored rated by two people{on}.",
            n,
            words.items,
            "Then it can be compared with people's agreement.",
        )
    per_group = best.n_paired / max(best.n_paired_groups, 1)
    n = planned(max(1, math.ceil((n_groups - best.n_paired_groups) * per_group)))
    action, scope = Action.RATE_MORE, "in all" if best.is_decisive else "outside the test"
    task = f"two people and {best.judge} rate {count_text(n)} more {words.items}{on}"
    if n <= best.n_skipped:
        action = Action.SCORE
        task = f"{best.judge} score {count_text(n)} more {words.items} that people rated{on}"
    return NextStep(
        action,
        f"Have {task}.",
        n,
        f"more {words.items}",
        f"With {count_text(n + best.n_paired)} {scope} it passes four times in five, if "
        f"{condition}.",
    )


def _revise(
    best: JudgeComparison, on: str, words: Words, item_names: Callable[[int], str]
) -> NextStep:
    """Return the items on which a judge differs most from people."""
    n = len(best.differing)
    examples = [
        f"{item_names(unit)}: {words.rated(best.question, round(score, 1))} for "
        f"{words.rated(best.question, round(mean, 1))}"
        for unit, mean, score in best.differing[:_MOST_EXAMPLES]
    ]
    return NextStep(
        Action.REVISE_JUDGE,
        f"Revise {best.judge}{on} by the {counted(n, words.item)} where it differs most from "
        "people, then check it on new ones.",
        n,
        words.items,
        examples=tuple(text for text in examples if len(text) <= _LONGEST_NAME),
    )
