"""Mean scores by slices of the responses."""

from dataclasses import replace

from eval_assets.report.sections import scores
from tests.unit.report.builder import Case
from tests.unit.report.reading import notes, table

LABEL = "Mean scores on clarity"


def test_slices_come_in_their_natural_order_with_each_models_share() -> None:
    section = scores.section(Case().data())
    assert section is not None

    rows = table(section, LABEL)
    assert [row["Responses"] for row in rows] == [
        *("Overall and by model", "All responses", "fern-small", "quartz-large"),
        *("By difficulty", "easy", "fern-small", "quartz-large"),
        *("tough", "fern-small", "quartz-large"),
    ]
    assert list(rows[1]) == ["Responses", "Mean", "humans", "gpt", "haiku", "n"]


def test_a_judges_mean_is_followed_by_its_lean() -> None:
    section = scores.section(Case().data())
    assert section is not None

    _, _, humans, gpt, *_ = notes(section, LABEL)[1]
    assert (humans, gpt) == ("SD 0.40", "SD 0.40 · +0.31")


def test_a_model_that_alone_answered_a_part_is_not_listed_under_it() -> None:
    """Its share of the part would be the part again."""
    data = Case().data()
    other = ("tough", "quartz-large")
    rows = tuple(row for row in data.scores if (row.slice_value, row.model_name) != other)
    section = scores.section(replace(data, scores=rows))
    assert section is not None

    names = [row["Responses"] for row in table(section, LABEL)]
    assert names[names.index("tough") :] == ["tough"]
