"""`eval-assets calibrate`: `eval-assets check` of one question, with the options of before."""

import click

from eval_assets.cli.check import check
from eval_assets.cli.options import json_option


@click.command()
@click.option("--human-labels", required=True, help="Ratings by humans, in any form.")
@click.option("--judge-results", required=True, help="A judge's score of each item.")
@click.option("--dimension", required=True, help="What is compared: a question of the files.")
@click.option("--judge", help="Column or name of the judge, if it is not recognised.")
@click.option("--scale", help="As of `check`.")
@click.option("--data", help="Evaluation folder: its scales, gates and held-out test.")
@json_option
def calibrate(
    human_labels: str, judge_results: str, dimension: str, *, as_json: bool, **options: str | None
) -> int:
    """Compare a judge with human labels on the items of two files, as `check` does.

    Of two classes, F1 and the items that the judge gets wrong follow.
    """
    arguments = [human_labels, judge_results, "--only", dimension, "--no-html", "--errors"]
    for name, value in options.items():
        arguments += [f"--{name}", value] if value else []
    if as_json:
        arguments.append("--json")
    code: int = check.main(arguments, "eval-assets check", standalone_mode=False)
    return code
