"""What gates judge: which figures, on which version of the data, at which level of alpha."""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from eval_assets.agreement.ratings import RaterKind
from eval_assets.evaluation import Evaluation, GateName
from eval_assets.gates import Evidence, Figure, GateOutcome, applicable_gates, evaluate_gates
from eval_assets.scale import Level


@dataclass(frozen=True)
class _Measured:
    """Where the figures of a gate stand."""

    table: Literal["human_agreement", "judge_agreement"]
    kind: RaterKind
    figure: Literal["a_hh", "alpha"]
    n_units: Literal["n_responses", "n_units"]


_MEASURED: dict[GateName, _Measured] = {
    "human_a_hh": _Measured("human_agreement", "human", "a_hh", "n_responses"),
    "human_alpha": _Measured("human_agreement", "human", "alpha", "n_responses"),
    "judge_alpha": _Measured("judge_agreement", "judge", "alpha", "n_units"),
}


def judge_gates(
    evaluation: Evaluation,
    *,
    measures: Mapping[str, pd.DataFrame],
    versions: Mapping[RaterKind, str],
    gates: Iterable[GateName] | None = None,
) -> tuple[GateOutcome, ...]:
    """Judge measured figures by the thresholds declared now.

    Args:
        evaluation: What is declared now.
        measures: Rows of `human_agreement` and `judge_agreement`.
        versions: Version of the stored ratings as they are now, by kind of rater.
        gates: Gates to judge; None for all that apply.
    """
    evidence: dict[GateName, Evidence] = {}
    for gate in gates or applicable_gates(n_judges=len(evaluation.judges)):
        measured = _MEASURED[gate]
        rows = measures[measured.table]
        evidence[gate] = Evidence(
            figures=_figures(rows, measured),
            measured_version=None if rows.empty else str(rows["data_version"].iloc[0]),
            current_version=measures_version(
                evaluation, measured.kind, data_version=versions[measured.kind]
            ),
        )
    return evaluate_gates(evidence, evaluation.gates)


def measures_version(evaluation: Evaluation, kind: RaterKind, *, data_version: str) -> str:
    """Return the version of all that agreement depends on: ratings, scales, level of alpha.

    Scales, levels and judges are those declared now, which the stored ones may not be yet.

    Args:
        evaluation: What is declared now.
        kind: Whose agreement.
        data_version: Version of the stored ratings.
    """
    scales = sorted((q.id, q.scale.low, q.scale.high, q.scale.values) for q in evaluation.rubric)
    levels = sorted(alpha_levels(evaluation, kind).items())
    judges = sorted((j.id, j.provider, j.model or "") for j in evaluation.judges)
    parts = (data_version, scales, levels, judges if kind == "judge" else [])
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def alpha_levels(evaluation: Evaluation, kind: RaterKind) -> dict[str, Level]:
    """Level at which alpha of each question is to be measured.

    Humans' at the question's own level, judges' at the interval level, since their scores may lie
    between the steps; a gate that declares a level overrides both.
    """
    if kind == "human":
        declared = evaluation.gates["human_alpha"].level
        return {question.id: declared or question.level for question in evaluation.rubric}
    declared = evaluation.gates["judge_alpha"].level
    return {question.id: declared or "interval" for question in evaluation.rubric}


def _figures(rows: pd.DataFrame, measured: _Measured) -> tuple[Figure, ...]:
    """Overall and question figures; NULL is NaN, with which no comparison holds."""
    judged = rows[rows["scope"] != "response"]
    return tuple(
        Figure(
            question_id=None if row["scope"] == "overall" else str(row["question_id"]),
            value=_number(row[measured.figure]),
            low=_number(row[f"{measured.figure}_low"]),
            high=_number(row[f"{measured.figure}_high"]),
            n_units=int(row[measured.n_units]),
            undefined_because=str(row["interpretation"]),
        )
        for row in judged.to_dict("records")
    )


def _number(value: float | None) -> float:
    return math.nan if value is None or pd.isna(value) else float(value)
