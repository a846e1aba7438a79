"""Agreement by round of labelling, and its change from round to round."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from eval_assets.agreement.gates.declarations import GATES, HUMAN_GATES
from eval_assets.agreement.gates.evidence import alpha_levels
from eval_assets.agreement.ratings import LongRatings
from eval_assets.catalogue import CONFIDENCE, UNDEFINED_FIGURE, Figure
from eval_assets.config.evaluation import Evaluation, Gate
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import RoundFigures, RubricVersionFigures
from eval_assets.scale import Level
from eval_assets.stats import (
    Alpha,
    HumanAgreement,
    Interval,
    coefficient_interval,
    difference_interval,
)
from eval_assets.wording import counted, figure_text

_Round = tuple[int, LongRatings]

_SELECTED = 2.58
"""Standard deviations by which relabelled responses must have had more disagreement: p of .005,
one-sided."""


def measure_rounds(
    rounds: Mapping[str, Mapping[int, LongRatings]], evaluation: Evaluation, *, data_version: str
) -> tuple[RoundFigures, ...]:
    """Return the figures of each round of each question that has several.

    Gains are over the round before, on the responses with two ratings or more in both: other
    responses may be easier. A round that relabels disagreements has no gain, because second ratings
    of extremes regress to the mean without any discussion.
    """
    levels = alpha_levels(evaluation, "human")
    rows: list[RoundFigures] = []
    for question in evaluation.rubric:
        of_question = sorted(rounds.get(question.id, {}).items())
        if len(of_question) == 1:
            continue
        previous: _Round | None = None
        is_selected = first_round_decides(dict(of_question), question)
        for current in of_question:
            row = _figures(current, previous, question, levels[question.id], data_version)
            rows.append(_without_gain(row) if is_selected else row)
            previous = current
    return tuple(rows)


@dataclass(frozen=True, eq=False)
class RewordedRatings:
    """Human ratings of questions with several versions.

    Args:
        texts: A number for each stored response, the same for those with equal text; empty if no
            question has several versions.
        rescaled: Questions and versions with another scale than the question has now, whose A^HH
            is undefined.
    """

    versions: Mapping[str, Mapping[int, LongRatings]]
    texts: NDArray[np.int64]
    rescaled: Collection[tuple[str, int]] = ()


def measure_rewordings(
    reworded: RewordedRatings, evaluation: Evaluation, *, data_version: str
) -> tuple[RubricVersionFigures, ...]:
    """Return the figures of each version of each question that has several.

    Gains are as in `measure_rounds`. Changes compare responses whose text was rated under no
    earlier version, which raters cannot remember, with all responses under the version before.
    """
    levels = alpha_levels(evaluation, "human")
    questions = {question.id: question for question in evaluation.rubric}
    rows = []
    for row in measure_rounds(reworded.versions, evaluation, data_version=data_version):
        values = {field.name: getattr(row, field.name) for field in fields(row)}
        number, previous = values.pop("round"), values.pop("previous_round")
        changes: tuple[Interval, Interval] | None = None
        if previous is not None:
            changes = _changes(
                reworded.versions[row.question_id],
                row,
                questions[row.question_id],
                levels[row.question_id],
                reworded.texts,
            )
        figures = RubricVersionFigures(
            **values,
            rubric_version=number,
            previous_version=previous,
            n_new=changes[0].n_units if changes else None,
            n_groups_new=changes[0].n_groups if changes else None,
            a_hh_change=Figure.of(changes[0]) if changes else UNDEFINED_FIGURE,
            alpha_change=Figure.of(changes[1]) if changes else UNDEFINED_FIGURE,
        )
        rows.append(_on_one_scale(figures, reworded.rescaled))
    return tuple(rows)


def _on_one_scale(
    row: RubricVersionFigures, rescaled: Collection[tuple[str, int]]
) -> RubricVersionFigures:
    """Return the figures without A^HH on another scale and without its differences."""
    if (row.question_id, row.rubric_version) in rescaled:
        row = replace(row, a_hh=UNDEFINED_FIGURE)
    elif (row.question_id, row.previous_version) not in rescaled:
        return row
    return replace(row, a_hh_gain=UNDEFINED_FIGURE, a_hh_change=UNDEFINED_FIGURE)


def rewording_sentences(
    rows: Sequence[RubricVersionFigures], evaluation: Evaluation
) -> Iterator[str]:
    """Yield the change of agreement with each new wording, and its gate verdicts.

    Wordings that are declared equivalent are one.
    """
    before = {(row.question_id, row.rubric_version): row for row in rows}
    for row in rows:
        pooled = evaluation.question(row.question_id).equivalent_versions
        if row.previous_version is None or {row.previous_version, row.rubric_version} & {*pooled}:
            continue
        if row.n_in_both is None:
            yield (
                f"{row.question_id}, version {row.rubric_version}: mainly responses on which "
                "raters disagreed were labelled again, which can raise agreement by itself. "
                "No gain is reported"
            )
        if not row.n_new:
            continue
        earlier = before[row.question_id, row.previous_version]
        effects = [
            f"{name} is {_beside_minimum(GATES[name].figure(earlier), gate)}, under version "
            f"{row.previous_version} and {_beside_minimum(GATES[name].figure(row), gate)}, under "
            f"version {row.rubric_version}"
            for name, gate in ((name, evaluation.gates[name]) for name in HUMAN_GATES)
        ]
        yield (
            f"{row.question_id}, version {row.rubric_version} after version "
            f"{row.previous_version}: {change_text(row.alpha_change, row.a_hh_change)} on "
            f"{counted(row.n_new, 'response')} not rated under an earlier one. "
            f"{'; '.join(effects)}"
        )


def _beside_minimum(figure: Figure, gate: Gate) -> str:
    if not figure.is_defined:
        return "undefined"
    is_reached = gate.is_reached(value=figure.value, low=figure.low)
    return (
        f"{figure_text(figure.value, limits=[gate.minimum])}, "
        f"{'at or above' if is_reached else 'below'} the minimum {gate.minimum:g}"
    )


def change_text(alpha: Figure, a_hh: Figure) -> str:
    """Return the change of alpha, or of A^HH if alpha is undefined, and whether it is clear."""
    named = ((alpha, "alpha"), (a_hh, "A^HH"))
    gain, name = next((pair for pair in named if pair[0].is_defined), named[0])
    if not gain.is_defined:
        return "the change is undefined"
    if not gain.has_interval:
        return f"{name} changed by {gain.value:+z.3f}, without an interval,"
    interval = f"(95 % interval {gain.low:+z.3f} to {gain.high:+z.3f})"
    if gain.low <= 0 <= gain.high:
        return f"no clear change of {name}, {gain.value:+z.3f} {interval},"
    return f"{name} {'rose' if gain.value > 0 else 'fell'} by {abs(gain.value):.3f} {interval}"


def first_round_decides(rounds: Mapping[int, LongRatings], question: RubricQuestion) -> bool:
    """Return whether a later round relabels mainly disagreements.

    The ranges of the ratings of relabelled responses are compared with those of the others by their
    ranks (Mann and Whitney 1947, normal approximation). A round that relabels every response does
    not select.
    """
    if not rounds:
        return False
    numbers = sorted(rounds)
    current = rounds[numbers[0]]
    for number in numbers[1:]:
        matrix = current.matrix()
        is_known = _is_rated_twice(matrix)
        ranges = np.nanmax(matrix[is_known], axis=1) - np.nanmin(matrix[is_known], axis=1)
        if not question.has_order:
            ranges = (ranges > 0).astype(np.float64)
        is_relabelled = np.isin(np.flatnonzero(is_known), rounds[number].unit)
        if _deviation(ranges, is_relabelled) > _SELECTED:
            return True
        current = _replaced(current, rounds[number])
    return False


def first_ratings(rounds: Mapping[int, LongRatings]) -> LongRatings:
    """Return the ratings of each response in the first round that rated it."""
    numbers = sorted(rounds, reverse=True)
    ratings = rounds[numbers[0]]
    for number in numbers[1:]:
        ratings = _replaced(ratings, rounds[number])
    return ratings


def _replaced(ratings: LongRatings, earlier: LongRatings) -> LongRatings:
    """Return ratings in which other ratings of the same responses replace the present ones."""
    rater_ids = sorted({*ratings.rater_ids, *earlier.rater_ids})
    is_kept = ~np.isin(ratings.unit, earlier.unit)
    unit = np.concatenate([ratings.unit[is_kept], earlier.unit])
    rater = np.concatenate(
        [
            np.searchsorted(rater_ids, part.rater_ids)[part.rater[mask]]
            for part, mask in ((ratings, is_kept), (earlier, np.ones(len(earlier.unit), np.bool_)))
        ]
    )
    value = np.concatenate([ratings.value[is_kept], earlier.value])
    order = np.lexsort((rater, unit))
    return LongRatings(unit[order], rater[order], value[order], tuple(rater_ids), ratings.group)


def _deviation(values: NDArray[np.float64], is_chosen: NDArray[np.bool_]) -> float:
    """Return the standardized difference between the ranks of chosen and random values."""
    n, n_chosen = len(values), int(is_chosen.sum())
    if n_chosen in (0, n):
        return 0.0
    _, code, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[code]
    ties = float((counts**3 - counts).sum()) / (n * (n - 1))
    variance = n_chosen * (n - n_chosen) / 12 * (n + 1 - ties)
    above = float(ranks[is_chosen].sum()) - n_chosen * (n + 1) / 2
    return above / math.sqrt(variance) if variance > 0 else 0.0


def _without_gain(row: RoundFigures) -> RoundFigures:
    return replace(
        row,
        n_in_both=None,
        n_groups_in_both=None,
        a_hh_gain=UNDEFINED_FIGURE,
        alpha_gain=UNDEFINED_FIGURE,
    )


def _figures(
    current: _Round,
    previous: _Round | None,
    question: RubricQuestion,
    level: Level,
    data_version: str,
) -> RoundFigures:
    number, ratings = current
    a_hh, alpha = (
        coefficient_interval(
            ratings.matrix(), coefficient, confidence=CONFIDENCE, groups=ratings.group
        )
        for coefficient in (HumanAgreement(question.scale), Alpha(level))
    )
    gains = _gains(previous[1], ratings, question, level) if previous else None
    return RoundFigures(
        question_id=question.id,
        round=number,
        n_responses=a_hh.n_units,
        n_groups=a_hh.n_groups,
        n_raters=len(ratings.raters),
        a_hh=Figure.of(a_hh),
        alpha=Figure.of(alpha),
        alpha_level=level,
        previous_round=previous[0] if previous else None,
        n_in_both=gains[0].n_units if gains else None,
        n_groups_in_both=gains[0].n_groups if gains else None,
        a_hh_gain=Figure.of(gains[0]) if gains else UNDEFINED_FIGURE,
        alpha_gain=Figure.of(gains[1]) if gains else UNDEFINED_FIGURE,
        data_version=data_version,
    )


def _changes(
    versions: Mapping[int, LongRatings],
    row: RoundFigures,
    question: RubricQuestion,
    level: Level,
    texts: NDArray[np.int64],
) -> tuple[Interval, Interval]:
    """Return the changes of A^HH and alpha of new responses from those of the previous version."""
    later, before = versions[row.round], versions[row.previous_round or 0]
    rated = [ratings.unit for number, ratings in versions.items() if number < row.round]
    is_known = np.isin(texts, texts[np.concatenate(rated)])
    new, old = later.matrix()[~is_known], before.matrix()
    a_hh, alpha = (
        difference_interval(
            new,
            old,
            coefficient,
            paired=False,
            confidence=CONFIDENCE,
            groups=later.group[~is_known],
            groups_b=before.group,
        )
        for coefficient in (HumanAgreement(question.scale), Alpha(level))
    )
    is_new = np.flatnonzero(_is_rated_twice(new))
    n_groups = len(np.unique(later.group[~is_known][is_new]))
    return (
        replace(a_hh, n_units=len(is_new), n_groups=n_groups),
        replace(alpha, n_units=len(is_new), n_groups=n_groups),
    )


def _gains(
    earlier: LongRatings, later: LongRatings, question: RubricQuestion, level: Level
) -> tuple[Interval, Interval]:
    """Return the gains of A^HH and alpha in the later of two rounds."""
    before, after = earlier.matrix(), later.matrix()
    in_both = _is_rated_twice(before) & _is_rated_twice(after)
    a_hh, alpha = (
        difference_interval(
            after[in_both],
            before[in_both],
            coefficient,
            paired=True,
            confidence=CONFIDENCE,
            groups=later.group[in_both],
        )
        for coefficient in (HumanAgreement(question.scale), Alpha(level))
    )
    return a_hh, alpha


def _is_rated_twice(ratings: NDArray[np.float64]) -> NDArray[np.bool_]:
    is_rated_twice: NDArray[np.bool_] = np.count_nonzero(~np.isnan(ratings), axis=1) > 1
    return is_rated_twice
