"""`eval-assets calibrate`: comparison of a judge with human labels on two files."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import json_option, print_json, scale_option

if TYPE_CHECKING:
    from eval_assets.readers.judge_results import JudgedItems
    from eval_assets.scale import Scale
    from eval_assets.stats import Interval, JudgeHumanProfile
    from eval_assets.tuning.calibration import Target

_FILE = click.Path(path_type=Path)


@click.command()
@click.option("--human-labels", type=_FILE, required=True, help="Ratings by humans, in any form.")
@click.option("--judge-results", type=_FILE, required=True, help="A judge's score of each item.")
@click.option("--dimension", required=True, help="What is compared: a question of the files.")
@click.option("--judge", help="Which judge, if the file holds results of several.")
@scale_option
@click.option(
    "--data",
    type=_FILE,
    help="Evaluation folder with the scale of the dimension and the targets (tuning: targets:).",
)
@json_option
def calibrate(  # noqa: PLR0913 - one parameter per option
    *,
    human_labels: Path,
    judge_results: Path,
    dimension: str,
    judge: str | None,
    scale: Scale | None,
    data: Path | None,
    as_json: bool,
) -> int:
    """Compare a judge with human labels on the items of two files.

    The human value of an item is the median of its ratings, for rho and MAE their mean. A value
    above the middle of the scale is a pass. Nothing is stored or certified: figures on data that
    a judge was tuned on are too high.
    """
    from eval_assets.config.tuning import Targets
    from eval_assets.readers.evaluation.read import read_evaluation
    from eval_assets.readers.judge_results import read_judged_items
    from eval_assets.stats import judge_human_profile
    from eval_assets.tuning.calibration import compared_with, decisions
    from eval_assets.wording import or_none

    targets = Targets()
    if data is not None:
        evaluation = read_evaluation(data)
        targets = evaluation.tuning.targets
        declared = {question.id: question.scale for question in evaluation.rubric}
        scale = scale or declared.get(dimension)
    items = read_judged_items(
        human_labels, judge_results, dimension=dimension, scale=scale, judge=judge
    )
    question = items.question
    profile = judge_human_profile(
        items.ratings,
        items.scores,
        scale=question.scale,
        level=question.level,
        confidence=0.95,
    )
    result = decisions(profile, question.scale)
    is_ordered = question.level != "nominal"
    compared_targets = compared_with(targets, profile, result, is_ordered=is_ordered)
    if as_json:
        figures = {
            "dimension": dimension,
            "n_items": profile.n_units,
            "n_unscored": len(items.item_ids) - profile.n_units,
            "n_unrated": items.n_unrated,
            "exact_agreement": or_none(profile.exact_agreement.value),
            "rho": {name: or_none(getattr(profile.spearman, name)) for name in _INTERVAL},
            "targets": [
                {**asdict(target), **{name: or_none(getattr(target, name)) for name in _INTERVAL}}
                for target in compared_targets
            ],
            "false_positives": result.false_positives,
            "false_negatives": result.false_negatives,
            "confusion": [
                {"human": human, "judge": judged, "n": n} for human, judged, n in profile.confusion
            ],
        }
        print_json(figures)
        return DONE
    for note in items.notes:
        click.echo(f"{note}.")
    _print(dimension, items, profile, compared_targets)
    click.echo(
        f"False positives (passed by the judge alone): {result.false_positives}. False negatives: "
        f"{result.false_negatives}."
    )
    return DONE


_INTERVAL = ("value", "low", "high")


def _print(
    dimension: str, items: JudgedItems, profile: JudgeHumanProfile, targets: tuple[Target, ...]
) -> None:
    from eval_assets.cli.terminal_tables import print_table
    from eval_assets.wording import counted

    n_missing = len(items.item_ids) - profile.n_units
    click.echo(
        f"{dimension}: {counted(profile.n_units, 'item')} with ratings and a result; "
        f"{n_missing:,} rated without a result, {counted(items.n_unrated, 'result')} of items "
        "without ratings. Pairs of rating and score that are equal: "
        f"{_percent(profile.exact_agreement)}."
    )
    numbers = ("figure", "95 % interval", "target")
    print_table(
        "Agreement of the judge with humans",
        ("", *numbers, "met"),
        [
            (
                target.name,
                _figure(target.value),
                f"[{_figure(target.low)}, {_figure(target.high)}]",
                f"{'at most' if target.name == 'MAE' else 'at least'} {target.target:g}",
                "yes" if target.is_met else "no",
            )
            for target in targets
        ],
        numbers=numbers,
    )
    judged = sorted({judge for _, judge, _ in profile.confusion})
    counts = {(human, judge): n for human, judge, n in profile.confusion}
    print_table(
        "Items by human value (rows) and judge value (columns)",
        ("human", *(f"{value:g}" for value in judged)),
        [
            (f"{human:g}", *(f"{counts.get((human, judge), 0):,}" for judge in judged))
            for human in sorted({human for human, _, _ in profile.confusion})
        ],
        numbers=[f"{value:g}" for value in judged],
    )


def _figure(value: float) -> str:
    return "--" if math.isnan(value) else f"{value:z.3f}"


def _percent(share: Interval) -> str:
    return "--" if math.isnan(share.value) else f"{100 * share.value:.0f} %"
