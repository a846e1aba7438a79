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
@click.argument("source", nargs=-1, required=True, type=click.Path(path_type=Path))
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
def import_(source: tuple[Path, ...], data: Path, *, allow_loss: bool) -> int:
    """Write responses, labels, judge scores and a draft evaluation.yaml from an export.

    SOURCE is a file or a folder that another tool wrote; several are one export. The tool is
    recognised by the form of its records. No file that exists is replaced. The account at the end
    lists stored data, and every unused field and record, with its count. If ratings or scores would
    be lost, nothing is written, and the exit code is 1.
    """
    from eval_assets.cli.evaluation_drafts import draft_of_export
    from eval_assets.readers.importers.tool_exports import import_files
    from eval_assets.wording import printable

    export = import_files(source)
    if export.losses and not allow_loss:
        _print_account(export, verb="read")
        click.echo("Nothing was written, as ratings or scores would be lost.", err=True)
        click.echo("To import the rest, add --allow-loss.", err=True)
        return FAILED
    draft = draft_of_export(export, data)
    for line in (*(f"wrote {path}" for path in draft.files), *draft.notes):
        click.echo(printable(line))
    _print_account(export, verb="stored")
    click.echo(f"\nRead the rubric, then run: eval-assets run --data {quote(str(data))}")
    return DONE


def _print_account(export: Export, *, verb: str) -> None:
    from eval_assets.wording import counted

    contents = [counted(len(export.responses), "response")]
    for rated, noun, author in (
        (export.ratings, "rating", "rater"),
        (export.scores, "score", "judge"),
    ):
        if by := {name for _, _, name in rated}:
            contents.append(f"{counted(len(rated), noun)} by {counted(len(by), author)}")
    click.echo(f"{export.tool}: {counted(export.n_records, 'record')} read")
    click.echo(f"{verb}: {', '.join(contents)}")
    for loss, count in export.losses.items():
        click.echo(f"not stored: {count:,} {loss}")
    for note, count in export.notes.items():
        click.echo(f"not used: {count:,} {note}")
    fields = ", ".join(f"{path} ({count:,})" for path, count in export.unused_fields.items())
    if fields:
        click.echo(f"not used: fields that no file of an evaluation holds: {fields}")
