"""Agreement by prompt, by model, and by every other slice of the responses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from eval_assets.bands import pooled_alpha_label

if TYPE_CHECKING:
    import pandas as pd

    from eval_assets.agreement.ratings import LongRatings
    from eval_assets.config.rubric import RubricQuestion
    from eval_assets.figures import RaterKind

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

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
    import pandas as pd

    units, terms = _units(rated)
    response = units["response"]
    model, model_names = models
    columns: dict[str, Coded] = {
        "model_name": (model[response], model_names),
        "question_id": (units["question"], [question.id for question, _ in rated]),
    }
    all_responses: Coded = (np.zeros(len(model), dtype=np.int64), ["all"])
    rows: list[pd.DataFrame] = []
    for name, (codes, values) in {"all": all_responses, **slices}.items():
        if name == PROMPT and len(values) == np.count_nonzero(codes >= 0):
            continue  # every prompt has one response, which agreement by response covers
        for by in _groupings(columns, name):
            keys = {column: columns[column] for column in by}
            keys["slice_value"] = (codes[response], values)
            rows.append(_measured(units, terms, keys).assign(slice=name))
    filled = [part for part in rows if len(part)]
    if not filled:
        return pd.DataFrame()
    result = pd.concat(filled, ignore_index=True).assign(rater_kind=kind)
    result.loc[result["slice"] == "all", "slice_value"] = None
    return result


@dataclass(frozen=True, eq=False)
class _Terms:
    """Terms of alpha. A question without order has a component per class, else one component.

    Half the squared distance between the indicators of two classes is 1 if they differ, else 0.

    Attributes:
        sums: Ratings, their sum, their squares and their squared distances within the unit.
        firsts: First component of each question; if all have an order they share one.
    """

    unit: Integers
    component: Integers
    sums: tuple[Floats, Floats, Floats, Floats]
    firsts: Sequence[int]
    n_components: int


def _units(
    rated: Sequence[tuple[RubricQuestion, LongRatings]],
) -> tuple[dict[str, npt.NDArray[Any]], _Terms]:
    """Return each rated unit with sums over its centred ratings and the terms of alpha."""
    import pandas as pd

    has_order = all(question.has_order for question, _ in rated)
    parts, terms, firsts, n_components, n_units = [], [], [0], 0, 0
    for index, (question, values) in enumerate(rated):
        value = question.scale.to_unit(values.value) - 0.5
        units = _sums(values, value).assign(question=index)
        parts.append(units)
        components = [value]
        if not question.has_order:
            classes = np.unique(values.value)
            components = [np.sqrt(0.5) * (values.value == of_class) for of_class in classes]
            components = components or [value]  # nobody rated
        if not has_order:
            firsts.append(n_components)
        for place, component in enumerate(components):
            of_component = _sums(values, component)
            unit = n_units + np.arange(len(of_component))
            terms.append(of_component.assign(unit=unit, component=n_components + place))
        n_units += len(units)
        n_components += 0 if has_order else len(components)
    units = pd.concat(parts, ignore_index=True)
    units = units.assign(is_first=~units.duplicated("response"))
    term = pd.concat(terms, ignore_index=True)
    sums = tuple(
        term[name].to_numpy(dtype=np.float64) for name in ("n", "total", "squares", "apart")
    )
    return {str(name): column.to_numpy() for name, column in units.items()}, _Terms(
        term["unit"].to_numpy(),
        term["component"].to_numpy(),
        (sums[0], sums[1], sums[2], sums[3]),
        sorted(set(firsts)),
        max(1, n_components),
    )


def _sums(values: LongRatings, value: Floats) -> pd.DataFrame:
    import pandas as pd

    sums = {
        "n": np.bincount(values.unit, minlength=values.n_responses),
        "total": np.bincount(values.unit, value, values.n_responses),
        "squares": np.bincount(values.unit, value**2, values.n_responses),
    }
    units = pd.DataFrame({"response": np.arange(values.n_responses), **sums})
    units = units[units["n"] > 0]
    squared_differences = units["n"] * units["squares"] - units["total"] ** 2
    return units.assign(apart=squared_differences / (units["n"] - 1).clip(lower=1))


def _groupings(columns: Mapping[str, object], name: str) -> Iterator[tuple[str, ...]]:
    """Yield the columns that subdivide a slice."""
    if name == PROMPT:
        yield from [(), ("model_name",)]
    else:
        for n in range(len(columns) + 1):
            yield from itertools.combinations(columns, n)


def _measured(
    units: Mapping[str, npt.NDArray[Any]], terms: _Terms, keys: Mapping[str, Coded]
) -> pd.DataFrame:
    """Return alpha, mean and spread of every group that has two units with two ratings."""
    import pandas as pd

    group = np.zeros(len(units["n"]), dtype=np.int64)
    for codes, names in keys.values():
        group = np.where((group < 0) | (codes < 0), -1, group * len(names) + codes)
    row, groups = pd.factorize(group, sort=True)
    if len(groups) and groups[0] < 0:
        row, groups = row - 1, groups[1:]
    alpha = _alpha_by_group(terms, np.where(units["n"] > 1, row, -1), n_groups=len(groups))
    rated = {name: values[row >= 0] for name, values in units.items()}
    row = row[row >= 0]

    def added(values: npt.NDArray[Any]) -> Floats:
        """Return the sum over each group's units."""
        sums = np.bincount(row, weights=values.astype(np.float64), minlength=len(groups))
        return sums.astype(np.float64, copy=False)

    n_units = added(rated["n"] > 1).astype(np.int64)
    has_two = n_units > 1
    mean = rated["total"] / rated["n"]
    n_rated = np.bincount(row, minlength=len(groups))
    # From the group's first mean, so that equal ones have no spread, not even float noise.
    first = np.empty(len(groups))
    first[row[::-1]] = mean[::-1]
    difference = mean - first[row]
    centre = added(difference) / n_rated
    n, total, squares = (added(rated[name]) for name in ("n", "total", "squares"))
    rows = pd.DataFrame(
        {
            # units of one response lie in one group, unless questions are told apart
            "n_responses": n_rated
            if "question_id" in keys
            else added(rated["is_first"]).astype(np.int64),
            "n_units": n_units,
            "alpha": alpha,
            "mean": first + centre + 0.5,
            "spread": np.sqrt(added((difference - centre[row]) ** 2) / n_rated),
            "variance": squares / n - (total / n) ** 2,
        }
    )[has_two]
    rows["interpretation"] = list(map(pooled_alpha_label, rows["alpha"], rows.pop("variance")))
    groups = groups[has_two]
    for column, (_, names) in reversed(list(keys.items())):
        rows[column] = np.asarray(names, dtype=object)[groups % len(names)]
        groups = groups // len(names)
    return rows


def _alpha_by_group(terms: _Terms, row: Integers, *, n_groups: int) -> Floats:
    """Return alpha of each group of units, the mean over questions unless they share a component.

    A negative `row` leaves its unit out.
    """
    of_term = row[terms.unit]
    is_used = of_term >= 0
    cell = of_term[is_used] * terms.n_components + terms.component[is_used]
    n, total, squares, squared_differences = (
        np.bincount(cell, values[is_used], n_groups * terms.n_components)
        .astype(np.float64, copy=False)  # without cells these are counts
        .reshape(n_groups, terms.n_components)
        for values in terms.sums
    )
    expected = n * squares - total**2
    expected = np.where(expected > _NO_VARIATION * n * squares, expected, 0.0)
    expected, observed = (
        np.add.reduceat(values, terms.firsts, axis=1)
        for values in (expected / np.maximum(n - 1, 1), squared_differences)
    )
    ratio = np.divide(observed, expected, out=np.zeros_like(observed), where=expected > 0)
    n_varied = np.count_nonzero(expected, axis=1)
    alpha: Floats = 1 - np.divide(
        ratio.sum(axis=1), n_varied, out=np.full(n_groups, math.nan), where=n_varied > 0
    )
    return alpha
