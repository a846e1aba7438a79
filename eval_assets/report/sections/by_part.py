"""Agreement on parts of the responses: where people, and where judges, agree less."""

from collections.abc import Iterator, Mapping

from eval_assets.bands import ALPHA_LIMITS, UNSTABLE
from eval_assets.render.document import Card, Cell, Section, Table, TableRow, Text, cells, columns
from eval_assets.report._figures import alpha_tone
from eval_assets.report.data import Record, ReportData, count, number, text
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
    result: dict[str, dict[Part, Record]] = {kind: {} for kind in _KINDS}
    for record in data.rows("agreement_by_slice"):
        if part := _part(record):
            result[text(record, "rater_kind")][part] = record
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


def _part(record: Record) -> Part | None:
    """Return the part that a row is of; None if it is everything, or one model's share of one."""
    slice_, model = text(record, "slice"), text(record, "model_name")
    if slice_ == "all":
        return ("model", model) if model else None
    return None if model else (slice_, text(record, "slice_value"))


def _rows(
    slice_: str, values: set[str], result: Mapping[str, Mapping[Part, Record]]
) -> Iterator[TableRow]:
    """Yield a heading, and a row for each value of a slice."""
    title, shown = shown_values(slice_, values, table="agreement_by_slice")
    yield TableRow(cells(title), kind="heading")
    for value in shown:
        yield TableRow(
            cells(value, *(_cell(by_part.get((slice_, value))) for by_part in result.values()))
        )


def _cell(record: Record | None) -> Cell:
    """Return alpha on a part, with what it is called and how many responses it is of."""
    if record is None:
        return Cell("none")
    alpha, meaning = number(record, "alpha"), text(record, "interpretation")
    return Cell(
        figure_text(alpha, limits=ALPHA_LIMITS),
        note=f"{meaning} · {counted(count(record, 'n_responses'), 'response')}",
        tone=Tone.FAIR if meaning == UNSTABLE else alpha_tone(alpha),
    )
