"""`eval-assets init`: a commented evaluation folder that runs as it is."""

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from shlex import quote

import click

from eval_assets.cli.exit_codes import DONE

_ENDINGS = (".yaml", ".csv", ".jsonl", ".md")
_NEXT = {
    None: "eval-assets run",
    "labelling": "eval-assets serve --labels",
    "relevance": "eval-assets serve --labels",
    "pairwise": "eval-assets serve --labels",
}
"""What to run after each template."""


@click.command(short_help="Write an evaluation folder to start from.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--template",
    type=click.Choice([name for name in _NEXT if name]),
    help="labelling: four questions about an assistant with plugins, with guidelines for raters; "
    "relevance: documents and queries; pairwise: which of two answers is better.",
)
def init(folder: Path, template: str | None) -> int:
    """Write a commented evaluation folder to start from; it runs as it is.

    A file that exists is never overwritten.
    """
    source = resources.files("eval_assets.starter").joinpath(template or "")
    given = dict(_files(source))
    taken = [name for name in given if (folder / name).exists()]
    if taken:
        raise click.UsageError(
            f"{folder} holds {', '.join(taken)} already. Name another folder, or remove them."
        )
    for name, file in given.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(file.read_text("utf-8"), encoding="utf-8")
        click.echo(f"wrote {folder / name}")
    click.echo(f"\nNow run: {_NEXT[template]} --data {quote(str(folder))}")
    return DONE


def _files(source: Traversable) -> Iterator[tuple[str, Traversable]]:
    """Name and content of each file of a template, those in its folders included."""
    for entry in sorted(source.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(_ENDINGS):
            yield entry.name, entry
        elif entry.name == "guidelines":
            yield from ((f"guidelines/{name}", file) for name, file in _files(entry))
