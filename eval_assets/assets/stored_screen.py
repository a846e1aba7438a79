"""The screen of a run and of the report: that of `check`, on the ratings of a database.

It loads no Dagster, as the commands read it too.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eval_assets.agreement.assessment import Assessment, QuestionRatings, assess
from eval_assets.agreement.gates.declarations import GATES
from eval_assets.agreement.judge_comparison import (
    Favour,
    HeldOutTest,
    JudgeScores,
    PlannedTest,
    depends_on_the_gap,
)
from eval_assets.figures import HumanFigures
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.shown.next_step import folder_command, gate_step
from eval_assets.shown.screen import ItemText, ReadSummary, Screen, first_step, screen_of
from eval_assets.store.gates import unread_scores
from eval_assets.store.ratings import (
    human_ratings,
    response_group_ids,
    response_texts,
    scores_of_responses,
)
from eval_assets.store.schema import read_rows
from eval_assets.store.scores import are_stored_judges, versions_rated_as
from eval_assets.tuning.rated import are_held_out
from eval_assets.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from eval_assets.agreement.gates.decision import GateOutcome
    from eval_assets.agreement.judge_comparison import JudgeComparison
    from eval_assets.config.evaluation import Evaluation, GateName


def stored_screen(
    connection: duckdb.DuckDBPyConnection,
    evaluation: Evaluation,
    *,
    outcomes: Sequence[GateOutcome],
    certificates: Sequence[Mapping[str, Any]],
) -> Screen:
    """Return the screen of an evaluation.

    `outcomes` are those of the gates now, by which labels and scores that changed since they were
    read have no verdict; `certificates` are rows of `judge_certificates`, marked where stale.
    """
    reading, assessment = _assessed(connection, evaluation, outcomes, with_judges=True)
    assessment = _with_tests(assessment, connection, certificates)
    return screen_of(reading, assessment, command_of=lambda step: folder_command(step, evaluation))


def gate_steps(
    connection: duckdb.DuckDBPyConnection, evaluation: Evaluation, outcomes: Sequence[GateOutcome]
) -> dict[GateName, str]:
    """Return what to do about each gate that does not pass: on people's ratings the screen's step.

    It names the command, if there is one.
    """
    labels_step = ""
    if any(gate_step(of, labels_step="") for of in outcomes if GATES[of.gate].raters == "human"):
        reading, assessment = _assessed(connection, evaluation, outcomes, with_judges=False)
        if assessment.labels_verdict is not Verdict.PASS:
            step = first_step(reading, assessment)
            labels_step = f"{step.text} {folder_command(step, evaluation)}".rstrip()
    steps = {of.gate: gate_step(of, labels_step) for of in outcomes}
    return {gate: step for gate, step in steps.items() if step}


def _assessed(
    connection: duckdb.DuckDBPyConnection,
    evaluation: Evaluation,
    outcomes: Sequence[GateOutcome],
    *,
    with_judges: bool,
) -> tuple[ReadSummary, Assessment]:
    """Return what is stored, and its assessment, of judges only where the answer needs them."""
    humans = human_ratings(connection, evaluation).ratings
    n_ratings = sum(len(of.value) for of in humans.values())
    scores = {}
    if evaluation.judges and are_stored_judges(connection, evaluation.judges):
        # Without ratings, the next step is about what judges scored.
        scores = scores_of_responses(connection, evaluation) if with_judges or not n_ratings else {}
    groups = response_group_ids(connection)
    is_held_out = np.zeros(len(groups), dtype=bool)
    if scores:
        is_held_out = are_held_out(groups, evaluation.tuning)
    questions = []
    for question in evaluation.rubric:
        people = humans[question.id]
        is_kept = ~is_held_out[people.unit]
        judges = {}
        if question.id in scores:
            of_judges = scores[question.id]
            for judge in (of.id for of in evaluation.judges if of.id in of_judges.rater_ids):
                rows = of_judges.rater == of_judges.rater_ids.index(judge)
                if rows.any():
                    judges[judge] = JudgeScores(of_judges.unit[rows], of_judges.value[rows])
        compared = replace(
            people,
            unit=people.unit[is_kept],
            rater=people.rater[is_kept],
            value=people.value[is_kept],
        )
        questions.append(
            QuestionRatings(question, people, judges, compared if is_held_out.any() else None)
        )
    assessment = assess(
        questions, gates=evaluation.gates, margin=evaluation.tuning.margin, may_pass=False
    )
    of_people = (of.unusable for of in outcomes if GATES[of.gate].raters == "human")
    if unusable := next(filter(None, of_people), None):
        assessment = assessment.outdated(f"{HumanFigures.table} is {unusable.reason}.")
    elif unread_scores(connection, evaluation, source_fingerprints(evaluation)):
        assessment = assessment.outdated("")
    reading = ReadSummary(
        title=evaluation.name,
        files=(),
        n_ratings=n_ratings,
        n_scores=sum(len(of.value) for of in scores.values()),
        n_items=len(groups),
        raters=tuple(sorted({name for of in humans.values() for name in of.raters})),
        judges=tuple(assessment.judges),
        questions=evaluation.rubric,
        n_double=max((of.n_double for of in assessment.labels), default=0),
        groups_by="",
        n_groups=len(set(groups)),
        columns={"item": ("response_id",)},
        not_read={},
        notes=(),
        doubts=(),
        item=lambda unit: ItemText(*response_texts(connection, unit)),
        n_held_out=int(is_held_out.sum()),
    )
    return reading, assessment


def _with_tests(
    assessment: Assessment,
    connection: duckdb.DuckDBPyConnection,
    certificates: Sequence[Mapping[str, Any]],
) -> Assessment:
    """Return the assessment with what held-out tests say, or would say of untested judges."""
    versions = versions_rated_as(connection)
    results: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for row in read_rows(connection, "tuned_judge_evaluation", order_by="reading"):
        results[row["judge_id"], row["question_id"]][row["kind"]] = row
    tests = {
        (row["judge_id"], row["question_id"]): _test_of(
            row,
            results[row["judge_id"], row["question_id"]],
            is_in_use=versions.get(row["judge_id"], row["version"]) == row["version"],
        )
        for row in certificates
        if not row["stale_because"] and row["fitness"] is not None
    }
    plans = {
        (row["judge_id"], row["question_id"]): row
        for row in read_rows(connection, "sealed_test_plans", order_by="reading")
        if not row["stale_because"]
    }

    favours: dict[tuple[str, str], list[Favour]] = defaultdict(list)
    for row in read_rows(connection, "judge_bias", order_by="abs(relative) DESC"):
        if row["is_named"]:
            favour = Favour(row["attribute"], row["value"], row["relative"])
            favours[row["judge_id"], row["question_id"]].append(favour)

    def tested(of: JudgeComparison) -> JudgeComparison:
        unit = of.judge, of.question.id
        plan = _plan_of(plans[unit]) if unit in plans else None
        named = tuple(favours[unit])
        return replace(of, tested=tests.get(unit), planned=plan, favours=named)

    judges = {judge: tuple(map(tested, rows)) for judge, rows in assessment.judges.items()}
    return replace(assessment, judges=judges)


def _test_of(
    certificate: Mapping[str, Any], results: Mapping[str, Mapping[str, Any]], *, is_in_use: bool
) -> HeldOutTest:
    in_part = certificate["claim"] == "fit_in_part"
    row = results.get("fitness_in_part" if in_part else "fitness", {})

    def number(name: str) -> float:
        value = row.get(name)
        return math.nan if value is None else float(value)

    largest = 1 - number("kappa_people") + number("margin") * (certificate["share"] or 1.0)
    return HeldOutTest(
        verdict=Verdict[certificate["state"].upper()],
        version=certificate["version"],
        is_in_use=is_in_use,
        n_units=row.get("n_units") or 0,
        kappa=number("kappa"),
        low=1 - largest * number("ratio_high"),
        high=1 - largest * number("ratio_low"),
        kappa_people=number("kappa_people"),
        minimum=1 - largest,
        share=certificate["share"] if in_part else None,
        doubt_source=certificate["doubt_source"] or "",
        doubt_threshold=math.nan
        if certificate["doubt_threshold"] is None
        else certificate["doubt_threshold"],
    )


def _plan_of(row: Mapping[str, Any]) -> PlannedTest:
    groups, per_group = row["groups_at_gap"], row["responses_per_group"]
    if groups is None or per_group is None:
        return PlannedTest(row["n_groups"], row["chance_fit"], None)
    is_if_equal = depends_on_the_gap(groups, row["groups_if_equal"])
    total = math.ceil((row["groups_if_equal"] if is_if_equal else groups) * per_group)
    return PlannedTest(row["n_groups"], row["chance_fit"], total, is_if_equal)
