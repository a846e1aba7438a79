"""`eval-assets init`: a commented evaluation folder that runs as it is."""

from importlib import resources
from pathlib import Path
from shlex import quote

import click

from eval_assets.cli.exit_codes import DONE


@click.command(short_help="Write an evaluation folder to start from.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def init(folder: Path) -> int:
    """Write a commented evaluation folder to start from; it runs as it is.

    A file that exists is never overwritten.
    """
    files = sorted(resources.files("eval_assets.starter").iterdir(), key=lambda file: file.name)
    given = [file for file in files if file.name.endswith((".yaml", ".csv"))]
    taken = [file.name for file in given if (folder / file.name).exists()]
    if taken:
        raise click.UsageError(
            f"{folder} holds {', '.join(taken)} already. Name another folder, or remove them."
        )
    folder.mkdir(parents=True, exist_ok=True)
    for file in given:
        (folder / file.name).write_text(file.read_text("utf-8"), encoding="utf-8")
        click.echo(f"wrote {folder / file.name}")
    click.echo(f"\nNow run: eval-assets run --data {quote(str(folder))}")
    return DONE
