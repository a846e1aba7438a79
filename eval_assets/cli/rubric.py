"""`eval-assets rubric`: a proposed wording of a question on which raters disagree."""

from __future__ import annotations

from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE, nothing_measured
from eval_assets.cli.options import data_option, database_option, question_of, resolve_database

if TYPE_CHECKING:
    from pathlib import Path

    from duckdb import DuckDBPyConnection as Connection

    from eval_assets.config.evaluation import Evaluation
    from eval_assets.config.rubric import RubricQuestion


_MOST_DISPUTED = 5


@click.group()
def rubric() -> None:
    """Draft a new wording of a question; people edit it, and name it in evaluation.yaml."""


@rubric.command(short_help="Write proposed guidelines of a question.")
@click.argument("question")
@data_option
@database_option
@click.option("--judge", help="A live judge whose model words the definitions, within the budget.")
def draft(question: str, data: Path, database: str | None, judge: str | None) -> int:
    """Write guidelines of QUESTION with an example for each value, and list open points.

    Examples are responses that were adjudicated, or that all raters gave the value. The open points
    are what `eval-assets why` says, with the largest disagreements. The file is new;
    evaluation.yaml does not change.
    """
    from eval_assets.labelling.durable import locked, replace_file
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.store.connection import connect

    evaluation = read_evaluation(data)
    declared = question_of(evaluation, question)
    path = data / "guidelines" / f"{question}.draft.md"
    if path.exists():
        raise click.UsageError(f"{path} exists. Rename it, or remove it.")
    database_path = resolve_database(data, database)
    if not database_path.exists():
        return nothing_measured(data)
    with connect(database_path, folder=data, is_reading=True) as connection:
        text = _draft(connection, evaluation, declared, judge=judge)
    with locked(path.parent):
        replace_file(path, text.encode())
    click.echo(f"wrote {path}")
    folder = quote(str(data))
    click.echo(
        f"Edit it, then name it in evaluation.yaml: guidelines: guidelines/{path.name}\n"
        "Labels given after that are a new version. Have new responses labelled, because\n"
        "raters remember the old ones:\n"
        f"eval-assets assign --unlabelled --question {question} --data {folder}"
    )
    return DONE


def _draft(
    connection: Connection,
    evaluation: Evaluation,
    question: RubricQuestion,
    *,
    judge: str | None,
) -> str:
    from eval_assets.labelling.rubric_versions import (
        RubricExample,
        draft_guidelines,
        drafting_prompt,
    )
    from eval_assets.store.labelling import anchor_rows, diagnosis

    result = diagnosis(connection, question)
    anchors = {
        row["value"]: RubricExample(
            row["response_id"], row["response_text"], row["value"], row["source"]
        )
        for row in anchor_rows(connection, question.id)
    }
    to_decide = [f"{point.text}: {point.remedy}" for point in result.observations()]
    disputed = [
        RubricExample(response.response_id, response.text, None, response.ratings_text)
        for response in result.responses[:_MOST_DISPUTED]
    ]
    if disputed and not to_decide:
        to_decide = ["what distinguishes the values on the responses below"]
    drafted = partial(draft_guidelines, question, anchors, to_decide=to_decide, disputed=disputed)
    if judge is None:
        return drafted()
    return drafted(wording=_worded(drafting_prompt(question, drafted()), evaluation, judge))


def _worded(prompt: str, evaluation: Evaluation, judge_id: str) -> str:
    """Return the definitions proposed by a judge's model.

    Raises:
        StoreError: If there is no usable reply.
    """
    from eval_assets.assets.resources import EvaluationFolder
    from eval_assets.assets.summarizing import text_by
    from eval_assets.errors import StoreError

    judges = {judge.id: judge for judge in evaluation.live_judges}
    if judge_id not in judges:
        names = ", ".join(judges) or "none is declared"
        raise click.BadParameter(f'"{judge_id}" is no live judge ({names}).', param_hint="--judge")
    folder = EvaluationFolder.at(evaluation.folder)
    status, words = text_by(
        judges[judge_id], prompt, evaluation, folder, purpose="rubric_draft", run_id=None
    )
    if status != "ok":
        raise StoreError(f"{judge_id} sent no wording: {status.replace('_', ' ')}. {words}")
    return words
