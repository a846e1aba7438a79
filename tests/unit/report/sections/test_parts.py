"""Mean scores by slices of the responses."""

import math
from dataclasses import replace

from eval_assets.figures import RaterKind, SliceFigures
from eval_assets.render.document import Section
from eval_assets.report.sections import parts
from tests.unit.report.builder import Case
from tests.unit.report.lookup import notes, table

LABEL = "Mean scores on clarity"


def test_slices_come_in_their_natural_order_with_each_models_share() -> None:
    section = parts.scores(Case().data())
    assert section is not None

    rows = table(section, LABEL)
    assert [row["Responses"] for row in rows] == [
        *("Overall and by model", "All responses", "fern-small", "quartz-large"),
        *("By difficulty", "easy", "fern-small", "quartz-large"),
        *("tough", "fern-small", "quartz-large"),
    ]
    assert list(rows[1]) == ["Responses", "Mean", "humans", "gpt", "haiku", "n"]


def test_a_judges_mean_is_followed_by_its_lean() -> None:
    section = parts.scores(Case().data())
    assert section is not None

    _, _, humans, gpt, *_ = notes(section, LABEL)[1]
    assert (humans, gpt) == ("SD 0.40", "SD 0.40 · +0.31")


def test_a_model_that_alone_answered_a_part_is_not_listed_under_it() -> None:
    """Its share of the part would be the part again."""
    data = Case().data()
    other = ("tough", "quartz-large")
    rows = tuple(row for row in data.scores if (row.slice_value, row.model_name) != other)
    section = parts.scores(replace(data, scores=rows))
    assert section is not None

    names = [row["Responses"] for row in table(section, LABEL)]
    assert names[names.index("tough") :] == ["tough"]


PARTS = "Agreement by part of the responses"


def row(  # noqa: PLR0913 - the fields of the record
    slice_: str,
    value: str | None,
    alpha: float,
    *,
    kind: RaterKind = "human",
    model: str | None = None,
    interpretation: str = "unreliable",
) -> SliceFigures:
    return SliceFigures(
        rater_kind=kind,
        slice=slice_,
        slice_value=value,
        model_name=model,
        question_id=None,
        n_responses=32,
        n_units=32,
        alpha=alpha,
        mean=0.5,
        spread=0.2,
        interpretation=interpretation,
    )


def section_of(*rows: SliceFigures) -> Section | None:
    return parts.agreement_by_part(replace(Case().data(), slices=rows))


def test_people_and_judges_stand_side_by_side_for_each_part() -> None:
    section = section_of(
        row("all", None, 0.6),
        row("all", None, 0.62, model="fern"),
        row("all", None, 0.58, model="moss"),
        row("difficulty", "hard", 0.43),
        row("difficulty", "easy", 0.91, interpretation="reliable"),
        row("difficulty", "easy", 0.95, model="fern"),
        row("difficulty", "easy", 0.05, kind="judge", interpretation="unstable"),
    )
    assert section is not None

    shown = [tuple(item.values()) for item in table(section, PARTS)]
    assert shown == [
        ("By model",),
        ("fern", "0.620", "none"),
        ("moss", "0.580", "none"),
        ("By difficulty",),
        ("easy", "0.910", "0.050"),
        ("hard", "0.430", "none"),
    ]
    assert notes(section, PARTS)[4] == ["", "reliable · 32 responses", "unstable · 32 responses"]


def test_what_is_not_divided_has_no_section() -> None:
    assert section_of(row("all", None, 0.6), row("all", None, 0.6, model="fern")) is None
    assert section_of(row("difficulty", "easy", 0.6)) is None
    assert parts.agreement_by_part(Case().data()) is None


def test_an_undefined_alpha_of_a_part_is_called_so() -> None:
    section = section_of(
        row("difficulty", "easy", math.nan, interpretation="undefined"),
        row("difficulty", "hard", 0.4),
    )
    assert section is not None

    assert table(section, PARTS)[1] == {"Responses": "easy", "People: alpha": "undefined"}


def test_many_parts_are_cut_and_the_table_with_all_is_named() -> None:
    section = section_of(*(row("plugin", f"p{k:02d}", 0.5) for k in range(20)))
    assert section is not None

    rows = table(section, PARTS)
    assert rows[0]["Responses"] == ("By plugin (first 12; 8 more in the table agreement_by_slice)")
    assert len(rows) == 13
