"""`eval-assets init`: a new evaluation folder, or the missing files of an existing one."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import judge_pass_option, read_options
from eval_assets.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

    from eval_assets.readers.rating_tables import ReadOptions

_ENDINGS = (".yaml", ".csv", ".gz", ".jsonl", ".md")
_EXAMPLES = {
    "minimal": "eval-assets run",
    "code": "eval-assets run",
    "stories": "eval-assets run",
    "labelling": "eval-assets serve --labels",
    "relevance": "eval-assets serve --labels",
    "pairwise": "eval-assets serve --labels",
}
"""Command to run after each example."""

_CHECKOUT = Path(__file__).parents[2] / "data"
"""The studies, which a wheel holds among the examples and an editable installation does not."""


@click.command()
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="[FILE]... FOLDER"
)
@read_options
@judge_pass_option
@click.option(
    "--example",
    type=click.Choice(list(_EXAMPLES)),
    help="minimal: a commented evaluation.yaml with a few responses; code, stories: published "
    "studies whose raters agree, and do not; labelling: four questions about an assistant with "
    "plugins, with guidelines for raters; relevance: documents and queries; pairwise: which of two "
    "answers is better.  [default: minimal]",
)
def init(
    paths: tuple[Path, ...],
    *,
    options: ReadOptions,
    judge_passes: str | None,
    example: str | None,
) -> int:
    """Write an evaluation folder to start from; it runs as it is.

    A new folder gets a commented example. In a folder with responses, labels or judge scores, an
    evaluation.yaml is drafted from them, with all other missing files; ratings in another form
    are written to labels/, and scores of judges to judge_scores/. Of FILEs of ratings, or of
    another tool's export, a folder is made: beside a single FILE, or as FOLDER; options say how
    they are read. A file that exists is never changed.
    """
    from eval_assets.cli.evaluation_drafts import (
        Draft,
        draft_of_files,
        draft_of_folder,
        write_files,
    )
    from eval_assets.shown.terminal import wrapped
    from eval_assets.wording import printable

    *files, last = paths
    folder, draft = last, None
    try:
        if last.is_file() or files:
            folder = last if not last.is_file() else last.with_name(last.name.split(".")[0])
            sources = [*files, last] if last.is_file() else files
            draft = draft_of_files(sources, folder, options, judge_passes=judge_passes)
        elif not example:
            draft = draft_of_folder(folder, options, judge_passes=judge_passes)
    except InputError:
        raise
    except ValueError as error:
        raise click.UsageError(f"{error}.") from error
    if draft is None:
        name = example or "minimal"
        packaged = resources.files("eval_assets.examples").joinpath(name)
        content = dict(_files(packaged if packaged.is_dir() else _CHECKOUT / name))
        draft = Draft(write_files(folder, content), [])
    for note in draft.notes:
        click.echo("\n".join(wrapped(printable(note), first="", rest="  ")))
    for file in draft.files:
        click.echo(printable(f"wrote {file}"))
    click.echo()
    for task in draft.tasks:
        click.echo(printable(f"To do: {task}."))
    start = "Then run" if draft.tasks else "Now run"
    click.echo(f"{start}: {_EXAMPLES[example or 'minimal']} --data {quote(str(folder))}")
    return DONE


def _files(source: Traversable) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file of an example, those in its guidelines included."""
    for entry in sorted(source.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(_ENDINGS):
            yield entry.name, entry.read_bytes()
        elif entry.name == "guidelines":
            yield from ((f"guidelines/{name}", content) for name, content in _files(entry))
