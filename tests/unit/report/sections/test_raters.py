"""How well raters label: their figures side by side, advice, and the spread of ratings."""

import pandas as pd

from eval_assets.config.rubric import RubricQuestion
from eval_assets.report.sections import raters
from eval_assets.scale import Scale
from tests.unit.report.builder import Case, Measured, with_tables
from tests.unit.report.reading import cards, items, table


def quality(*rows: tuple[str, str, str, float | None, int, str]) -> pd.DataFrame:
    columns = ["question_id", "rater_id", "measure", "value", "n", "advice"]
    return pd.DataFrame(list(rows), columns=columns)


def test_figures_of_a_rater_stand_in_one_row() -> None:
    figures = quality(
        ("clarity", "anna", "mean", 3.25, 40, ""),
        ("clarity", "anna", "severity", -0.05, 30, ""),
        ("clarity", "anna", "skipped_share", 0.1, 44, "Read the reasons."),
        ("clarity", "ben", "mean", 3.5, 40, ""),
        ("clarity", "ben", "severity", None, 0, ""),
        ("clarity", "ben", "skipped_share", 0.0, 40, ""),
        ("clarity", "ben", "drift", 0.2, 40, "Take breaks."),
    )
    section = raters.label_quality(with_tables(Case().data(), label_quality=figures))
    assert section is not None

    anna, ben = table(section, "Raters by question")
    assert anna == {
        "Rater": "anna",
        "Question": "clarity",
        "Labels": "44",
        "Mean": "3.25",
        "Severity": "-5.0 %",
        "Skipped": "10.0 %",
    }
    assert (ben["Severity"], ben["Skipped"]) == ("undefined", "0 %")
    assert items(cards(section)[""], "What to do") == ["Read the reasons.", "Take breaks."]


def test_responses_are_counted_by_how_far_their_ratings_lie_apart() -> None:
    section = raters.label_quality(
        with_tables(
            Case().data(),
            label_quality=quality(("clarity", "anna", "mean", 3.25, 40, "")),
            label_spread=pd.DataFrame(
                [("clarity", "perfect", 30), ("clarity", "very high", 2)],
                columns=["question_id", "band", "n_responses"],
            ),
        )
    )
    assert section is not None

    clarity, safe = table(section, "Responses by the spread of their ratings")
    assert [*clarity.values()] == ["clarity", "30", "0", "0", "0", "0", "2"]
    assert [*safe.values()] == ["safe", "0", "0", "0", "0", "0", "0"]


def test_ratings_without_order_do_not_lie_apart() -> None:
    topic = RubricQuestion("topic", "Which topic?", Scale.from_steps(low=1, high=4), "nominal")
    section = raters.label_quality(
        with_tables(
            Case(measured=(Measured(topic),)).data(),
            label_quality=quality(("topic", "anna", "agreement", 0.8, 40, "")),
            label_spread=pd.DataFrame(
                [("topic", "perfect", 30)], columns=["question_id", "band", "n_responses"]
            ),
        )
    )
    assert section is not None
    assert list(cards(section)) == [""]


def test_without_labels_there_is_no_section() -> None:
    assert raters.label_quality(Case().data()) is None
