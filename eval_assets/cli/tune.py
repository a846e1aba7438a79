"""`eval-assets tune`: tuning of judges, its plan, and all results of a test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE, GATE_CLOSED
from eval_assets.cli.options import (
    data_option,
    database_option,
    ledger_of,
    print_table,
    question_of,
    resolve_database,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from duckdb import DuckDBPyConnection as Connection

    from eval_assets.config.evaluation import Evaluation
    from eval_assets.tuning.power import Plan
    from eval_assets.tuning.rated import RatedUnits

ASSETS = (
    "judge_human_agreement,score_summary,agreement_by_slice,"  # without held-out responses
    "judge_splits,score_calibration,tuned_judges,judge_versions,tuned_judge_evaluation,"
    "judge_certificates,system_comparison,agreement_report"
)


@click.command()
@data_option
@database_option
@click.option("--plan", is_flag=True, help="Only print the power and cost of an evaluation.")
@click.option(
    "--show-test",
    metavar="QUESTION",
    help="Show all results of a question's test. Its labels cannot be used in a later test.",
)
@click.option("--yes", is_flag=True, help="Show the test without asking.")
def tune(
    data: Path,
    database: str | None,
    plan: bool,  # noqa: FBT001 - click's flag
    show_test: str | None,
    yes: bool,  # noqa: FBT001
) -> int:
    """Tune judges on train and dev, then evaluate them on the held-out test.

    Each evaluation counts. `run` evaluates a test once, and again after a new judge or prompt or
    when the test has grown by half. This command evaluates after any change of labels or scores.
    Neither does if train and dev give no claim a chance of 50 %, unless evaluation.yaml declares
    `tuning: {evaluate: always}`.
    """
    from eval_assets.readers.evaluation.read import read_evaluation

    evaluation = read_evaluation(data)
    if plan:
        return _plan(evaluation, data, resolve_database(data, database))
    if show_test is not None:
        return _show(evaluation, data, resolve_database(data, database), show_test, yes=yes)
    # Dagster takes seconds to import.
    from eval_assets.assets.certificates import READ_TESTS_TAG
    from eval_assets.assets.resources import EvaluationFolder
    from eval_assets.cli.materialize import materialize

    folder, tags = EvaluationFolder.at(data, database=database), {READ_TESTS_TAG: "true"}
    return materialize(folder, select=ASSETS, verbose=False, output="text", tags=tags)


def _plan(evaluation: Evaluation, data: Path, database: Path) -> int:
    from eval_assets.shown.blocks import text_table
    from eval_assets.shown.certificates import labels_sentence
    from eval_assets.shown.terminal import wrapped
    from eval_assets.store.connection import connect
    from eval_assets.store.ledger.histories import JudgeLedger
    from eval_assets.store.splits import cost_of_requests, tuning_units
    from eval_assets.store.tuned_judges import background_of, current_judges
    from eval_assets.tuning.held_out_test import next_plans
    from eval_assets.tuning.steps import untested_judge

    with connect(database, folder=data) as connection:
        question_ids = _open_questions(connection, evaluation)
        if not question_ids:
            return GATE_CLOSED
        questions = [evaluation.question(question_id) for question_id in question_ids]
        units = tuning_units(connection, questions, shares=evaluation.tuning.split)
        with ledger_of(data, evaluation) as ledger:
            judges = current_judges(connection, ledger, units)
            judges = judges or [
                untested_judge(judge.id, units, steps=evaluation.tuning.steps)
                for judge in evaluation.judges
            ]
            costs = _costs(evaluation, units, cost_of_requests(connection))
            plans: list[Plan] = []
            for question_id, rated in units.items():
                background = background_of(connection, question_id, evaluation.tuning)
                plans += next_plans(JudgeLedger(ledger), rated, judges, background)
    if not plans:
        click.echo("No judge scored the test, so that there is nothing to plan.")
        return DONE
    cells = list(map(_cells, plans))
    for title, start, numbers in (
        ("Chances in the next evaluation of each test", 2, _CHANCES),
        ("Gains from tuning that it can show", 2 + len(_CHANCES), _GAINS),
    ):
        rows = [[*row[:2], *row[start : start + len(numbers)]] for row in cells]
        print_table(text_table(title, ("question", "judge", *numbers), rows, numbers=numbers))
    lines = [
        "By train and dev: chances to be better, to pass, on a part, and to pass if like people.",
        "The detectable gain is found in 80 % of tries; half of it takes four times the groups.",
    ]
    lines += [
        f"{plan_.judge_id} on {plan_.question_id}: {words}."
        for plan_ in plans
        if (words := labels_sentence(plan_))
    ]
    for text in (*lines, *costs):
        click.echo("\n".join(wrapped(text, first="", rest="")))
    return DONE


def _costs(
    evaluation: Evaluation,
    units: Mapping[str, RatedUnits],
    per_1000_requests: Mapping[str, float | None],
) -> list[str]:
    """Return requests and cost of the declared steps, a line for each live judge."""
    from eval_assets.tuning.power import most_requests
    from eval_assets.wording import counted

    live = [judge.id for judge in evaluation.live_judges]
    n_requests = most_requests(units, evaluation.tuning)
    if not (live and n_requests):
        return ["The declared steps ask no model anything: they cost nothing."]
    lines = []
    for judge_id in live:
        rate = per_1000_requests.get(judge_id)
        cost = "at a cost that is not known"
        if rate is not None:
            cost = (
                f"about {n_requests * rate / 1000:,.2f} USD at what its requests have cost so far"
            )
        lines.append(
            f"The steps of prompts ask {judge_id} at most {counted(n_requests, 'time')}, {cost}."
        )
    limit = evaluation.tuning.max_usd
    lines.append(
        "What was asked before is not asked again"
        + (f", and the steps spend at most {limit:g} USD in a run." if limit is not None else ".")
    )
    return lines


def _show(
    evaluation: Evaluation, data: Path, database: Path, question_id: str, *, yes: bool
) -> int:
    """Print all results of a question's test, and record then that it was shown."""
    from eval_assets.shown.certificates import test_table
    from eval_assets.store.connection import connect, transaction
    from eval_assets.store.ledger.copies import copy_ledger
    from eval_assets.store.ledger.histories import JudgeLedger
    from eval_assets.store.splits import tuning_units
    from eval_assets.store.tuned_judges import background_of, current_judges
    from eval_assets.tuning.held_out_test import shown_test

    question = question_of(evaluation, question_id)
    if not yes:
        click.confirm(
            f"After this, the labels in the test of {question_id} certify nothing. Show it?",
            abort=True,
        )
    with connect(database, folder=data) as connection:
        if question_id not in _open_questions(connection, evaluation):
            return GATE_CLOSED
        units = tuning_units(connection, [question], shares=evaluation.tuning.split)
        with ledger_of(data, evaluation) as ledger:
            judges = JudgeLedger(ledger)
            rows, shown = shown_test(
                judges,
                units[question_id],
                current_judges(connection, ledger, units),
                background_of(connection, question_id, evaluation.tuning),
            )
            print_table(test_table(rows))
            for reason in dict.fromkeys(str(row["reason"]) for row in rows):
                click.echo(f"{reason}.")
            if shown is not None:
                judges.record(shown)
                judges.release(shown)
                with transaction(connection):
                    copy_ledger(ledger, connection, "test_set_uses")
                click.echo(
                    f"The test of {question_id} was shown. Groups labelled from now on form the "
                    "next one."
                )
    return DONE


