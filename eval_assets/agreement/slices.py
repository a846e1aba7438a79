"""Agreement by slice of the responses and by wording, and which round of labelling decides."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.typing import NDArray

from eval_assets.agreement.gates.evidence import alpha_levels
from eval_assets.agreement.ratings import Floats, Integers, LongRatings
from eval_assets.bands import pooled_alpha_label
from eval_assets.catalogue import CONFIDENCE, UNDEFINED_FIGURE, Figure
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import RaterKind, RubricVersionFigures
from eval_assets.stats import (
    Alpha,
    Coefficient,
    HumanAgreement,
    Interval,
    coefficient_interval,
)
from eval_assets.stats.intervals import less

Coded = tuple[Integers, Sequence[str]]
"""A code for each unit index, negative if it has none, and the values of the codes."""

PROMPT = "prompt_id"
"""Name of the slice that has a value for each prompt."""

_NO_VARIATION = 1e-13
"""Share of the sum of squares below which a variance is float noise."""


def measure_slices(
    kind: RaterKind,
    rated: Sequence[tuple[RubricQuestion, LongRatings]],
    models: Coded,
    slices: Mapping[str, Coded],
) -> pd.DataFrame:
    """Return rows of `agreement_by_slice` for raters of one kind.

    All responses, and those of each value of a slice, are measured together, by model, by question
    and by both; those of a prompt together and by model, on all questions. Alpha pools units
    (response, question) on [0, 1] at the interval level; if the values of a question have no order,
    it is the mean over questions, nominal on those.
    """
    units, terms, bounds = _units(rated)
    response = units["response"].to_numpy()
    columns: dict[str, Coded] = {
        "model_name": (models[0][response], models[1]),
        "question_id": (units["question"].to_numpy(), [question.id for question, _ in rated]),
    }
    all_responses: Coded = (np.zeros(len(models[0]), dtype=np.int64), ["all"])
    rows: list[pd.DataFrame] = []
    for name, (codes, values) in {"all": all_responses, **slices}.items():
        if name == PROMPT and len(values) == np.count_nonzero(codes >= 0):
            continue  # every prompt has one response, which agreement by response covers
        of_slice: dict[str, Coded] = {"slice_value": (codes[response], values)}
        subdivisions = [(), ("model_name",), ("question_id",), ("model_name", "question_id")]
        for by in subdivisions[: 2 if name == PROMPT else None]:
            keys = {column: columns[column] for column in by} | of_slice
            rows.append(_measured(units, terms, bounds, keys).assign(slice=name))
    filled = [part for part in rows if len(part)]
    if not filled:
        return pd.DataFrame()
    result = pd.concat(filled, ignore_index=True).assign(rater_kind=kind)
    result.loc[result["slice"] == "all", "slice_value"] = None
    return result


def _units(
    rated: Sequence[tuple[RubricQuestion, LongRatings]],
) -> tuple[pd.DataFrame, pd.DataFrame, list[int]]:
    """Return each rated unit with sums over its centred ratings, and the terms of alpha.

    A question without order has a component for each class, else one: half the squared distance
    between the indicators of two classes is 1 if they differ, else 0. Questions that all have an
    order share one. The first component of each, and their number, are returned too.
    """
    has_order = all(question.has_order for question, _ in rated)
    parts, terms, firsts, n_units, n_components = [], [], [0], 0, 0
    for index, (question, values) in enumerate(rated):
        value = question.scale.to_unit(values.value) - 0.5
        parts.append(_sums(values, value).assign(question=index))
        components = [value]
        if not question.has_order and len(values.value):
            classes = np.unique(values.value)
            components = [np.sqrt(0.5) * (values.value == of_class) for of_class in classes]
        firsts.append(n_components)
        for number, component in enumerate(components, n_components):
            of_component = _sums(values, component)
            unit = n_units + np.arange(len(of_component))
            terms.append(of_component.assign(unit=unit, component=number))
        n_units += len(parts[-1])
        n_components += 0 if has_order else len(components)
    units, all_terms = (pd.concat(frames, ignore_index=True) for frames in (parts, terms))
    return units, all_terms, [*sorted(set(firsts)), max(1, n_components)]


def _sums(values: LongRatings, value: Floats) -> pd.DataFrame:
    """Return the ratings of each rated unit, their sum, squares and distances within the unit."""
    sums = {
        "n": np.bincount(values.unit, minlength=values.n_responses),
        "total": np.bincount(values.unit, value, values.n_responses),
        "squares": np.bincount(values.unit, value**2, values.n_responses),
    }
    units = pd.DataFrame({"response": np.arange(values.n_responses), **sums})
    units = units[units["n"] > 0]
    squared_differences = units["n"] * units["squares"] - units["total"] ** 2
    return units.assign(apart=squared_differences / (units["n"] - 1).clip(lower=1))


def _measured(
    units: pd.DataFrame, terms: pd.DataFrame, bounds: list[int], keys: Mapping[str, Coded]
) -> pd.DataFrame:
    """Return alpha, mean and spread of every group that has two units with two ratings.

    `bounds` are the first component of each question with an alpha of its own, and their number;
    `keys` have the code of each unit in each column.
    """
    code = np.zeros(len(units), dtype=np.int64)
    for codes, names in keys.values():
        code = np.where((code < 0) | (codes < 0), -1, code * len(names) + codes)
    groups, group = np.unique(code, return_inverse=True)
    if len(groups) and groups[0] < 0:
        groups, group = groups[1:], group - 1
    alpha = _alphas(terms, bounds, np.where(units["n"] > 1, group, -1), n_groups=len(groups))
    rated, group = units[group >= 0], group[group >= 0]

    def added(values: npt.ArrayLike) -> Floats:
        """Return the sum over each group's units."""
        return np.bincount(group, np.asarray(values, np.float64), len(groups)).astype(np.float64)

    n_rated, mean = np.bincount(group, minlength=len(groups)), rated["total"] / rated["n"]
    # From the group's first mean, so that equal ones have no spread, not even float noise.
    first = np.empty(len(groups))
    first[group[::-1]] = mean[::-1]
    difference = mean - first[group]
    centre = added(difference) / n_rated
    n_ratings, sums, squares_of_all = (added(rated[name]) for name in ("n", "total", "squares"))
    # Units of one response lie in one group, unless questions are told apart.
    n_responses = n_rated if "question_id" in keys else added(~rated["response"].duplicated())
    rows = pd.DataFrame(
        {
            "n_responses": n_responses.astype(np.int64),
            "n_units": added(rated["n"] > 1).astype(np.int64),
            "alpha": alpha,
            "mean": first + centre + 0.5,
            "spread": np.sqrt(added((difference - centre[group]) ** 2) / n_rated),
            "variance": squares_of_all / n_ratings - (sums / n_ratings) ** 2,
        }
    )
    for column, (_, names) in reversed(list(keys.items())):
        rows[column] = np.asarray(names, dtype=object)[groups % len(names)]
        groups = groups // len(names)
    rows = rows[rows["n_units"] > 1]
    labels = list(map(pooled_alpha_label, rows["alpha"], rows.pop("variance")))
    return rows.assign(interpretation=labels)


