"""Agreement on parts of the responses: by prompt and model, and by every other slice."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.agreement.ratings import LongRatings, RaterKind
from eval_assets.interpretation import pooled_alpha_label
from eval_assets.rubric import RubricQuestion

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
    units = _units(rated)
    response = units["response"].to_numpy()
    model, model_names = models
    columns: dict[str, Coded] = {
        "model_name": (model[response], model_names),
        "question_id": (units["question"].to_numpy(), [question.id for question, _ in rated]),
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
    found = pd.concat(filled, ignore_index=True).assign(rater_kind=kind)
    found.loc[found["slice"] == "all", "slice_value"] = None
    return found


def _units(rated: Sequence[tuple[RubricQuestion, LongRatings]]) -> pd.DataFrame:
    """Return each rated unit with sums over its ratings, on [0, 1] from the middle."""
    parts = []
    for index, (question, given) in enumerate(rated):
        value = question.scale.to_unit(given.value) - 0.5
        sums = {
            "n": np.bincount(given.unit, minlength=given.n_responses),
            "total": np.bincount(given.unit, value, given.n_responses),
            "squares": np.bincount(given.unit, value**2, given.n_responses),
        }
        units = pd.DataFrame({"response": np.arange(given.n_responses), "question": index, **sums})
        parts.append(units[units["n"] > 0])
    units = pd.concat(parts, ignore_index=True)
    apart = units["n"] * units["squares"] - units["total"] ** 2
    return units.assign(
        apart=apart / (units["n"] - 1).clip(lower=1), is_first=~units.duplicated("response")
    )


def _groupings(columns: Mapping[str, object], name: str) -> Iterator[tuple[str, ...]]:
    """Yield the columns by which a slice is divided further."""
    if name == PROMPT:
        yield from [(), ("model_name",)]
    else:
        for n in range(len(columns) + 1):
            yield from itertools.combinations(columns, n)


def _measured(units: pd.DataFrame, keys: Mapping[str, Coded]) -> pd.DataFrame:
    """Return alpha, mean and spread of every group that has two units with two ratings.

    Args:
        units: The units, as `_units` returns them.
        keys: By column, the code of each unit.
    """
    group = np.zeros(len(units), dtype=np.int64)
    for codes, names in keys.values():
        group = np.where((group < 0) | (codes < 0), -1, group * len(names) + codes)
    rated = units.assign(group=group, mean=units["total"] / units["n"])[group >= 0]
    shared = rated[rated["n"] > 1].groupby("group")[["n", "total", "squares", "apart"]].sum()
    n_units = rated["group"][rated["n"] > 1].value_counts().reindex(shared.index)
    shared = shared[n_units > 1]
    grouped = rated.groupby("group")
    sums = grouped[["n", "total", "squares", "is_first"]].sum().loc[shared.index]
    variance = sums["squares"] / sums["n"] - (sums["total"] / sums["n"]) ** 2
    n_rated = grouped.size().loc[shared.index]
    rows = pd.DataFrame(
        {
            # units of one response lie in one group, unless questions are told apart
            "n_responses": n_rated if "question_id" in keys else sums["is_first"],
            "n_units": n_units.loc[shared.index],
            "alpha": _alpha(shared),
            "mean": grouped["mean"].mean() + 0.5,
            "spread": grouped["mean"].std(ddof=0),
        },
        index=shared.index,
    )
    rows["interpretation"] = list(map(pooled_alpha_label, rows["alpha"], variance))
    groups = rows.index.to_numpy()
    for column, (_, names) in reversed(list(keys.items())):
        rows[column] = np.asarray(names, dtype=object)[groups % len(names)]
        groups = groups // len(names)
    return rows


def _alpha(sums: pd.DataFrame) -> pd.Series:
    """Return Krippendorff's alpha at the interval level from sums over units with two ratings."""
    squares = sums["n"] * sums["squares"]
    expected = squares - sums["total"] ** 2
    expected = expected.where(expected > _NO_VARIATION * squares)
    return 1 - (sums["n"] - 1) * sums["apart"] / expected
