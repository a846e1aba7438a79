"""Stored figures that the gates compare, and whether they match the current data."""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from eval_assets.agreement.gates.decision import (
    GATES,
    GateDeclaration,
    GateEvidence,
    GateFigure,
    GateOutcome,
    Unusable,
    applicable_gates,
    evaluate_gates,
)
from eval_assets.bands import MOSTLY_EQUAL, REPEATED, SKEWED_SHARE, UNSTABLE
from eval_assets.catalogue import A_HH, ALPHA, GWET_AC, KAPPA
from eval_assets.config.evaluation import Evaluation, GateName
from eval_assets.figures import HumanFigures, JudgeFigures, RaterKind, Scope
from eval_assets.scale import Level

AgreementFigures = HumanFigures | JudgeFigures

_NOTES = {
    REPEATED: "two judges give equal scores throughout; check that one is not a copy of the other",
    UNSTABLE: "all scores lie close together, where alpha says little",
}
"""Notes on remarks that the interpretation of judges' alpha has."""

_RATINGS_OF_OTHERS: Mapping[RaterKind, str] = {"human": "judge_scores", "judge": "human_labels"}
"""Table of ratings that a gate on each kind of raters does not depend on."""


class MeasuredAgreement(TypedDict):
    """Figures of human agreement and of judge agreement, overall and by question."""

    human: tuple[HumanFigures, ...]
    judge: tuple[JudgeFigures, ...]


def gate_outcomes(
    evaluation: Evaluation,
    *,
    measured: MeasuredAgreement,
    versions: Mapping[RaterKind, str],
    changed: Collection[str],
    edited: Collection[RaterKind] = (),
) -> tuple[GateOutcome, ...]:
    """Decide every applicable gate on measured figures, by the declared minimums.

    `changed` are tables whose files changed after they were read, `edited` kinds of raters whose
    figures were edited after they were measured.
    """
    evidence: dict[GateName, GateEvidence] = {}
    reason = "stale: the stored figures were changed after they were measured"
    edits = Unusable(reason, evaluation.folder)
    n_judges = len(evaluation.primary_judges)
    for name in applicable_gates(evaluation.gates, n_judges=n_judges):
        gate = GATES[name]
        rows = [row for row in measured[gate.raters] if row.scope is not Scope.RESPONSE]
        version = rows[0].data_version if rows else ""
        current = measures_version(evaluation, gate.raters, data_version=versions[gate.raters])
        evidence[name] = GateEvidence(
            figures=tuple(_figures(gate, rows)),
            data_version=version,
            unusable=why_unusable(
                version=version,
                current=current,
                changed=[table for table in changed if table != _RATINGS_OF_OTHERS[gate.raters]],
                folder=evaluation.folder,
            )
            or (edits if gate.raters in edited else None),
        )
    return evaluate_gates(evidence, evaluation.gates)


def why_unusable(
    *, version: str, current: str, changed: Collection[str], folder: Path
) -> Unusable | None:
    """Return why the figures of a table cannot be used; None if they can.

    `version` is of the data they were measured on, empty if nothing was measured; `changed` are the
    tables behind them whose files changed since.
    """
    if not version:
        return Unusable("not measured yet", folder)
    if changed:
        reason = f"stale: the files of {' and '.join(changed)} changed since they were read"
        return Unusable(reason, folder, tuple(changed))
    if version != current:
        return Unusable("stale: the ratings or scales changed since it was measured", folder)
    return None


def measures_version(evaluation: Evaluation, kind: RaterKind, *, data_version: str) -> str:
    """Return the version of everything that agreement depends on.

    These are the stored ratings, and the declared scales, levels and judges, which may differ from
    the stored ones.
    """
    scales = sorted((q.id, q.scale.low, q.scale.high, q.scale.values) for q in evaluation.rubric)
    levels = sorted(alpha_levels(evaluation, kind).items())
    judges = sorted((j.id, j.provider, j.model or "") for j in evaluation.judges)
    excluded = [
        *(judge.id for judge in evaluation.judges if judge.backup),
        *(question.id for question in evaluation.rubric if question.scored_by == "function"),
    ]
    parts: tuple[object, ...] = (data_version, scales, levels, judges if kind == "judge" else [])
    parts += (excluded,) if kind == "judge" and excluded else ()
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def alpha_levels(evaluation: Evaluation, kind: RaterKind) -> dict[str, Level]:
    """Return the level of measurement for alpha of each question.

    It is the question's own for humans and the interval level for judges, whose scores may lie
    between the steps of an order; a gate that declares a level overrides both.
    """
    if kind == "human":
        declared = evaluation.gates["human_alpha"].level
        return {question.id: declared or question.level for question in evaluation.rubric}
    declared = evaluation.gates["judge_alpha"].level
    return {
        question.id: declared or ("interval" if question.has_order else "nominal")
        for question in evaluation.rubric
    }


def overall_level(evaluation: Evaluation) -> Level:
    """Return the level of alpha over all questions: nominal if no question has an order."""
    has_order = any(question.has_order for question in evaluation.rubric)
    return "interval" if has_order else "nominal"


def _figures(gate: GateDeclaration, rows: Sequence[AgreementFigures]) -> list[GateFigure]:
    shares = [row.most_frequent_share for row in rows if isinstance(row, HumanFigures)]
    largest = max((share for share in shares if not math.isnan(share)), default=math.nan)
    figures = [_figure(gate, row, largest_share=largest) for row in rows]
    if gate.statistic not in (KAPPA, GWET_AC):
        return figures
    # They are of one question: overall, the best one decides whether any question passes.
    questions = [figure for figure in figures if figure.question_id is not None]
    measured = [figure for figure in questions if not math.isnan(figure.value)]
    best = sorted(measured, key=lambda figure: figure.value)[-1:]
    return [*(replace(figure, question_id=None) for figure in best), *questions]


def _figure(gate: GateDeclaration, row: AgreementFigures, *, largest_share: float) -> GateFigure:
    """Return the gate's figure in a record, with what explains it.

    `largest_share` is the largest share that one value has of the ratings of any question.
    """
    figure = gate.figure(row)
    remarks = row.interpretation.split("; ")
    notes = [note for remark, note in _NOTES.items() if remark in remarks]
    if isinstance(row, HumanFigures) and gate.statistic is ALPHA:
        exact = row.exact_agreement.value
        share = largest_share if row.scope is Scope.OVERALL else row.most_frequent_share
        if exact >= MOSTLY_EQUAL and share > SKEWED_SHARE:
            notes = [
                f"{exact:.0f} % of pairs are equal, and alpha is low where ratings hardly vary"
            ]
    return GateFigure(
        question_id=row.question_id,
        value=figure.value,
        low=figure.low,
        high=figure.high,
        n_units=row.n_responses if isinstance(row, HumanFigures) else row.n_units,
        n_groups=row.n_groups,
        undefined_because="" if figure.is_defined else remarks[-1],
        by_chance=row.a_hh_by_chance
        if isinstance(row, HumanFigures) and gate.statistic is A_HH
        else 0.0,
        note="; ".join(notes),
    )
