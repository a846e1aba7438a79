"""Cautions before relying on a figure."""

import math
from collections.abc import Iterator, Sequence

from eval_assets.bands import (
    FEW_GROUPS,
    FEW_RARE_GROUPS,
    LOWEST_COVERAGE,
    MOSTLY_EQUAL,
    SKEWED_SHARE,
)
from eval_assets.figures import HumanFigures, Scope
from eval_assets.render.document import Card, Definition, Definitions, Section
from eval_assets.report.data import ReportData, groups_text
from eval_assets.report.stored_rows import (
    JudgeStateRow,
    LostPairsRow,
    RejectedLabelsRow,
)
from eval_assets.scale import TOLERANCE
from eval_assets.wording import counted, figure_text, listed, percent_text

_MOST_NAMED = 5

_MUCH_SKIPPED = 0.2
"""Share of skips from which the rated responses may be the easier ones: one in five."""

_MANY_EQUAL = 20
"""Number of responses from which equal ratings throughout are reported."""


def section(data: ReportData) -> Section | None:
    """Return every caution, those about the verdict first; None if there is none."""
    blocks = tuple(cautions(data))
    if not blocks:
        return None
    block = Card("", (Definitions(blocks),))
    return Section("cautions", "Before you rely on this", "Cautions", (block,))


def cautions(data: ReportData) -> Iterator[Definition]:
    """Yield cautions, each with a short heading, its meaning and a remedy."""
    yield from _stopped_judges(data)
    yield from _other_models(data)
    yield from _rater_patterns(data)
    yield from _unordered(data)
    yield from _paradoxes(data)
    yield from _easy_by_chance(data)
    yield from _small_samples(data)
    yield from _rare_values(data)
    yield from _guessed_scales(data)
    yield from _rejected_labels(data)
    yield from _no_longer_paired(data)
    yield from _skipped(data)
    yield from _poor_coverage(data)
    yield from _never_different(data)
    yield from _dependent_judges(data)


def _stopped_judges(data: ReportData) -> Iterator[Definition]:
    for row in data.rows(JudgeStateRow):
        if row.stopped:
            yield Definition(
                f"{row.judge_id} is missing or incomplete",
                f"The last run stopped it: {row.stopped}. Fix this and run again: nothing is asked "
                "twice.",
            )


def _other_models(data: ReportData) -> Iterator[Definition]:
    for row in data.rows(JudgeStateRow):
        if row.other_models:
            yield Definition(
                f"{row.judge_id} was answered by another model",
                f"{row.model} was requested; {row.other_models} answered, by its own account. Its "
                "figures hold for what answered.",
            )


def _rater_patterns(data: ReportData) -> Iterator[Definition]:
    """Yield questions whose raters may be dependent, or may be no raters."""
    for question in data.evaluation.rubric:
        patterns = [
            finding.finding
            for finding in data.findings
            if (finding.question_id, finding.kind) == (question.id, "pattern")
        ]
        if patterns:
            yield Definition(
                f"{question.id}: something stands out in the ratings",
                f"{'. '.join(text[0].upper() + text[1:] for text in patterns)}.",
            )


def _unordered(data: ReportData) -> Iterator[Definition]:
    """Yield questions whose values have no order: only whether ratings are equal counts."""
    names = [question.id for question in data.evaluation.rubric if not question.has_order]
    if names:
        yield Definition(
            f"The values of {_some(names)} have no order",
            "On them A^HH, A^HA and alpha ask only whether ratings are equal, and alpha over all "
            "questions is the mean over questions. Means, biases and correlations take the values "
            "as numbers: do not use them.",
        )


def _paradoxes(data: ReportData) -> Iterator[Definition]:
    """Yield questions with a high A^HH and a low alpha, which look contradictory and are not."""
    a_hh_minimum, alpha_minimum = _minimum(data, "human_a_hh"), _minimum(data, "human_alpha")
    for row in _questions(data):
        a_hh, alpha = row.a_hh.value, row.alpha.value
        if a_hh >= a_hh_minimum and alpha < alpha_minimum:
            yield Definition(
                f"{row.question_id}: high A^HH, low alpha",
                f"{figure_text(a_hh, limits=[a_hh_minimum])} looks good, but raters who never read "
                f"a response would reach {figure_text(row.a_hh_by_chance, limits=[])}. Alpha takes "
                f"chance out: {figure_text(alpha, limits=[alpha_minimum])}, too low. "
                f"{_why_alpha_is_low(row)}",
            )


def _why_alpha_is_low(row: HumanFigures) -> str:
    """Return the cause of a low alpha beside a high A^HH, by the interval of alpha."""
    share = row.most_frequent_share
    is_skewed = share > SKEWED_SHARE and row.exact_agreement.value >= MOSTLY_EQUAL
    if row.alpha.low > 0 and is_skewed:
        return (
            f"One value makes up {percent_text(100 * share)} of all ratings, so the few pairs that "
            "differ decide alpha. Have some responses rated that deserve the rarer values before "
            "you revise the rubric."
        )
    return "Go by alpha."


def _easy_by_chance(data: ReportData) -> Iterator[Definition]:
    """Yield questions on which raters who never read a response would reach the minimum."""
    minimum = _minimum(data, "human_a_hh")
    easy = [
        f"{row.question_id} ({figure_text(row.a_hh_by_chance, limits=[minimum])})"
        for row in _questions(data)
        if row.a_hh_by_chance >= minimum
    ]
    if easy:
        yield Definition(
            "A^HH is easy to reach by chance",
            f"Raters who share nothing but how often they give each value would reach the minimum "
            f"{minimum:g} on {_some(easy)}. Go by alpha there, which takes chance out.",
        )


