"""Scores and agreement on parts of the responses: models, prompts, and declared slices."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle

from eval_assets.bands import ALPHA_LIMITS, UNSTABLE
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import ScoreFigures, SliceFigures
from eval_assets.render.document import (
    Card,
    Cell,
    Column,
    Fold,
    Plot,
    Section,
    Shape,
    Table,
    TableRow,
    Text,
    cells,
    columns,
)
from eval_assets.report.data import ReportData
from eval_assets.report.layout import Layout, alpha_tone, laid_out, written
from eval_assets.report.stored_rows import ModelResultRow, PromptResultRow
from eval_assets.verdicts import Tone
from eval_assets.wording import counted, figure_text, shortened

_MOST_SLICE_VALUES = 12
"""Values of one slice that are shown; the table `score_summary` has all."""

_SLICE_TITLES = {
    "all": "Overall and by model",
    "difficulty": "By difficulty",
    "indicator_id": "By indicator",
}
_FIRST_SLICES = ("all", "model", "difficulty")
_DIFFICULTIES = ("easy", "medium", "tough", "hard")
_HUMANS = "humans"
_JUDGE_SHAPES: tuple[Shape, ...] = ("diamond", "triangle", "square", "cross")
_SCORES = (
    "Human ratings of a response are averaged first. In small print: the standard deviation "
    "between responses and, of a judge, its score minus that of humans on the same responses. "
    "Whether such a difference is more than noise is said of each judge above."
)

Key = tuple[str, str, str, str]
"""Slice, its value, model (empty over all) and rater."""


_COMBINED = " with people"
"""Of a judge that is certified for a part of the responses: people rate the others."""

_BY_PART = (
    "Krippendorff's alpha over all questions, at the interval level, on the responses of one part. "
    "Parts have no intervals: if few responses are behind a difference, it may be chance. Low "
    "alpha on ratings that hardly differ is called unstable."
)
_KINDS = {"human": "People", "judge": "Judges"}

Part = tuple[str, str]
"""Slice and its value; the model for the slice `model`."""

_RESULTS = (
    "Krippendorff's alpha of the judges on the responses of one model to one prompt. Few scores "
    "stand behind each: look for models and prompts that are low throughout. Extent is the mean "
    "score, from 0 to 1; spread its standard deviation. Low alpha on scores that hardly differ is "
    "called unstable: it says little about the judges."
)
_FEWEST_MODELS = 2
_MOST_CHARACTERS = 120


def scores(data: ReportData) -> Section | None:
    """Return a table per question that has scores; None if no question has any."""
    tables = [
        _table(data, question, result)
        for question in data.evaluation.rubric
        if (result := _by_key(data, question.id))
    ]
    if not tables:
        return None
    folds = tuple(
        Fold(question_id, (table,), is_open=index == 0)
        for index, (question_id, table) in enumerate(tables)
    )
    title = "Mean scores, humans beside judges" if data.evaluation.judges else "Mean scores"
    return Section("scores", title, "Scores", (Text(_SCORES), *folds))


def agreement_by_part(data: ReportData) -> Section | None:
    """Return alpha of people and judges by part; None if the responses have no parts."""
    result: dict[str, dict[Part, SliceFigures]] = {kind: {} for kind in _KINDS}
    for row in data.slices:
        if part := _part(row):
            result[row.rater_kind][part] = row
    values: dict[str, set[str]] = {}
    for slice_, value in (part for parts in result.values() for part in parts):
        values.setdefault(slice_, set()).add(value)
    divided = [slice_ for slice_ in _in_order(values) if len(values[slice_]) > 1]
    if not divided:
        return None
    kinds = [kind for kind in _KINDS if any(part[0] in divided for part in result[kind])]
    table = Table(
        "Agreement by part of the responses",
        columns("Responses", *(f"{_KINDS[kind]}: alpha" for kind in kinds)),
        tuple(
            row
            for slice_ in divided
            for row in _alpha_rows(slice_, values[slice_], {kind: result[kind] for kind in kinds})
        ),
    )
    title = "Where do they agree less?"
    block = Card("", (Text(_BY_PART, is_small=True), table))
    return Section("slices", title, "By part", (block,))


def results(data: ReportData) -> Section | None:
    """Return models and the worst results; None with one model or without two judges."""
    models = sorted(data.rows(ModelResultRow), key=lambda row: row.mean_alpha)
    worst = [row for row in data.rows(PromptResultRow) if row.interpretation]
    if len(models) < _FEWEST_MODELS:
        return None
    lowest = "The lowest results by prompt and model"
    blocks = (
        Text(_summary(models)),
        Text(_RESULTS, is_small=True),
        laid_out("Agreement of the judges by model", _MODEL, models),
        Fold(lowest, (laid_out(lowest, _RESULT, worst),), is_open=False),
    )
    title = "Agreement of the judges by prompt and model"
    return Section("results", title, "By prompt and model", (Card("", blocks),))


def _by_key(data: ReportData, question_id: str) -> dict[Key, ScoreFigures]:
    """Return the rows of a question; of two rows of one key the larger, which has all models."""
    result: dict[Key, ScoreFigures] = {}
    for row in data.scores:
        if row.question_id == question_id:
            rater = _column(row)
            key = (row.slice, row.slice_value or "", row.model_name or "", rater)
            if key not in result or row.n > result[key].n:
                result[key] = row
    return result


def _column(row: ScoreFigures) -> str:
    if row.rater_kind == "human":
        return _HUMANS
    return f"{row.rater_id}{_COMBINED if row.rater_kind == 'combined' else ''}"


def _table(
    data: ReportData, question: RubricQuestion, result: Mapping[Key, ScoreFigures]
) -> tuple[str, Table]:
    judges = [judge.id for judge in data.evaluation.judges]
    present = {key[3] for key in result}
    combinations = [f"{judge}{_COMBINED}" for judge in judges]
    raters = [rater for rater in (_HUMANS, *judges, *combinations) if rater in present]
    judge_shapes = cycle(_JUDGE_SHAPES)
    shapes: dict[str, Shape] = {r: "circle" if r == _HUMANS else next(judge_shapes) for r in raters}
    ends = (question.scale.low, question.scale.high)
    return question.id, Table(
        f"Mean scores on {question.id}",
        (Column("Responses"), Column("Mean", axis=ends), *columns(*raters, "n#")),
        tuple(
            row
            for slice_ in _in_order({slice_ for slice_, *_ in result})
            for row in _slice_rows(slice_, shapes, ends, result)
        ),
        key=tuple((shape, rater) for rater, shape in shapes.items()),
    )


def _slice_rows(
    slice_: str,
    shapes: dict[str, Shape],
    ends: tuple[float, float],
    result: Mapping[Key, ScoreFigures],
) -> Iterator[TableRow]:
    """Yield a heading, a row for each value, and a row for each model within it."""
    of_slice = {key: row for key, row in result.items() if key[0] == slice_}
    models = sorted({model for *_, model, _ in of_slice if model})
    title, displayed_values = _shown_values(
        slice_, {value for _, value, *_ in of_slice}, table="score_summary"
    )
    yield TableRow(cells(title), kind="heading")
    for value in displayed_values:
        of_value = [model for model in models if any(k[1:3] == (value, model) for k in of_slice)]
        # One model's share of a part is the part itself.
        for model in ("", *(of_value if len(of_value) > 1 else ())):
            of_row = {r: of_slice.get((slice_, value, model, r)) for r in shapes}
            name = model or value or "All responses"
            yield TableRow(
                _mean_cells(name, of_row, shapes, ends), kind="part" if model else "plain"
            )


def _in_order(slices: Iterable[str]) -> list[str]:
    """Return slices in the order of the report: the known ones first."""
    return sorted(slices, key=lambda slice_: ((*_FIRST_SLICES, slice_).index(slice_), slice_))


def _shown_values(slice_: str, values: set[str], *, table: str) -> tuple[str, list[str]]:
    """Return the heading of a slice, and its first values in their natural order."""
    ordered = sorted(values, key=_natural)
    displayed_values = ordered[:_MOST_SLICE_VALUES]
    title = _SLICE_TITLES.get(slice_, f"By {slice_}")
    if n_left_out := len(ordered) - len(displayed_values):
        title += f" (first {len(displayed_values)}; {n_left_out} more in the table {table})"
    return title, displayed_values


def _natural(value: str) -> tuple[int, float, str]:
    """Return a key that sorts difficulties as they rise, numbers by size, the rest by name."""
    if value in _DIFFICULTIES:
        return (0, _DIFFICULTIES.index(value), value)
    try:
        return (1, float(value), value)
    except ValueError:
        return (2, 0.0, value)


def _mean_cells(
    name: str,
    of_row: Mapping[str, ScoreFigures | None],
    shapes: dict[str, Shape],
    ends: tuple[float, float],
) -> tuple[Cell, ...]:
    means = {rater: row.mean if row else math.nan for rater, row in of_row.items()}
    texts = {rater: written(mean, "z.2f") for rater, mean in means.items()}
    plot = Plot(
        *ends,
        label=f"Mean scores, {name}: " + ", ".join(f"{r} {text}" for r, text in texts.items()),
        dots=tuple((shapes[rater], mean) for rater, mean in means.items()),
    )
    n = max(row.n if row else 0 for row in of_row.values())
    return cells(
        name,
        Cell("", plot=plot),
        *(Cell(texts[rater], note=_note(row)) for rater, row in of_row.items()),
        f"{n:,}",
    )


def _note(row: ScoreFigures | None) -> str:
    """Return the standard deviation and, of a judge, its score minus that of humans."""
    if row is None:
        return ""
    spread = "" if math.isnan(row.standard_deviation) else f"SD {row.standard_deviation:.2f}"
    has_bias = row.rater_kind == "judge" and not math.isnan(row.bias)
    bias = f"{row.bias:+z.2f}" if has_bias else ""
    return " · ".join(part for part in (spread, bias) if part)


def _part(row: SliceFigures) -> Part | None:
    """Return the part of a row; None for all responses and for one model within a part."""
    if row.slice == "all":
        return ("model", row.model_name) if row.model_name else None
    return None if row.model_name else (row.slice, row.slice_value or "")


def _alpha_rows(
    slice_: str, values: set[str], result: Mapping[str, Mapping[Part, SliceFigures]]
) -> Iterator[TableRow]:
    """Yield a heading, and a row for each value of a slice."""
    title, displayed_values = _shown_values(slice_, values, table="agreement_by_slice")
    yield TableRow(cells(title), kind="heading")
    for value in displayed_values:
        yield TableRow(
            cells(
                value, *(_alpha_cell(by_part.get((slice_, value))) for by_part in result.values())
            )
        )


def _alpha_cell(row: SliceFigures | None) -> Cell:
    """Return alpha on a part with its band and its number of responses."""
    if row is None:
        return Cell("none")
    return Cell(
        figure_text(row.alpha, limits=ALPHA_LIMITS),
        note=f"{row.interpretation} · {counted(row.n_responses, 'response')}",
        tone=_tone(row),
    )


def _tone(row: SliceFigures | PromptResultRow) -> Tone:
    return Tone.FAIR if row.interpretation == UNSTABLE else alpha_tone(row.alpha)


def _summary(models: Sequence[ModelResultRow]) -> str:
    n_results = sum(row.n_results for row in models)
    n_not_reliable = sum(row.n_not_reliable for row in models)
    total = sum(row.n_results * row.mean_alpha for row in models)
    lowest = min(row.lowest_alpha for row in models)
    return (
        f"{counted(n_results, 'result')}: average alpha "
        f"{figure_text(total / n_results if n_results else math.nan, limits=[])}, lowest "
        f"{figure_text(lowest, limits=[])}; {n_not_reliable:,} of them below 0.667."
    )


def _prompt(row: PromptResultRow) -> str:
    prompt = row.prompt_text or row.slice_value
    return shortened(" ".join(prompt.split()), most=_MOST_CHARACTERS)


_MODEL: Layout[ModelResultRow] = {
    "Model": lambda row: row.model_name,
    "Results#": lambda row: f"{row.n_results:,}",
    "Average alpha#": lambda row: figure_text(row.mean_alpha, limits=[]),
    "Lowest#": lambda row: figure_text(row.lowest_alpha, limits=[]),
    "Below 0.667#": lambda row: f"{row.n_not_reliable:,}",
    "Extent#": lambda row: written(row.mean, "z.2f"),
}
_RESULT: Layout[PromptResultRow] = {
    "Prompt": _prompt,
    "Model": lambda row: row.model_name,
    "Alpha#": lambda row: figure_text(row.alpha, limits=ALPHA_LIMITS),
    "Meaning": lambda row: Cell(row.interpretation, tone=_tone(row)),
    "Extent#": lambda row: written(row.mean, "z.2f"),
    "Spread#": lambda row: written(row.spread, ".2f"),
    "Units#": lambda row: f"{row.n_units:,}",
}
