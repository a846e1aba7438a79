"""Agreement by prompt, by model, and by every other slice of the responses."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.agreement.ratings import Floats, Integers, LongRatings
from eval_assets.bands import pooled_alpha_label
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import RaterKind

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