def _small_samples(data: ReportData) -> Iterator[Definition]:
    few = [
        f"{row.question_id} ({groups_text(row.n_responses, row.n_groups)})"
        for row in _questions(data)
        if 0 < row.n_groups < FEW_GROUPS
    ]
    if few:
        yield Definition(
            f"Fewer than {FEW_GROUPS} response groups: use the intervals, not the values",
            f"Rated by two raters or more: {_some(few)}. Responses to one prompt, or of one "
            "conversation, are not independent, so groups of them count, not responses.",
        )


def _rare_values(data: ReportData) -> Iterator[Definition]:
    """Yield questions with enough rated groups but few groups with the rarer values."""
    rare = [
        f"{row.question_id} ({row.n_rare_groups} of {row.n_groups})"
        for row in _questions(data)
        if row.n_groups >= FEW_GROUPS and 0 < (row.n_rare_groups or 0) < FEW_RARE_GROUPS
    ]
    if rare:
        yield Definition(
            f"Fewer than {FEW_RARE_GROUPS} response groups hold the rarer values",
            f"A rating other than the most frequent one is in few groups: {_some(rare)}. Alpha, "
            "kappa and correlations rest on these. Rate more responses of the rarer kind.",
        )


def _some(names: Sequence[str]) -> str:
    return listed(names, most=_MOST_NAMED)


def _guessed_scales(data: ReportData) -> Iterator[Definition]:
    for question in data.evaluation.rubric:
        if question.scale_guessed:
            yield Definition(
                f"{question.id}: the scale is a guess",
                f"None is declared; {question.scale.described()} was read off the ratings. "
                f"One stray rating changes the guess and every figure with it: declare the scale "
                f"in evaluation.yaml.",
            )


def _rejected_labels(data: ReportData) -> Iterator[Definition]:
    counts = [
        f"{row.n:,} of {row.rater_id or 'nobody named'} on {row.question_id or 'no question named'}"
        for row in data.rows(RejectedLabelsRow)
    ]
    if counts:
        yield Definition(
            "Labels were rejected",
            f"{listed(counts)}, because evaluation.yaml says on_error: reject_rows. No figure "
            "counts them; the table rejected_rows says what is wrong with each.",
        )


def _no_longer_paired(data: ReportData) -> Iterator[Definition]:
    """Yield responses with two raters in an earlier round but fewer than two in the latest."""
    lost = [
        f"{row.question_id} ({counted(row.n_responses, 'response')})"
        for row in data.rows(LostPairsRow)
    ]
    if lost:
        yield Definition(
            "A later round took responses out of agreement",
            f"Two raters or more rated them in an earlier round, and fewer than two in their "
            f"latest, which decides: {_some(lost)}. If these were the ones that raters did not "
            "agree on, agreement looks better than it is. Have at least two raters rate them in "
            "the latest round.",
        )


def _skipped(data: ReportData) -> Iterator[Definition]:
    much = [
        f"{row.question_id} ({percent_text(100 * share)})"
        for row in _questions(data)
        if (n := row.n_skipped) and (share := n / (n + row.n_ratings)) >= _MUCH_SKIPPED
    ]
    if much:
        yield Definition(
            "Much was skipped",
            f"Skips among the answers: {_some(much)}. Agreement is that of the rest, which may "
            "be easier: read the reasons in skipped_labels.",
        )


def _poor_coverage(data: ReportData) -> Iterator[Definition]:
    for judge in data.coverage:
        n_scored, n_units = judge.n_scored, judge.n_units
        if n_units and n_scored / n_units < LOWEST_COVERAGE:
            lost = [f"{n:,} {status}" for n, status in judge.without_score]
            yield Definition(
                f"{judge.judge_id} scored only {percent_text(100 * n_scored / n_units)} of its "
                "units",
                f"{n_scored:,} of {counted(n_units, 'unit')} have a score; without: "
                f"{listed(lost)}. Its figures hold for what it scored, which need not be like the "
                "rest.",
            )


def _dependent_judges(data: ReportData) -> Iterator[Definition]:
    """Yield judges that share a family with each other or with a model that they judge."""
    for sentence in data.dependent_judges:
        yield Definition("Judges that are not independent", f"{sentence}.")


def _never_different(data: ReportData) -> Iterator[Definition]:
    """Yield raters whose ratings are equal throughout."""
    for row in data.humans:
        is_equal = row.alpha.value >= 1 - TOLERANCE
        if row.scope is Scope.OVERALL and row.n_responses >= _MANY_EQUAL and is_equal:
            yield Definition(
                "Raters never differ",
                f"All ratings of {row.n_responses:,} responses are equal. Independent ratings "
                "seldom agree so well: check that each rater's labels are their own, not one set "
                "under several names.",
            )


def _questions(data: ReportData) -> Iterator[HumanFigures]:
    return (row for row in data.humans if row.scope is Scope.QUESTION)


def _minimum(data: ReportData, gate: str) -> float:
    """Return the minimum of a gate; NaN, which nothing reaches, if it does not apply."""
    return next((o.overall.minimum for o in data.gates if o.gate == gate), math.nan)
