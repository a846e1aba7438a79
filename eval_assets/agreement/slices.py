"""Agreement on parts of the responses: by prompt and model, and by every other slice."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.agreement.ratings import LongRatings, RaterKind
from eval_assets.interpretation import pooled_alpha_label
from eval_assets.rubric import RubricQuestion
from eval_assets.stats import alpha_by_cluster

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Names = npt.NDArray[np.object_]

PROMPT = "prompt_id"
"""Name of the slice that has a value for each prompt."""


def measure_slices(
    kind: RaterKind,
    rated: Sequence[tuple[RubricQuestion, LongRatings]],
    models: Names,
    slices: Mapping[str, Names],
) -> pd.DataFrame:
    """Return rows of `agreement_by_slice` for raters of one kind.

    Each value of a slice is measured on all its responses, by model, by question and by both; a
    prompt is measured on all questions together, over all models and by model. Alpha pools units
    (response, question) on [0, 1] at the interval level.

    Args:
        kind: Kind of the raters.
        rated: Each question with its ratings.
        models: Model of each unit index; None if it is not known.
        slices: By slice, the value of each unit index; None if it has none.
    """
    response = np.concatenate([given.unit for _, given in rated])
    question = np.repeat(np.arange(len(rated)), [len(given.unit) for _, given in rated])
    value = np.concatenate(
        [(given.value - q.scale.low) / (q.scale.high - q.scale.low) for q, given in rated]
    )
    by_model, names = pd.factorize(models)
    columns = {
        "model_name": (by_model[response], list(names)),
        "question_id": (question, [q.id for q, _ in rated]),
    }
    unit = response * len(rated) + question
    rows: list[pd.DataFrame] = []
    for name, values in slices.items():
        of_unit, parts = pd.factorize(
            np.asarray(values, dtype=object), use_na_sentinel=name != "all"
        )
        part = (of_unit[response], list(parts))
        for by in _groupings(columns, name):
            keys = {"slice_value": part, **{column: columns[column] for column in by}}
            rows.append(_measured(keys, unit, value, n_questions=len(rated)).assign(slice=name))
    filled = [part for part in rows if len(part)]
    if not filled:
        return pd.DataFrame()
    return pd.concat(filled, ignore_index=True).assign(rater_kind=kind)


def _groupings(columns: Mapping[str, object], name: str) -> Iterator[tuple[str, ...]]:
    """Yield the columns that a slice is parted by as well."""
    if name == PROMPT:
        yield from [(), ("model_name",)]
    else:
        for n in range(len(columns) + 1):
            yield from itertools.combinations(columns, n)


def _measured(
    keys: Mapping[str, tuple[Integers, list[str]]],
    unit: Integers,
    value: Floats,
    *,
    n_questions: int,
) -> pd.DataFrame:
    """Return alpha, mean and spread of every group that has a unit with two ratings.

    Args:
        keys: By column, the code of each rating, -1 if it has none, and what the codes stand for.
        unit: Unit of each rating.
        value: The ratings on [0, 1].
        n_questions: Number of questions, of which each response has a unit.
    """
    kept = np.logical_and.reduce([codes >= 0 for codes, _ in keys.values()])
    combined = np.zeros(int(kept.sum()), dtype=np.int64)
    for codes, names in keys.values():
        combined = combined * len(names) + codes[kept]
    unit, value = unit[kept], value[kept]
    clusters, alpha = alpha_by_cluster(combined, unit, value)
    group = np.searchsorted(clusters, combined)
    # a unit lies in one group: its ratings share response and question
    units, first, of_unit, size = np.unique(
        unit, return_index=True, return_inverse=True, return_counts=True
    )
    n_groups, group_of_unit = len(clusters), group[first]

    def summed(of: Integers, terms: Floats) -> Floats:
        return np.bincount(of, terms, n_groups).astype(np.float64)

    unit_mean = np.bincount(of_unit, value) / size
    n_units, n_values = (
        summed(group_of_unit, np.ones(len(units))),
        summed(group, np.ones(len(group))),
    )
    mean, centre = summed(group_of_unit, unit_mean) / n_units, summed(group, value) / n_values
    variance = summed(group, (value - centre[group]) ** 2) / n_values
    responses = np.unique(units // n_questions * n_groups + group_of_unit)
    rows = pd.DataFrame(
        {
            "n_responses": np.bincount(responses % n_groups, minlength=n_groups),
            "n_units": summed(group_of_unit, (size > 1).astype(np.float64)).astype(np.int64),
            "alpha": alpha,
            "mean": mean,
            "spread": np.sqrt(
                summed(group_of_unit, (unit_mean - mean[group_of_unit]) ** 2) / n_units
            ),
            "interpretation": list(map(pooled_alpha_label, alpha, variance)),
        }
    )
    for column, (_, names) in reversed(list(keys.items())):
        rows[column] = np.asarray(names, dtype=object)[clusters % len(names)]
        clusters = clusters // len(names)
    return rows[rows["n_units"] > 0]
