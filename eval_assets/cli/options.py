"""Options that several commands share."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from eval_assets.errors import InputError, InputProblem

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from eval_assets.config.evaluation import Evaluation
    from eval_assets.config.rubric import RubricQuestion
    from eval_assets.scale import Scale
    from eval_assets.shown.blocks import Table
    from eval_assets.store.ledger.engine import SqlLedger
    from eval_assets.store.schema import ExportFormat

Command = TypeVar("Command", bound=Callable[..., object])


def _evaluation_folder(
    context: click.Context,
    parameter: click.Parameter,  # noqa: ARG001 - click's signature
    folder: Path | None,
) -> Path:
    if folder is not None:
        return folder
    if isinstance(context.command, click.Group):  # a part of it may name the folder
        return Path.cwd()
    if isinstance(context.obj, tuple):  # of the command that this one is part of
        return Path(context.obj[0])
    if not Path("evaluation.yaml").is_file():
        raise click.UsageError(
            "The current folder has no evaluation.yaml. Name an evaluation folder with --data, or "
            "make one with eval-assets init."
        )
    return Path.cwd()


data_option = click.option(
    "--data",
    envvar="EVAL_DATA",
    show_envvar=True,
    type=click.Path(path_type=Path),
    callback=_evaluation_folder,
    help="The evaluation folder.  [default: the current one]",
)
database_option = click.option(
    "--database",
    envvar="EVAL_DATABASE",
    show_envvar=True,
    help="The DuckDB file.  [default: out/eval.duckdb in the folder]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON in place of tables.")
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    default="csv",
    show_default=True,
    help="Form of exported rows.",
)
output_option = click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="File to write; Parquet needs one.  [default: the terminal]",
)


def print_json(value: object) -> None:
    """Print a value as JSON; an undefined figure must be None."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=str))


def print_table(table: Table) -> None:
    """Print a table below its name, within 80 columns; without rows its name alone."""
    from eval_assets.shown.terminal import table_lines

    click.echo("\n".join([table.name, *(table_lines(table) if table.rows else ()), ""]))


def check_output(form: ExportFormat, output: Path | None) -> None:
    """Raise UsageError if rows in this form cannot go to the terminal."""
    if form == "parquet" and output is None:
        raise click.UsageError("Parquet is not text: name a file with --output.")


@contextmanager
def file_for(output: Path | None) -> Iterator[Path]:
    """Let a file be written, and copy it to the output file, or to the terminal."""
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / "rows"
        yield temporary
        if output is None:
            with temporary.open("rb") as rows:
                shutil.copyfileobj(rows, sys.stdout.buffer)
            return
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            if output.is_file() and _header(output) not in ([], _header(temporary)):
                message = "the file exists, and is no earlier export of these rows"
                raise click.UsageError(f"--output {output}: {message}. Name another.")
            shutil.copyfile(temporary, output)
        except OSError as error:
            message = f"cannot be written ({error.strerror})"
            remedy = "Name another file with --output"
            raise InputError(InputProblem(str(output), None, None, message, remedy)) from error


def _header(path: Path) -> list[bytes]:
    """Return what begins each export of a table: its columns, or the mark of Parquet."""
    with path.open("rb") as file:
        line = file.readline().strip()
    is_parquet = line.startswith(b"PAR1")
    return [b"PAR1"] if is_parquet else re.findall(rb'"(\w+)":', line) or line.split(b",")


def ledger_of(
    data: Path, evaluation: Evaluation, *, is_reading: bool = False
) -> AbstractContextManager[SqlLedger]:
    """Open the ledger: EVAL_LEDGER, else `ledger.sqlite` in the folder; see `open_ledger`."""
    from eval_assets.store.ledger.opening import open_ledger

    return open_ledger(
        data,
        evaluation=evaluation.name,
        setting=os.environ.get("EVAL_LEDGER"),
        is_reading=is_reading,
    )


def resolve_database(data: Path, database: str | None) -> Path:
    """Return the DuckDB file: the given one, else the folder's own."""
    from eval_assets.store.database_file import database_path

    return database_path(data, setting=database)


def question_of(evaluation: Evaluation, question_id: str | None) -> RubricQuestion:
    """Return the question with the id that a user entered; the only one if they entered none.

    Raises:
        click.UsageError: If the rubric has none of that name, or several and none was entered.
    """
    declared = {question.id: question for question in evaluation.rubric}
    if question_id is None:
        if len(declared) > 1:
            raise click.UsageError(f"Name the question: {', '.join(declared)}.")
        [question] = declared.values()
        return question
    if question_id not in declared:
        names = ", ".join(declared)
        raise click.UsageError(f"There is no question {question_id} (one of {names}).")
    return declared[question_id]


class _ScaleType(click.ParamType["Scale"]):
    """A scale in the syntax of `Scale.parse`."""

    name = "scale"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Scale:
        """Return the scale that the text names."""
        from eval_assets.scale import Scale

        try:
            return Scale.parse(str(value))
        except ValueError as error:
            self.fail(
                f"{error}. Write 1-5, 0-1:any, binary, or words as in bad,fair,good", param, ctx
            )


scale_option = click.option(
    "--scale",
    type=_ScaleType(),
    help="Scale of all ratings: 1-5, 0-1:0.1, 0-1:any, binary, or words, worst first: "
    "bad,fair,good.  [default: that of evaluation.yaml beside the file, else the range of the "
    "ratings]",
)

judge_pass_option = click.option(
    "--judge-pass", "judge_passes", help="Scores that pass, of a judge on another scale: >=0.5."
)


def read_options(command: Command) -> Command:
    """Add the options that say how files of ratings are read, passed on as `options`."""

    @functools.wraps(command)
    def with_options(*args: object, **values: Any) -> object:  # noqa: ANN401 - what click parsed
        from eval_assets.readers.rating_tables import ReadOptions

        options = ReadOptions(**{f.name: values.pop(f.name) for f in fields(ReadOptions)})
        return command(*args, options=options, **values)

    lists = {
        "item": "Columns that name the rated item together.",
        "rater": "Column of the raters, columns of several, or names of people.",
        "judge": "Column of the judges, columns of several, names of judges, or their files.",
        "rating": "Column of the ratings, or one for each question.",
        "only": "Questions to read.",
        "ignore": "Columns not to read.",
        "missing_values": "Words that mean no rating.",
    }
    texts = {
        "question": "Column of the questions.",
        "model": "Column of the systems that made the items.",
        "group": "Column of items that are not independent.  [default: prompts or conversations]",
        "run": "Column that tells repetitions of a judge apart.",
        "sheet": "Sheet of a workbook.",
    }
    options: list[Callable[[Any], Any]] = [
        click.option(
            f"--{name.replace('_', '-')}", name, callback=_names, help=f"{text}  [with commas]"
        )
        for name, text in lists.items()
    ]
    options += [click.option(f"--{name}", help=text) for name, text in texts.items()]
    options += [_LEVEL_OPTION, _SKIP_ROWS_OPTION]
    for option in reversed(options):
        with_options = option(with_options)
    return cast("Command", scale_option(with_options))


_SKIP_ROWS_OPTION = click.option(
    "--skip-rows", type=click.IntRange(min=0), default=0, help="Rows above the header."
)
_LEVEL_OPTION = click.option(
    "--level",
    type=click.Choice(["nominal", "ordinal", "interval", "ratio"]),
    help="Level of measurement.  [default: nominal if there are two values, ordinal if they are "
    "whole numbers, else interval]",
)


def _names(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())
