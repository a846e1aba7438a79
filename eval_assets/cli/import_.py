"""`eval-assets import`: an evaluation folder from another tool's export."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE, FAILED
from eval_assets.readers.importers import TOOLS

if TYPE_CHECKING:
    from eval_assets.readers.importers.export_content import Export


@click.command(
    "import",
    epilog=f"Tools: {', '.join(TOOLS)}.",
)
@click.argument("source", nargs=-1, required=True, metavar="[TOOL] [SOURCE]...")
@click.option(
    "--data",
    envvar="EVAL_DATA",
    required=True,
    show_envvar=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The evaluation folder to write.",
)
@click.option(
    "--allow-loss",
    is_flag=True,
    help="Import the rest if ratings or scores of the export cannot be stored.",
)
@click.option(
    "--question",
    "questions",
    multiple=True,
    metavar="NAME=SCORE[,SCORE...]",
    help="Make several scores of the export one question, so that their scorers are judges of it.",
)
def import_(
    source: tuple[str, ...], data: Path, *, allow_loss: bool, questions: tuple[str, ...]
) -> int:
    """Write responses, labels, judge scores and a draft evaluation.yaml from an export.

    SOURCE is a file or a folder that another tool wrote; several are one export. The tool is
    recognised by the form of its records, or named first. No file that exists is replaced. The
    account at the end lists stored data, and every unused field and record, with its
    count. If ratings or scores would be lost, nothing is written, and the exit code is 1.
    """
    from eval_assets.cli.evaluation_drafts import draft_of_export
    from eval_assets.readers.importers.tool_exports import import_files

    named = source[0] if source[0] in TOOLS and not Path(source[0]).exists() else None
    paths = [Path(name) for name in (source[1:] if named else source)]
    if not paths:
        raise click.UsageError(f"Name the files that {named} exported.")
    tool, export = import_files(paths, source=named)
    for name, scores in map(_question, questions):
        export.join_questions(name, scores)
    if export.losses and not allow_loss:
        _print_account(tool, export, verb="read")
        click.echo("Nothing was written, as ratings or scores would be lost.", err=True)
        click.echo("To import the rest, add --allow-loss.", err=True)
        return FAILED
    written, notes = draft_of_export(export, data, name=data.resolve().name, tool=tool)
    for line in (*(f"wrote {path}" for path in written), *notes):
        click.echo(line)
    _print_account(tool, export, verb="stored")
    click.echo(f"\nRead the rubric, then run: eval-assets run --data {quote(str(data))}")
    return DONE


def _question(text: str) -> tuple[str, list[str]]:
    name, _, scores = text.partition("=")
    if not name.strip() or not scores.strip():
        raise click.UsageError(f"{text} is not a question. Write NAME=SCORE,SCORE.")
    return name.strip(), [score.strip() for score in scores.split(",")]


def _print_account(tool: str, export: Export, *, verb: str) -> None:
    """Print stored and omitted parts of the export with reasons, and unused fields."""
    from eval_assets.wording import counted

    click.echo(f"{tool}: {counted(export.n_records, 'record')} read")
    click.echo(f"{verb}: {_contents(export)}")
    for loss, count in export.losses.items():
        click.echo(f"not stored: {count:,} {loss}")
    for note, count in export.notes.items():
        click.echo(f"not used: {count:,} {note}")
    fields = ", ".join(f"{path} ({count:,})" for path, count in export.unused_fields.items())
    if fields:
        click.echo(f"not used: fields that no file of an evaluation holds: {fields}")


def _contents(export: Export) -> str:
    from eval_assets.wording import counted

    contents = [counted(len(export.responses), "response")]
    for rated, noun, author in (
        (export.ratings, "rating", "rater"),
        (export.scores, "score", "judge"),
    ):
        by = {name for _, _, name in rated}
        if by:
            contents.append(f"{counted(len(rated), noun)} by {counted(len(by), author)}")
    return ", ".join(contents)