def _open_questions(connection: Connection, evaluation: Evaluation) -> Sequence[str]:
    """Return the questions that may be tuned on; print the closed gates if there are none."""
    from eval_assets.agreement.gates.decision import tunable_questions
    from eval_assets.readers.evaluation.input_files import source_fingerprints
    from eval_assets.shown.gates import gates_answer
    from eval_assets.store.gates import stored_gate_outcomes, unread_scores

    sources = source_fingerprints(evaluation)
    if reason := unread_scores(connection, evaluation, sources):
        click.echo(f"{reason}.", err=True)
        return ()
    outcomes = stored_gate_outcomes(connection, evaluation, sources=sources)
    if any(of.is_closed for of in outcomes):
        click.echo(f"{gates_answer(outcomes)} eval-assets gates says what to do.", err=True)
    return tunable_questions(outcomes, tuple(question.id for question in evaluation.rubric))


_CHANCES = ("better", "passes", "in part", "if equal", "no.", "level")
_GAINS = ("test groups", "likely", "detectable", "groups needed")


def _cells(plan: Plan) -> list[str]:
    from eval_assets.tuning.claim_results import MOST_EVALUATIONS

    return [
        plan.question_id,
        f"{plan.judge_id} {plan.version}",
        *(
            _number(chance, ".0%")
            for chance in (
                plan.chance_improved,
                plan.chance_fit,
                plan.chance_in_part,
                plan.chance_if_equal,
            )
        ),
        f"{plan.reading} of {MOST_EVALUATIONS}",
        f"{plan.level:.4f}",
        f"{plan.n_groups:,}",
        _number(plan.expected_gain, "+z.3f"),
        _number(plan.detectable_gain, ".3f"),
        "--" if plan.groups_for_gain is None else f"{plan.groups_for_gain:,}",
    ]


def _number(value: float, form: str) -> str:
    return "--" if math.isnan(value) else format(value, form)
