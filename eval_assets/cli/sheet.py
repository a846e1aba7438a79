"""`eval-assets sheet`: annotation sheets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import data_option, database_option, resolve_database
from eval_assets.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from collections.abc import Set as AbstractSet

    from eval_assets.cli.study_files import StudyFiles
    from eval_assets.labelling.rubric_versions import RubricWording


Units = dict[str, "AbstractSet[str]"]
"""Responses by question."""

_NONE = frozenset[str]()


@click.command()
@data_option
@database_option
@click.option("--rater", "raters", multiple=True, help="Only for this rater.  [default: all]")
@click.option("--new", is_flag=True, help="Write units that no sheet has yet beside filled sheets.")
@click.option(
    "--needed",
    is_flag=True,
    help="Write only units without a rating that no judge is certified to score.",
)
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write to.  [default: labels/ in the evaluation folder]",
)
def sheet(  # noqa: PLR0913 - one parameter per option
    *,
    data: Path,
    database: str | None,
    raters: tuple[str, ...],
    new: bool,
    needed: bool,
    to: Path | None,
) -> int:
    """Write an annotation sheet for each rater, to fill in with a spreadsheet program.

    Where evaluation.yaml names no raters, it is one sheet with an empty column rater_id. A sheet
    with labels is never overwritten.
    """
    from eval_assets.cli.study_files import read_study
    from eval_assets.labelling.rubric_versions import reworded_questions

    path = resolve_database(data, database)
    files = read_study(data, database=path)
    excluded = _units_without_need(files, path) if needed else {}
    chosen = raters or files.study.raters or ("",)
    unknown = [rater for rater in raters if files.study.raters and rater not in files.study.raters]
    if unknown:
        raise click.UsageError(f"{', '.join(unknown)} is not a rater here.")
    wordings: Sequence[RubricWording] = ()
    if path.exists():
        from eval_assets.cli.study_files import stored_wordings
        from eval_assets.store.connection import connect

        with connect(path, folder=data, is_reading=True) as connection:
            wordings = stored_wordings(connection)
    reworded = reworded_questions(files.evaluation.rubric, wordings)
    _write_sheets(
        files, chosen, to or data / "labels", new=new, excluded=excluded, reworded=reworded
    )
    return DONE


def _units_without_need(files: StudyFiles, database: Path) -> Units:
    """Return units that a certified judge scores or that anyone rated, and print their numbers.

    Raises:
        click.UsageError: If no judge is certified for all or a part of the responses.
    """
    from eval_assets.cli.study_files import rated_units
    from eval_assets.store.connection import connect
    from eval_assets.store.tuned_judges import units_of_fit_judges, units_with_every_score
    from eval_assets.wording import counted

    fit, scored = dict[str, frozenset[str]](), dict[str, frozenset[str]]()
    if database.exists():
        folder = files.evaluation.folder
        with connect(database, folder=folder, is_reading=True) as connection:
            fit, scored = units_of_fit_judges(connection), units_with_every_score(connection)
    if not (fit or files.study.covered):
        raise click.UsageError("No judge is certified for all or a part of the responses.")
    rated: dict[str, set[str]] = {}
    label_files = files.evaluation.labels.files
    for response_id, question_id, *_ in rated_units(files.evaluation, files.responses, label_files):
        rated.setdefault(question_id, set()).add(response_id)
    excluded: Units = {}
    for question in files.evaluation.rubric:
        candidates = {
            name for name, view in files.study.responses.items() if question in view.questions
        }
        judged = fit.get(question.id, _NONE) | files.study.covered.get(question.id, _NONE)
        needs_rater = candidates - judged
        labelled = needs_rater & rated.get(question.id, set())
        n_unscored = len(needs_rater - scored.get(question.id, _NONE))
        click.echo(
            f"{question.id}: {len(needs_rater):,} of {counted(len(candidates), 'response')} "
            f"need a person, {n_unscored:,} of them because a judge has no score; "
            f"{len(labelled):,} are rated"
        )
        excluded[question.id] = judged | labelled
    return excluded


def _write_sheets(  # noqa: PLR0913 - one parameter per option
    files: StudyFiles,
    raters: Sequence[str],
    folder: Path,
    *,
    new: bool,
    excluded: Units,
    reworded: Collection[str],
) -> None:
    from eval_assets.cli.study_files import rated_units
    from eval_assets.labelling.sessions import file_name
    from eval_assets.labelling.sheets import sheet_text, write_sheet
    from eval_assets.readers.evaluation.read import read_evaluation

    evaluation = files.evaluation
    sheets = sorted(folder.glob("[!.]*")) if new else []
    paths = [*evaluation.labels.files, *sheets]
    rated = rated_units(evaluation, files.responses, paths)
    refused: list[InputError] = []
    for rater in raters:
        units = [
            unit
            for unit in files.study.sheet_units(rater)
            if unit.rating_key not in rated
            and unit.response.response_id not in excluded.get(unit.question.id, ())
        ]
        if not units and (notice := files.study.queue(rater).notice):
            click.echo(f"{rater}: {notice}")
            continue
        if not units and (excluded or rated):
            click.echo(f"nothing to label{f' for {rater}' if rater else ''}")
            continue
        name, number = file_name(rater) or "sheet", 2
        path = folder / f"{name}.csv"
        while new and path.exists():
            path, number = folder / f"{name}-{number}.csv", number + 1
        try:
            text = sheet_text(
                files.responses,
                units,
                hide=evaluation.labelling.hide,
                reworded=reworded,
                codes=files.study.codes,
            )
            write_sheet(path, text)
        except InputError as error:
            refused.append(error)
        else:
            click.echo(f"wrote {path}, {len(units)} to label")
    if refused:
        raise ExceptionGroup("sheets were kept", refused)
    label_files = read_evaluation(evaluation.folder).labels.files
    if folder.exists() and not any(path.parent == folder for path in label_files):
        file_names = [path.name for path in label_files if path.parent == evaluation.folder]
        names = [*(json.dumps(name) for name in file_names), f'"{folder.name}/*"']
        click.echo(
            "Filled in, they are read only if evaluation.yaml says so: "
            f"labels: [{', '.join(names)}]",
            err=True,
        )
