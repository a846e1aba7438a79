"""`eval-assets import`: an evaluation folder from another tool's export."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.readers.importers import TOOLS

if TYPE_CHECKING:
    from eval_assets.readers.importers.export_content import Export


@click.command(
    "import",
    epilog=f"Tools: {', '.join(TOOLS)}.",
)
@click.argument("source", nargs=-1, required=True, metavar="[TOOL] SOURCE...")
@click.option(
    "--data",
    envvar="EVAL_DATA",
    required=True,
    show_envvar=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The evaluation folder to write.",
)
def import_(source: tuple[str, ...], data: Path) -> int:
    """Write responses, labels, judge scores and a draft evaluation.yaml from an export.

    SOURCE is a file or a folder that another tool wrote; several are one export. The tool is
    recognised by what the records look like, or named first. No file that exists is replaced, and
    whatever was not understood is listed with its count.
    """
    from eval_assets.readers.drafts import write_draft
    from eval_assets.readers.importers.tool_exports import import_files

    tool = source[0] if source[0] in TOOLS and not Path(source[0]).exists() else None
    paths = [Path(name) for name in (source[1:] if tool else source)]
    if not paths:
        raise click.UsageError(f"Name the files that {tool} exported.")
    tool, export = import_files(paths, source=tool)
    written = write_draft(export, data, name=data.resolve().name, tool=tool)
    click.echo(f"{tool}: {_contents(export)}")
    for note, count in export.notes.items():
        click.echo(f"not understood: {count:,} {note}")
    for path in written:
        click.echo(f"wrote {path}")
    click.echo(f"\nRead the rubric, then run: eval-assets run --data {quote(str(data))}")
    return DONE


def _contents(export: Export) -> str:
    """Return how much an export holds, in words."""
    contents = [_counted(len(export.responses), "response")]
    for rated, noun, who in (
        (export.ratings, "rating", "rater"),
        (export.scores, "score", "judge"),
    ):
        by = {name for _, _, name in rated}
        if by:
            contents.append(f"{_counted(len(rated), noun)} by {_counted(len(by), who)}")
    return ", ".join(contents)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
