"""Agreement by prompt, by model, and by every other slice of the responses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
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
"""A code for each unit index, negative if it has none, and what the codes stand for."""

PROMPT = "prompt_id"
"""Name of the slice that has a value for each prompt."""

_NO_VARIATION = 1e-13
"""A variance below this share of the squares that it is the difference of is float noise."""


def measure_slices(
    kind: RaterKind,
    rated: Sequence[tuple[RubricQuestion, LongRatings]],
    models: Coded,
    slices: Mapping[str, Coded],
) -> pd.DataFrame:
    """Return rows of `agreement_by_slice` for raters of one kind.

    All responses, and those of each value of a slice, are measured together, by model, by question
    and by both; those of a prompt together and by model, on all questions. Alpha pools units
    (response, question) on [0, 1] at the interval level.

    Args:
        kind: Kind of the raters.
        rated: Each question with its ratings.
        models: Model of each unit index.
        slices: By slice, the value of each unit index.
    """
    import pandas as pd

    units = _units(rated)
    response = units["response"]
    model, model_names = models
    columns: dict[str, Coded] = {
        "model_name": (model[response], model_names),
        "question_id": (units["question"], [question.id for question, _ in rated]),
    }
    everything: Coded = (np.zeros(len(model), dtype=np.int64), ["all"])
    rows: list[pd.DataFrame] = []
    for name, (codes, values) in {"all": everything, **slices}.items():
        for by in _groupings(columns, name):
            keys = {column: columns[column] for column in by}
            keys["slice_value"] = (codes[response], values)
            rows.append(_measured(units, keys).assign(slice=name))
    filled = [part for part in rows if len(part)]
    if not filled:
        return pd.DataFrame()
    result = pd.concat(filled, ignore_index=True).assign(rater_kind=kind)
    result.loc[result["slice"] == "all", "slice_value"] = None
    return result


def _units(rated: Sequence[tuple[RubricQuestion, LongRatings]]) -> dict[str, npt.NDArray[Any]]:
    """Return each rated unit with sums over its ratings, on [0, 1] from the middle."""
    import pandas as pd

    parts = []
    for index, (question, values) in enumerate(rated):
        value = question.scale.to_unit(values.value) - 0.5
        sums = {
            "n": np.bincount(values.unit, minlength=values.n_responses),
            "total": np.bincount(values.unit, value, values.n_responses),
            "squares": np.bincount(values.unit, value**2, values.n_responses),
        }
        units = pd.DataFrame({"response": np.arange(values.n_responses), "question": index, **sums})
        parts.append(units[units["n"] > 0])
    units = pd.concat(parts, ignore_index=True)
    apart = units["n"] * units["squares"] - units["total"] ** 2
    units = units.assign(
        apart=apart / (units["n"] - 1).clip(lower=1), is_first=~units.duplicated("response")
    )
    return {str(name): column.to_numpy() for name, column in units.items()}


def _groupings(columns: Mapping[str, object], name: str) -> Iterator[tuple[str, ...]]:
    """Yield the columns by which a slice is divided further."""
    if name == PROMPT:
        yield from [(), ("model_name",)]
    else:
        for n in range(len(columns) + 1):
            yield from itertools.combinations(columns, n)


def _measured(units: Mapping[str, npt.NDArray[Any]], keys: Mapping[str, Coded]) -> pd.DataFrame:
    """Return alpha, mean and spread of every group that has two units with two ratings.

    Args:
        units: The units, as `_units` returns them.
        keys: By column, the code of each unit.
    """
    import pandas as pd

    group = np.zeros(len(units["n"]), dtype=np.int64)
    for codes, names in keys.values():
        group = np.where((group < 0) | (codes < 0), -1, group * len(names) + codes)
    row, groups = pd.factorize(group, sort=True)
    if len(groups) and groups[0] < 0:
        row, groups = row - 1, groups[1:]
    rated = {name: values[row >= 0] for name, values in units.items()}
    row = row[row >= 0]

    def added(values: npt.NDArray[Any], *, shared: bool = False) -> Floats:
        """Return the sum over each group's units, or over those that have two ratings."""
        weights = values * (rated["n"] > 1) if shared else values
        sums = np.bincount(row, weights=weights.astype(np.float64), minlength=len(groups))
        return sums.astype(np.float64, copy=False)

    n_units = added(rated["n"] > 1).astype(np.int64)
    kept = n_units > 1
    mean = rated["total"] / rated["n"]
    n_rated = np.bincount(row, minlength=len(groups))
    # From the group's first mean, so that equal ones have no spread, not even float noise.
    first = np.empty(len(groups))
    first[row[::-1]] = mean[::-1]
    apart = mean - first[row]
    centre = added(apart) / n_rated
    n, total, squares = (added(rated[name]) for name in ("n", "total", "squares"))
    rows = pd.DataFrame(
        {
            # units of one response lie in one group, unless questions are told apart
            "n_responses": n_rated
            if "question_id" in keys
            else added(rated["is_first"]).astype(np.int64),
            "n_units": n_units,
            "alpha": _alpha(
                *(added(rated[name], shared=True) for name in ("n", "total", "squares", "apart"))
            ),
            "mean": first + centre + 0.5,
            "spread": np.sqrt(added((apart - centre[row]) ** 2) / n_rated),
            "variance": squares / n - (total / n) ** 2,
        }
    )[kept]
    rows["interpretation"] = list(map(pooled_alpha_label, rows["alpha"], rows.pop("variance")))
    groups = groups[kept]
    for column, (_, names) in reversed(list(keys.items())):
        rows[column] = np.asarray(names, dtype=object)[groups % len(names)]
        groups = groups // len(names)
    return rows


def _alpha(n: Floats, total: Floats, squares: Floats, apart: Floats) -> Floats:
    """Return Krippendorff's alpha at the interval level from sums over units with two ratings."""
    expected = n * squares - total**2
    varies = expected > _NO_VARIATION * n * squares
    observed = (n - 1) * apart
    alpha: Floats = 1 - np.divide(observed, expected, out=np.full(len(n), math.nan), where=varies)
    return alpha
