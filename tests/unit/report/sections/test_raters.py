"""How well raters label: their figures side by side, advice, and the spread of ratings."""

from dataclasses import replace

import numpy as np
import pandas as pd

from eval_assets.agreement.diagnosis import Diagnosis, RaterUse
from eval_assets.agreement.rounds import RewordedRatings, measure_rewordings
from eval_assets.config.rubric import RubricQuestion
from eval_assets.report.sections import raters
from eval_assets.scale import Scale
from tests.unit.agreement.test_rounds import EVALUATION, halves
from tests.unit.report.builder import Case, Measured, with_tables
from tests.unit.report.lookup import cards, items, paragraphs, table


def quality(*rows: tuple[str, str, str, float | None, int, str]) -> pd.DataFrame:
    columns = ["question_id", "rater_id", "measure", "value", "n", "advice"]
    return pd.DataFrame(list(rows), columns=columns)


def test_figures_of_a_rater_stand_in_one_row() -> None:
    figures = quality(
        ("clarity", "anna", "most_frequent_share", 0.25, 40, ""),
        ("clarity", "anna", "severity", -0.05, 30, ""),
        ("clarity", "anna", "skipped_share", 0.1, 44, "Read the reasons."),
        ("clarity", "ben", "severity", None, 0, ""),
        ("clarity", "ben", "skipped_share", 0.0, 40, ""),
        ("clarity", "ben", "opposite_ends", 0.2, 40, "Adjudicate these."),
    )
    section = raters.label_quality(with_tables(Case().data(), label_quality=figures))
    assert section is not None

    anna, ben = table(section, "Raters by question")
    assert anna == {
        "Rater": "anna",
        "Question": "clarity",
        "Labels": "44",
        "Skipped": "10.0 %",
        "Most frequent value": "25.0 %",
        "Severity": "-5.0 %",
        "At opposite ends": "undefined",
    }
    assert (ben["Severity"], ben["Skipped"]) == ("undefined", "0 %")
    assert items(cards(section)[""], "What to do") == ["Read the reasons.", "Adjudicate these."]


def test_responses_are_counted_by_how_far_their_ratings_lie_apart() -> None:
    section = raters.label_quality(
        with_tables(
            Case().data(),
            label_quality=quality(("clarity", "anna", "severity", 0.25, 40, "")),
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
            label_quality=quality(("topic", "anna", "skipped_share", 0.8, 40, "")),
            label_spread=pd.DataFrame(
                [("topic", "perfect", 30)], columns=["question_id", "band", "n_responses"]
            ),
        )
    )
    assert section is not None
    assert list(cards(section)) == [""]


def test_mixed_up_values_and_severity_have_a_card_for_each_question() -> None:
    question = RubricQuestion("clarity", "Is it clear?", Scale.from_steps(low=1, high=2), "ordinal")
    use = RaterUse("anna", 20, -0.2, (15, 5))
    pairs = np.array([[20.0, 5.0], [5.0, 0.0]])
    result = Diagnosis(question, 15, pairs, (use,), ())
    section = raters.disagreement(replace(Case().data(), diagnoses=(result,)))

    assert section is not None
    remark = "Raters most often mix up 1 and 2: beside 2, 100 % of the other ratings are 1."
    assert remark in paragraphs(section)
    label = "Ratings beside each value, by other raters of the same response"
    assert table(section, label)[0] == {"Value": "1", "1": "80 %", "2": "20 %"}
    assert list(table(section, "Use of the scale")[0].values()) == [
        *("anna", "20", "-0.20", "75 %", "25 %")
    ]


def test_without_a_question_below_a_minimum_values_have_no_section() -> None:
    assert raters.disagreement(Case().data()) is None


def test_without_labels_there_is_no_section() -> None:
    assert raters.label_quality(Case().data()) is None


def test_wordings_stand_side_by_side_with_their_change() -> None:
    rows = measure_rewordings(
        RewordedRatings(halves(), np.arange(32)), EVALUATION, data_version="v1"
    )
    section = raters.rewordings(replace(Case().data(), rubric_versions=rows))

    assert section is not None
    first, second = table(section, "Agreement between humans by wording")
    assert (first["Version"], first["New responses"], first["Change of alpha"]) == ("1", "", "")
    assert (second["Version"], second["New responses"]) == ("2", "16")
    assert second["Change of alpha"].startswith("+0.761")
    [card] = cards(section).values()
    [sentence] = items(card, "Did it help?")
    assert sentence.startswith("clarity, version 2 after version 1: alpha rose by 0.761")


def test_one_wording_has_no_section() -> None:
    assert raters.rewordings(Case().data()) is None
