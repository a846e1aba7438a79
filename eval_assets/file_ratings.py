"""Ratings of a file as agreement is measured on them; none of them is stored."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from eval_assets.agreement.gates.evidence import measures_version
from eval_assets.agreement.ratings import HumanRatings, LongRatings
from eval_assets.store.summaries import disagreements_of, units_by_question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from eval_assets.config.evaluation import Evaluation
    from eval_assets.readers.rating_tables import RatingTables


@dataclass(frozen=True)
class FileRatings:
    """Ratings of a file.

    Args:
        humans: What agreement is measured on.
        disagreements: Rows of `label_disagreements`.
        version: Fingerprint of the ratings.
    """

    humans: HumanRatings
    disagreements: pd.DataFrame
    version: str


def file_ratings(evaluation: Evaluation, tables: RatingTables) -> FileRatings:
    """Return the ratings of people in files on the scales of an evaluation."""
    rows = tables.ratings
    names: list[Any] = [
        rows["item"].cat.categories,
        [question.id for question in evaluation.rubric],
        rows["rater"].cat.categories,
    ]
    response_ids, question_ids, rater_ids = (
        pd.Index(np.array(sorted(map(str, of))), dtype=object) for of in names
    )
    coded = pd.DataFrame(
        {
            "unit": _codes(rows["item"], response_ids),
            "question": _codes(rows["question"], question_ids),
            "rater": _codes(rows["rater"], rater_ids),
            "value": rows["value"].array,
        },
        copy=False,
    )
    group = np.arange(len(response_ids))
    if tables.groups_by:
        groups = tables.items.set_index("item")["group"]
        group = pd.factorize(groups.reindex(response_ids))[0]
    ratings = {
        question.id: _long(
            coded[coded["question"] == question_ids.get_loc(question.id)], rater_ids, group
        )
        for question in evaluation.rubric
    }
    differing = coded[_differ(coded, n_questions=len(question_ids))]
    disagreements = disagreements_of(
        evaluation.rubric,
        pd.DataFrame(
            {
                "response_id": differing["unit"],
                "question_id": pd.Categorical.from_codes(differing["question"], question_ids),
                "rater_id": pd.Categorical.from_codes(differing["rater"], rater_ids),
                "value": differing["value"],
            }
        ),
    )
    units = units_by_question(disagreements)
    disagreements["question_id"] = disagreements["question_id"].astype(str)
    disagreements["response_id"] = response_ids.take(disagreements["response_id"].array)
    version = _fingerprint(ratings, response_ids)
    humans = HumanRatings(
        ratings=ratings,
        n_skipped=Counter(),
        n_disagreements={name: len(of) for name, of in units.items()},
        data_version=measures_version(evaluation, "human", data_version=version),
        disagreements=units,
        first_round_only=frozenset(),
    )
    return FileRatings(humans, disagreements, version)


def _differ(coded: pd.DataFrame, *, n_questions: int) -> NDArray[np.bool_]:
    """Return whether raters differ on the unit of each label."""
    unit = coded["unit"].to_numpy(dtype=np.int64) * n_questions + coded["question"].to_numpy()
    value = coded["value"].to_numpy()
    last = np.zeros(unit.max(initial=-1) + 1)
    last[unit] = value
    is_other = np.zeros(len(last), dtype=bool)
    is_other[unit[value != last[unit]]] = True
    differ: NDArray[np.bool_] = is_other[unit]
    return differ


def _codes(cells: pd.Series, names: pd.Index) -> NDArray[np.int32]:
    """Return the place of each cell among the names."""
    cells = cells.astype("category")  # which they are unless labels of several rounds were joined
    return names.get_indexer(cells.cat.categories).astype(np.int32)[cells.cat.codes]


def _long(coded: pd.DataFrame, rater_ids: pd.Index, group: NDArray[np.integer[Any]]) -> LongRatings:
    """Return the ratings of one question in order."""
    unit, rater, value = (coded[name].to_numpy() for name in ("unit", "rater", "value"))
    place = unit.astype(np.int64) * len(rater_ids) + rater
    if (place[1:] < place[:-1]).any():
        order = np.argsort(place)
        unit, rater, value = unit[order], rater[order], value[order]
    return LongRatings(unit, rater, value, tuple(rater_ids), group)


def _fingerprint(ratings: Mapping[str, LongRatings], response_ids: pd.Index) -> str:
    digest = hashlib.sha256("\n".join(response_ids.tolist()).encode("utf-8", "surrogatepass"))
    for name, long in sorted(ratings.items()):
        digest.update(repr((name, long.rater_ids)).encode())
        for column in (long.unit, long.rater, long.value):
            digest.update(column.tobytes())
    return digest.hexdigest()
