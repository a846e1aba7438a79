"""Agreement of the judges by prompt and model: where their scores can be relied on."""

import math
from collections.abc import Sequence

from eval_assets.bands import ALPHA_LIMITS
from eval_assets.render.document import (
    Block,
    Card,
    Cell,
    Fold,
    Section,
    Table,
    TableRow,
    Text,
    cells,
    columns,
)
from eval_assets.report._figures import alpha_tone
from eval_assets.report.data import Record, ReportData, count, number, text
from eval_assets.verdicts import Tone
from eval_assets.wording import counted, figure_text, shortened

_LEAD = (
    "Krippendorff's alpha of the judges on the responses of one model to one prompt. Few scores "
    "stand behind each: look for models and prompts that are low throughout. Extent is the mean "
    "score, from 0 to 1; spread its standard deviation. Low alpha on scores that hardly differ is "
    "called unstable: it says little about the judges."
)
_FEWEST_MODELS = 2
_MOST_CHARACTERS = 120


def section(data: ReportData) -> Section | None:
    """Return models and the worst results; None with one model or without two judges."""
    models = list(data.rows("results_by_model"))
    worst = [record for record in data.rows("results") if text(record, "interpretation")]
    if len(models) < _FEWEST_MODELS:
        return None
    blocks: tuple[Block, ...] = (
        Text(_summary(models)),
        Text(_LEAD, is_small=True),
        _by_model(models),
        Fold("The lowest results by prompt and model", (_worst(worst),), is_open=False),
    )
    title = "Agreement of the judges by prompt and model"
    return Section("results", title, "By prompt and model", (Card("", blocks),))


def _summary(models: Sequence[Record]) -> str:
    """Return average, lowest and number of unreliable results over all of them."""
    n_results = sum(count(record, "n_results") for record in models)
    n_not_reliable = sum(count(record, "n_not_reliable") for record in models)
    total = sum(count(record, "n_results") * number(record, "mean_alpha") for record in models)
    lowest = min(number(record, "lowest_alpha") for record in models)
    return (
        f"{counted(n_results, 'result')}: average alpha "
        f"{figure_text(total / n_results if n_results else math.nan, limits=[])}, lowest "
        f"{figure_text(lowest, limits=[])}; {n_not_reliable:,} of them below 0.667."
    )


def _by_model(models: Sequence[Record]) -> Table:
    ordered = sorted(models, key=lambda record: number(record, "mean_alpha"))
    return Table(
        "Agreement of the judges by model",
        columns("Model", "Results#", "Average alpha#", "Lowest#", "Below 0.667#", "Extent#"),
        tuple(
            TableRow(
                cells(
                    text(record, "model_name"),
                    f"{count(record, 'n_results'):,}",
                    figure_text(number(record, "mean_alpha"), limits=[]),
                    figure_text(number(record, "lowest_alpha"), limits=[]),
                    f"{count(record, 'n_not_reliable'):,}",
                    f"{number(record, 'mean'):.2f}",
                )
            )
            for record in ordered
        ),
    )


def _worst(worst: Sequence[Record]) -> Table:
    return Table(
        "The lowest results by prompt and model",
        columns("Prompt", "Model", "Alpha#", "Meaning", "Extent#", "Spread#", "Units#"),
        tuple(TableRow(_cells(record)) for record in worst),
    )


def _cells(record: Record) -> tuple[Cell, ...]:
    alpha = number(record, "alpha")
    prompt = text(record, "prompt_text") or text(record, "slice_value")
    meaning = text(record, "interpretation")
    return cells(
        shortened(" ".join(prompt.split()), most=_MOST_CHARACTERS),
        text(record, "model_name"),
        figure_text(alpha, limits=ALPHA_LIMITS),
        Cell(meaning, tone=Tone.FAIR if meaning == "unstable" else alpha_tone(alpha)),
        f"{number(record, 'mean'):.2f}",
        f"{number(record, 'spread'):.2f}",
        f"{count(record, 'n_units'):,}",
    )
