"""The screen of a run and of the report: that of `check`, on the ratings of a database.

It loads no Dagster, as the commands read it too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from duckdb import DuckDBPyConnection as Connection

from eval_assets.agreement.comparing import Assessment, JudgeScores, QuestionRatings, assess
from eval_assets.agreement.gates.decision import GATES, GateOutcome
from eval_assets.config.evaluation import Evaluation, GateName
from eval_assets.figures import HumanFigures
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.shown.next_step import Action, folder_command, gate_step
from eval_assets.shown.screen import ItemText, ReadSummary, Screen, first_step, screen_of
from eval_assets.store.gates import unread_scores
from eval_assets.store.ratings import (
    human_ratings,
    response_group_ids,
    response_texts,
    scores_of_responses,
)
from eval_assets.store.scores import are_stored_judges, with_tests
from eval_assets.tuning.rated import are_held_out
from eval_assets.verdicts import Verdict


def stored_screen(
    connection: Connection,
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
    assessment = with_tests(assessment, connection, certificates)
    return screen_of(reading, assessment, command_of=lambda step: folder_command(step, evaluation))


def gate_steps(
    connection: Connection, evaluation: Evaluation, outcomes: Sequence[GateOutcome]
) -> dict[GateName, str]:
    """Return what to do about each gate that does not pass: on people's ratings the screen's step.

    It names the command, if there is one.
    """
    labels_step = judges_step = ""
    if _are_judges_apart(outcomes):
        reading, assessment = _assessed(connection, evaluation, outcomes, with_judges=True)
        step = first_step(reading, assessment)
        if step.action is Action.DROP_JUDGE:
            judges_step = f"{step.text} Run {folder_command(step, evaluation)}"
    if any(gate_step(of, labels_step="") for of in outcomes if GATES[of.gate].raters == "human"):
        reading, assessment = _assessed(connection, evaluation, outcomes, with_judges=False)
        if assessment.labels_verdict is not Verdict.PASS:
            step = first_step(reading, assessment)
            command = folder_command(step, evaluation)
            labels_step = f"{step.text} Run {command}" if command else step.text
    # That of the only closed gate is first.
    steps: dict[GateName, str] = {"judge_alpha": judges_step} if judges_step else {}
    steps |= {of.gate: gate_step(of, labels_step) for of in outcomes if of.gate not in steps}
    return {gate: step for gate, step in steps.items() if step}


def _are_judges_apart(outcomes: Sequence[GateOutcome]) -> bool:
    """Return whether the gate between judges is the only closed one."""
    return [of.gate for of in outcomes if of.is_closed] == ["judge_alpha"]


def _assessed(
    connection: Connection,
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
        judges = {}
        if question.id in scores:
            of_judges = scores[question.id]
            for judge in (of.id for of in evaluation.judges if of.id in of_judges.rater_ids):
                rows = of_judges.rater == of_judges.rater_ids.index(judge)
                if rows.any():
                    judges[judge] = JudgeScores(of_judges.unit[rows], of_judges.value[rows])
        questions.append(QuestionRatings(question, people, judges, is_held_out))
    assessment = assess(
        questions, gates=evaluation.gates, margin=evaluation.tuning.margin, may_pass=False
    )
    assessment = replace(assessment, are_judges_apart=_are_judges_apart(outcomes))
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
