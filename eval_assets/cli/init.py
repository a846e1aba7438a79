"""`eval-assets init`: a new evaluation folder, or the missing files of an existing one."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

_ENDINGS = (".yaml", ".csv", ".jsonl", ".md")
_NEXT = {
    None: "eval-assets run",
    "labelling": "eval-assets serve --labels",
    "relevance": "eval-assets serve --labels",
    "pairwise": "eval-assets serve --labels",
}
"""Commands to run after each template."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--template",
    type=click.Choice([name for name in _NEXT if name]),
    help="labelling: four questions about an assistant with plugins, with guidelines for raters; "
    "relevance: documents and queries; pairwise: which of two answers is better.",
)
def init(folder: Path, template: str | None) -> int:
    """Write an evaluation folder to start from; it runs as it is.

    A new folder gets a commented example. In a folder with responses, labels or judge scores, an
    evaluation.yaml is drafted from them, with whatever else is missing. A file that exists is never
    changed.
    """
    from eval_assets.readers.drafts import complete_folder

    completed = None if template else complete_folder(folder)
    written, notes = completed or (_write_template(folder, template), [])
    for note in notes:
        click.echo(note)
    for path in written:
        click.echo(f"wrote {path}")
    click.echo(f"\nNow run: {_NEXT[template]} --data {quote(str(folder))}")
    return DONE


def _write_template(folder: Path, template: str | None) -> list[Path]:
    """Write the files of a template into a folder that has none of them."""
    from eval_assets.readers.drafts import write_files

    files = dict(_files(resources.files("eval_assets.starter").joinpath(template or "")))
    taken = [name for name in files if (folder / name).exists()]
    if taken:
        raise click.UsageError(
            f"{folder} holds {', '.join(taken)} already. Name another folder, or remove them."
        )
    return write_files(folder, files)


def _files(source: Traversable) -> Iterator[tuple[str, str]]:
    """Yield name and content of each file of a template, those in its folders included."""
    for entry in sorted(source.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(_ENDINGS):
            yield entry.name, entry.read_text("utf-8")
        elif entry.name == "guidelines":
            yield from ((f"guidelines/{name}", text) for name, text in _files(entry))