def _alphas(terms: pd.DataFrame, bounds: list[int], group: Integers, *, n_groups: int) -> Floats:
    """Return alpha of each group of units, the mean over questions unless they share a component.

    A negative `group` leaves its unit out.
    """
    *firsts, n_components = bounds
    of_term = group[terms["unit"]]
    of_groups = terms[of_term >= 0]
    cell = of_term[of_term >= 0] * n_components + of_groups["component"]
    n, total, squares, apart = (
        np.bincount(cell, of_groups[name], n_groups * n_components)
        .astype(np.float64, copy=False)  # without cells these are counts
        .reshape(n_groups, n_components)
        for name in ("n", "total", "squares", "apart")
    )
    expected = n * squares - total**2
    expected = np.where(expected > _NO_VARIATION * n * squares, expected, 0.0)
    expected, observed = (
        np.add.reduceat(values, firsts, axis=1)
        for values in (expected / np.maximum(n - 1, 1), apart)
    )
    ratio = np.divide(observed, expected, out=np.zeros_like(observed), where=expected > 0)
    n_varied = np.count_nonzero(expected, axis=1)
    with np.errstate(invalid="ignore"):  # groups without variation
        alpha: Floats = 1 - ratio.sum(axis=1) / n_varied
    return alpha


_SELECTED = 2.58
"""Standard deviations by which relabelled responses must have had more disagreement: p of .005,
one-sided."""


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

    Changes compare responses whose text was rated under no earlier version, which raters cannot
    remember, with all responses under the version before.
    """
    levels = alpha_levels(evaluation, "human")
    rows = []
    for question in evaluation.rubric:
        versions = sorted(reworded.versions.get(question.id, {}).items())
        coefficients = HumanAgreement(question.scale), Alpha(levels[question.id])
        before: list[Interval] = []
        for index, (number, ratings) in enumerate(versions if len(versions) > 1 else ()):
            a_hh, alpha = of_version = _intervals(ratings.matrix(), coefficients, ratings.group)
            row = RubricVersionFigures(
                question_id=question.id,
                rubric_version=number,
                n_responses=a_hh.n_units,
                n_groups=a_hh.n_groups,
                n_raters=len(ratings.raters),
                a_hh=Figure.of(a_hh),
                alpha=Figure.of(alpha),
                alpha_level=levels[question.id],
                previous_version=versions[index - 1][0] if index else None,
                n_new=None,
                data_version=data_version,
            )
            if index:
                texts = reworded.texts
                rated = np.concatenate([earlier.unit for _, earlier in versions[:index]])
                is_new = ~np.isin(texts, texts[rated])
                new = ratings.matrix()[is_new]
                of_new = _intervals(new, coefficients, ratings.group[is_new])
                # Of other responses, so without correlation.
                a_hh, alpha = (less(*pair, np.eye(2)) for pair in zip(of_new, before, strict=True))
                row = replace(
                    row,
                    n_new=int(_is_rated_twice(new).sum()),
                    a_hh_change=Figure.of(a_hh),
                    alpha_change=Figure.of(alpha),
                )
            if (question.id, number) in reworded.rescaled:
                row = replace(row, a_hh=UNDEFINED_FIGURE)
            if any((question.id, of) in reworded.rescaled for of in (number, row.previous_version)):
                row = replace(row, a_hh_change=UNDEFINED_FIGURE)
            rows.append(row)
            before = of_version
    return tuple(rows)


def _intervals(
    ratings: NDArray[np.float64], coefficients: Iterable[Coefficient], groups: Integers
) -> list[Interval]:
    return [
        coefficient_interval(ratings, of, confidence=CONFIDENCE, groups=groups)
        for of in coefficients
    ]


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


def _is_rated_twice(ratings: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(np.count_nonzero(~np.isnan(ratings), axis=1) > 1)
