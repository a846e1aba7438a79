"""`eval-assets label`: labelling in the terminal."""

from __future__ import annotations

import csv
import json
import sys
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE, MISUSED
from eval_assets.cli.options import (
    data_option,
    database_option,
    question_of,
    resolve_database,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from eval_assets.labelling.rater_queue import RaterQueue
    from eval_assets.labelling.sessions import Session
    from eval_assets.labelling.study import Study

_CSV_COLUMNS = (
    "response_id",
    "rater_id",
    "question_id",
    "round",
    "rating",
    "labelled_at",
    "confidence",
    "notes",
    "skipped",
    "skip_reason",
)


@click.command()
@data_option
@database_option
@click.option("--rater", help="Who labels.")
@click.option(
    "--dimension", help="Question to label; --export spells it alike.  [default: all, in turn]"
)
@click.option("--run-id", help="Run whose responses are labelled, if there are several.")
@click.option("--resume", is_flag=True, help="Continue the session that --session-id names.")
@click.option("--export", is_flag=True, help="Print the session that --session-id names.")
@click.option("--session-id", help="Session to continue or to print.")
@click.option(
    "--format",
    "as_format",
    type=click.Choice(["json", "csv"]),
    default="json",
    show_default=True,
    help="Form in which --export prints.",
)
def label(  # noqa: PLR0913 - one parameter per option
    *,
    data: Path,
    database: str | None,
    rater: str | None,
    dimension: str | None,
    run_id: str | None,
    resume: bool,
    export: bool,
    session_id: str | None,
    as_format: str,
) -> int:
    """Label responses in the terminal, one key an answer.

    Every answer is on disk before the next response is shown, in sessions/ of the evaluation
    folder. Stop with Q, or in any other way, and continue with the same command or with
    --resume --session-id.
    """
    from eval_assets.cli.study_files import read_study
    from eval_assets.cli.terminal_loops import LabellingLoop
    from eval_assets.cli.terminal_screen import Keyboard, is_terminal

    study = read_study(data, database=resolve_database(data, database)).study
    if (resume or export) and session_id is None:
        raise click.UsageError("Name the session: --session-id.")
    if session_id is not None:
        session = study.sessions.find(session_id)
        if session is None:
            session_ids = ", ".join(path.stem for path in study.sessions.files()) or "none yet"
            raise click.UsageError(f"There is no session {session_id}. Sessions: {session_ids}.")
        if export:
            name = dimension or session.key.question_id
            if _question_id(study, name) != session.key.question_id:
                raise click.UsageError(f"{session_id} is about {session.key.question_id}.")
            _print_session(session, dimension=name, as_format=as_format)
            return DONE
        key = session.key
        rater, dimension, run_id = key.rater_id, key.question_id, key.run_id
    queue = _queue(study, rater=rater, dimension=dimension, run_id=run_id)
    if not is_terminal():
        click.echo(
            "label needs a terminal. In scripts and without one, use `eval-assets sheet` or "
            "`eval-assets serve --labels`.",
            err=True,
        )
        return MISUSED
    with Keyboard() as keyboard:
        click.echo(queue.notice, nl=bool(queue.notice))
        while LabellingLoop(queue, keyboard).run() and queue.has_sequel:
            queue = study.queue(queue.units[0].key.rater_id, question_id=dimension, run_id=run_id)
            click.echo(queue.notice)
            if not queue.units:
                break
    return DONE


def _queue(
    study: Study, *, rater: str | None, dimension: str | None, run_id: str | None
) -> RaterQueue:
    """Return the work that the options select; raise UsageError if they are incomplete or wrong."""
    if rater is None:
        raise click.UsageError(f"Say who labels: --rater NAME{_one_of(study.raters)}.")
    if study.raters and rater not in study.raters:
        raise click.UsageError(f"{rater} is not a rater here{_one_of(study.raters)}.")
    runs = sorted({view.run_id for view in study.responses.values() if view.run_id is not None})
    if run_id is None and len(runs) > 1:
        raise click.UsageError(f"Name the run: --run-id{_one_of(runs)}.")
    if run_id is not None and run_id not in runs:
        raise click.UsageError(f"There is no run {run_id}{_one_of(runs)}.")
    question_id = None if dimension is None else _question_id(study, dimension)
    queue = study.queue(rater, question_id=question_id, run_id=run_id)
    if not queue.units and queue.notice:
        raise click.UsageError(queue.notice)
    if not queue.units:
        number = study.evaluation.labelling.round
        raise click.UsageError(
            f"There is nothing for {rater} to label in round {number}. "
            "See assignments.csv, or write it with `eval-assets assign`."
        )
    return queue


def _question_id(study: Study, dimension: str) -> str:
    """Return the question of that name, with hyphens read as underscores."""
    names = [name for question in study.evaluation.rubric for name in question.names]
    ids_by_name = {name.lower().replace("-", "_"): name for name in names}
    question_id = ids_by_name.get(dimension.lower().replace("-", "_"), dimension)
    return question_id if question_id in names else question_of(study.evaluation, question_id).id


def _one_of(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f" (one of {listed})" if listed else ""


def _print_session(session: Session, *, dimension: str, as_format: str) -> None:
    from eval_assets.labelling.rater_queue import now
    from eval_assets.labelling.session_files import session_json
    from eval_assets.labelling.sessions import time_text
    from eval_assets.labelling.sheets import neutralised

    if as_format == "json":
        exported = {"exportedAt": time_text(now()), **session_json(session), "dimension": dimension}
        click.echo(json.dumps(exported, ensure_ascii=False, indent=2))
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(_CSV_COLUMNS)
    unit_columns = (session.key.rater_id, session.key.question_id, session.key.round)
    for label in session.labels:
        if label.is_repeat:
            continue
        rating = "" if label.rating is None else f"{label.rating:.15g}"
        skipped = "true" if label.rating is None else ""
        answer = (rating, time_text(label.labelled_at), label.confidence, label.notes)
        row = (label.response_id, *unit_columns, *answer, skipped, label.skip_reason)
        writer.writerow([neutralised(cell) if isinstance(cell, str) else cell for cell in row])
