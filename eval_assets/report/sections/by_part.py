"""Agreement on parts of the responses: where people, and where judges, agree less."""

from collections.abc import Iterator, Mapping

from eval_assets.bands import ALPHA_LIMITS, UNSTABLE
from eval_assets.figures import SliceFigures
from eval_assets.render.document import Card, Cell, Section, Table, TableRow, Text, cells, columns
from eval_assets.report._figures import alpha_tone
from eval_assets.report.data import ReportData
from eval_assets.report.sections.scores import in_order, shown_values
from eval_assets.verdicts import Tone
from eval_assets.wording import counted, figure_text

_LEAD = (
    "Krippendorff's alpha over all questions, at the interval level, on the responses of one part. "
    "Parts have no intervals: if few responses are behind a difference, it may be chance. Low "
    "alpha on ratings that hardly differ is called unstable."
)
_KINDS = {"human": "People", "judge": "Judges"}

Part = tuple[str, str]
"""Slice and its value; the model for the slice `model`."""


def section(data: ReportData) -> Section | None:
    """Return alpha of people and judges by part; None if the responses have no parts."""
    result: dict[str, dict[Part, SliceFigures]] = {kind: {} for kind in _KINDS}
    for row in data.slices:
        if part := _part(row):
            result[row.rater_kind][part] = row
    values: dict[str, set[str]] = {}
    for slice_, value in (part for parts in result.values() for part in parts):
        values.setdefault(slice_, set()).add(value)
    divided = [slice_ for slice_ in in_order(values) if len(values[slice_]) > 1]
    if not divided:
        return None
    kinds = [kind for kind in _KINDS if any(part[0] in divided for part in result[kind])]
    table = Table(
        "Agreement by part of the responses",
        columns("Responses", *(f"{_KINDS[kind]}: alpha" for kind in kinds)),
        tuple(
            row
            for slice_ in divided
            for row in _rows(slice_, values[slice_], {kind: result[kind] for kind in kinds})
        ),
    )
    title = "Where do they agree less?"
    block = Card("", (Text(_LEAD, is_small=True), table))
    return Section("slices", title, "By part", (block,))


def _part(row: SliceFigures) -> Part | None:
    """Return the part that a row is of; None if it is everything, or one model's share of one."""
    if row.slice == "all":
        return ("model", row.model_name) if row.model_name else None
    return None if row.model_name else (row.slice, row.slice_value or "")


def _rows(
    slice_: str, values: set[str], result: Mapping[str, Mapping[Part, SliceFigures]]
) -> Iterator[TableRow]:
    """Yield a heading, and a row for each value of a slice."""
    title, shown = shown_values(slice_, values, table="agreement_by_slice")
    yield TableRow(cells(title), kind="heading")
    for value in shown:
        yield TableRow(
            cells(value, *(_cell(by_part.get((slice_, value))) for by_part in result.values()))
        )


def _cell(row: SliceFigures | None) -> Cell:
    """Return alpha on a part, with what it is called and how many responses it is of."""
    if row is None:
        return Cell("none")
    return Cell(
        figure_text(row.alpha, limits=ALPHA_LIMITS),
        note=f"{row.interpretation} · {counted(row.n_responses, 'response')}",
        tone=Tone.FAIR if row.interpretation == UNSTABLE else alpha_tone(row.alpha),
    )
