"""Evidence of the gates: figures, the version of the data behind them, the level of alpha."""

import hashlib
import math
from collections.abc import Collection, Hashable, Mapping
from typing import Any

import pandas as pd

from eval_assets.agreement.ratings import RaterKind
from eval_assets.evaluation import Evaluation, GateName
from eval_assets.gates import (
    ASSET_OF_GATE,
    Evidence,
    Figure,
    GateOutcome,
    applicable_gates,
    evaluate_gates,
)
from eval_assets.interpretation import MOSTLY_EQUAL, SKEWED_SHARE, UNSTABLE
from eval_assets.scale import Level

_KIND_OF_GATE: dict[GateName, RaterKind] = {
    "human_a_hh": "human",
    "human_alpha": "human",
    "judge_alpha": "judge",
}
_COLUMN_OF_GATE = {"human_a_hh": "a_hh", "human_alpha": "alpha", "judge_alpha": "alpha"}


def judge_gates(
    evaluation: Evaluation,
    *,
    measures: Mapping[str, pd.DataFrame],
    versions: Mapping[RaterKind, str],
    changed: Collection[str],
) -> tuple[GateOutcome, ...]:
    """Judge measured figures by the thresholds declared now, with every gate that applies.

    Args:
        evaluation: The evaluation as declared now.
        measures: Rows of `human_agreement` and `judge_agreement`.
        versions: Version of the ratings stored now, by kind of rater.
        changed: Tables whose files changed since they were read.
    """
    evidence: dict[GateName, Evidence] = {}
    for gate in applicable_gates(n_judges=len(evaluation.judges)):
        kind, rows = _KIND_OF_GATE[gate], measures[ASSET_OF_GATE[gate]]
        measured = "" if rows.empty else str(rows["data_version"].iloc[0])
        current = measures_version(evaluation, kind, data_version=versions[kind])
        evidence[gate] = Evidence(
            figures=_figures(rows, _COLUMN_OF_GATE[gate]),
            data_version=measured,
            unusable_because=_why_unusable(
                gate, measured=measured, current=current, changed=changed
            ),
        )
    return evaluate_gates(evidence, evaluation.gates)


def measures_version(evaluation: Evaluation, kind: RaterKind, *, data_version: str) -> str:
    """Return the version of everything that agreement depends on.

    Ratings as stored; scales, levels and judges as declared now, which may differ from the stored.

    Args:
        evaluation: The evaluation as declared now.
        kind: Raters whose agreement it is.
        data_version: Version of the stored ratings.
    """
    scales = sorted((q.id, q.scale.low, q.scale.high, q.scale.values) for q in evaluation.rubric)
    levels = sorted(alpha_levels(evaluation, kind).items())
    judges = sorted((j.id, j.provider, j.model or "") for j in evaluation.judges)
    parts = (data_version, scales, levels, judges if kind == "judge" else [])
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def alpha_levels(evaluation: Evaluation, kind: RaterKind) -> dict[str, Level]:
    """Return the level at which alpha of each question is measured.

    It is the question's own for humans and the interval level for judges, whose scores may lie
    between the steps; a gate that declares a level overrides both.
    """
    if kind == "human":
        declared = evaluation.gates["human_alpha"].level
        return {question.id: declared or question.level for question in evaluation.rubric}
    declared = evaluation.gates["judge_alpha"].level
    return {question.id: declared or "interval" for question in evaluation.rubric}


def _why_unusable(
    gate: GateName, *, measured: str, current: str, changed: Collection[str]
) -> tuple[str, str] | None:
    """Return why the figures of a gate cannot be judged and the remedy; None if they can."""
    remedy = f"Materialize {ASSET_OF_GATE[gate]}"
    if not measured:
        return "nothing measured yet", remedy
    if changed:
        tables = " and ".join(changed)
        return f"stale: the files of {tables} changed since they were read", "Run eval-assets run"
    if measured != current:
        return "stale: the ratings or scales changed since it was measured", remedy
    return None


def _figures(rows: pd.DataFrame, column: str) -> tuple[Figure, ...]:
    """Return overall and question figures; NULL is NaN, which passes no comparison."""
    of_all = rows["most_frequent_share"].max() if "most_frequent_share" in rows else math.nan
    return tuple(
        Figure(
            question_id=None if row["scope"] == "overall" else str(row["question_id"]),
            value=_number(row[column]),
            low=_number(row[f"{column}_low"]),
            high=_number(row[f"{column}_high"]),
            n_units=int(row["n_responses" if "n_responses" in row else "n_units"]),
            undefined_because=str(row["interpretation"]).rpartition("; ")[2],
            hardly_varies=_how_alike(row, of_all=_number(of_all)),
            n_disagreements=int(row.get("n_disagreements", 0)),
            n_groups=int(row["n_groups"]),
        )
        for row in rows[rows["scope"] != "response"].to_dict("records")
    )


def _how_alike(row: Mapping[Hashable, Any], *, of_all: float) -> str:
    """Return how alike the ratings are if they hardly vary; else nothing.

    Args:
        row: The figures of a question, or overall.
        of_all: The largest share that one value has of the ratings of any question.
    """
    exact = _number(row.get("exact_agreement"))
    share = of_all if row["scope"] == "overall" else _number(row.get("most_frequent_share"))
    if exact >= MOSTLY_EQUAL and share > SKEWED_SHARE:
        return f"{exact:.0f} % of pairs are equal"
    if row["interpretation"] == UNSTABLE:
        return "all scores lie close together"
    return ""


def _number(value: float | None) -> float:
    return math.nan if value is None or pd.isna(value) else float(value)
