"""Human and judge scores side by side, their means by slice, and disagreements."""

import math

import duckdb
import numpy as np
import pandas as pd
import pytest

from eval_assets.figures import HumanFigures, JudgeFigures, ScoreFigures
from eval_assets.store.figures import replace_figures
from eval_assets.store.inputs import write_labels
from eval_assets.store.schema import read_table, replace_rows
from eval_assets.store.summaries import (
    agreement_rows,
    count_disagreements,
    withdraw_stand_in_scores,
    worst_disagreements,
    write_judge_human_disagreements,
    write_label_disagreements,
    write_score_summary,
)
from tests.unit.cases import Case
from tests.unit.store.conftest import labels, responses, scores, write_scored

Connection = duckdb.DuckDBPyConnection


def test_each_turn_keeps_its_own_scores(connection: Connection) -> None:
    """Two turns of one conversation share all but the turn."""
    turns = responses("t1", "t2", convo_id="c", seed="1", model_name="m", indicator_id="clarity")
    replace_rows(connection, "responses", turns.assign(turn_index=[1, 2]))
    write_labels(connection, labels(("t1", "clarity", "r1", 1), ("t2", "clarity", "r1", 5)))
    write_scored(
        connection,
        [],
        scores(("t1", "clarity", "j1", 2.0, "ok"), ("t2", "clarity", "j1", 4.0, "ok")),
    )

    combined = read_table(connection, "combined_scores", order_by="turn_index")
    assert combined[["turn_index", "hij_score", "llm_aiescore"]].to_numpy().tolist() == [
        [1, 1, 2],
        [2, 5, 4],
    ]


def test_the_judges_mean_leaves_out_scores_that_are_none(connection: Connection) -> None:
    write_labels(connection, labels(("a1", "clarity", "r1", 4), ("a1", "clarity", "r2", 5)))
    write_scored(
        connection,
        [],
        scores(
            ("a1", "clarity", "j1", 2.0, "ok"),
            ("a1", "clarity", "j2", 5.0, "ok"),
            ("a1", "clarity", "j3", None, "refused"),
        ),
    )

    combined = read_table(connection, "combined_scores", order_by="hij_rater_id")
    of_a1 = combined[(combined["response_id"] == "a1") & (combined["question_id"] == "clarity")]
    assert of_a1[["hij_rater_id", "hij_score", "llm_aiescore", "n_judges"]].to_numpy().tolist() == [
        ["r1", 4, 3.5, 2],
        ["r2", 5, 3.5, 2],
    ]
    in_long = read_table(connection, "combined_scores_long")
    refused = in_long[in_long["judge_status"] == "refused"]
    assert refused["hij_rater_id"].tolist() == ["r1", "r2"]
    assert refused["judge_score"].isna().all()


def test_a_response_that_nobody_rated_has_one_row_a_question(connection: Connection) -> None:

    combined = read_table(connection, "combined_scores")
    assert len(combined) == 4 * 2
    assert combined["hij_score"].isna().all()
    assert (combined["n_judges"] == 0).all()


def test_a_response_that_names_a_question_is_combined_on_that_one_only(
    connection: Connection,
) -> None:
    rows = responses("a1", "a2", "a3").assign(
        indicator_id=np.array(["safety", "other", None], dtype=object)
    )
    replace_rows(connection, "responses", rows)

    units = read_table(connection, "combined_scores")[["response_id", "question_id"]]
    assert sorted(map(tuple, units.to_numpy().tolist())) == [
        ("a1", "safety"),
        ("a2", "clarity"),
        ("a2", "safety"),
        ("a3", "clarity"),
        ("a3", "safety"),
    ]


def summary_of(connection: Connection, **condition: object) -> dict[str, object]:
    """The one row of `score_summary` with these cells."""
    write_score_summary(connection)
    rows = read_table(connection, "score_summary")
    for column, value in condition.items():
        rows = rows[rows[column].isna() if value is None else rows[column] == value]
    [row] = rows.to_dict("records")
    return {str(name): value for name, value in row.items()}


def test_human_means_weigh_each_response_once(connection: Connection) -> None:
    """a1 has mean 2 of three ratings, a2 the one rating 5: mean 3.5, sample deviation 2.1213."""
    write_labels(
        connection,
        labels(
            ("a1", "clarity", "r1", 1),
            ("a1", "clarity", "r2", 2),
            ("a1", "clarity", "r3", 3),
            ("a2", "clarity", "r1", 5),
        ),
    )
    row = summary_of(connection, slice="all", question_id="clarity", model_name=None)

    assert (row["n"], row["mean"]) == (2, 3.5)
    assert row["standard_deviation"] == pytest.approx(4.5**0.5)


def test_the_bias_of_a_judge_is_over_the_responses_that_humans_rated(
    connection: Connection,
) -> None:
    """Above 0 the judge is more lenient: (4 - 2) on a1, while b1 has no human rating."""
    write_labels(connection, labels(("a1", "clarity", "r1", 2)))
    write_scored(
        connection,
        [],
        scores(("a1", "clarity", "j", 4.0, "ok"), ("b1", "clarity", "j", 1.0, "ok")),
    )
    row = summary_of(connection, slice="all", rater_kind="judge", model_name=None)

    assert (row["n"], row["mean"], row["n_paired"], row["bias"]) == (2, 2.5, 1, 2.0)


def test_responses_on_which_a_judge_lies_half_the_scale_from_humans_are_listed(
    connection: Connection,
) -> None:
    """a1: 4.5 against 1; a2: 3 against 5; b1: 1.5 points, less than half of 1 to 5; b2: a pass."""
    write_labels(
        connection,
        labels(
            ("a1", "clarity", "r1", 4),
            ("a1", "clarity", "r2", 5),
            ("a2", "clarity", "r1", 3),
            ("b1", "clarity", "r1", 3),
            ("b2", "safety", "r1", 1),
        ),
    )
    write_scored(
        connection,
        [],
        scores(
            ("a1", "clarity", "j", 1.0, "ok"),
            ("a2", "clarity", "j", 5.0, "ok"),
            ("b1", "clarity", "j", 4.5, "ok"),
            ("b2", "safety", "j", 0.0, "ok"),
            ("a2", "safety", "j", 0.0, "ok"),
        ),
    )
    write_judge_human_disagreements(connection)

    result = read_table(connection, "judge_human_disagreements")
    assert result[["response_id", "direction", "difference", "n_ratings"]].to_numpy().tolist() == [
        ["b2", "judge lower", -1, 1],
        ["a1", "judge lower", -3.5, 2],
        ["a2", "judge higher", 2, 1],
    ]


def test_a_score_of_a_conversation_lies_beside_the_mean_of_its_ratings(
    connection: Connection,
) -> None:
    rows = responses("a1", "a2", "b1").assign(
        convo_id=["c1", "c1", "c2"], turn_index=[1, 2, 1], model_name="m"
    )
    replace_rows(connection, "responses", rows)
    rated = [("a1", 4), ("a2", 5), ("b1", 2)]
    write_labels(connection, labels(*((name, "clarity", "r1", v) for name, v in rated)))
    of_conversations = scores(
        *((name, "clarity", "j", None, "conversation") for name, _ in rated)
    ).assign(raw_score=[1.0, 1.0, 2.0])
    write_scored(connection, [], of_conversations)
    write_judge_human_disagreements(connection)

    result = read_table(connection, "judge_human_disagreements")
    assert result[["response_id", "human_mean", "n_ratings", "score"]].to_numpy().tolist() == [
        ["a1", 4.5, 2, 1.0]
    ]


def test_one_response_has_no_standard_deviation(connection: Connection) -> None:
    write_labels(connection, labels(("a1", "clarity", "r1", 2)))

    row = summary_of(connection, slice="all", question_id="clarity", model_name=None)
    assert pd.isna(row["standard_deviation"])  # type: ignore[call-overload]


def test_attributes_and_difficulty_are_slices(connection: Connection) -> None:
    rows = responses("a1", "a2", "b1").assign(
        difficulty=["easy", "hard", "hard"], attributes='{"topic": "tax"}'
    )
    replace_rows(connection, "responses", rows)
    write_labels(
        connection, labels(*((r, "clarity", "r1", v) for r, v in [("a1", 1), ("a2", 3), ("b1", 5)]))
    )

    assert summary_of(connection, slice="difficulty", slice_value="hard", model_name=None)[
        "mean"
    ] == pytest.approx(4)
    assert summary_of(connection, slice="topic", slice_value="tax", model_name=None)["n"] == 3


def test_a_column_with_a_value_for_each_response_is_no_slice(connection: Connection) -> None:
    many = [f"x{i}" for i in range(21)]
    replace_rows(connection, "responses", responses(*many).assign(difficulty=many))
    write_labels(connection, labels(*((r, "clarity", "r1", 3) for r in many)))
    write_score_summary(connection)

    assert set(read_table(connection, "score_summary")["slice"]) == {"all"}


def test_disagreements_span_the_scale_or_scatter_beyond_three_eighths(
    connection: Connection,
) -> None:
    """On 1 to 5: {1, 5} spans it; {1, 4} deviates by 1.5, which is not beyond 3/8 of 4."""
    write_labels(
        connection,
        labels(
            ("a1", "clarity", "r1", 1),
            ("a1", "clarity", "r2", 5),
            ("a2", "clarity", "r1", 1),
            ("a2", "clarity", "r2", 4),
            ("b1", "clarity", "r1", 5),
            ("b2", "safety", "r1", 0),
            ("b2", "safety", "r2", 1),
        ),
    )
    write_label_disagreements(connection)

    result = read_table(connection, "label_disagreements", order_by="response_id")
    assert result[["response_id", "reason", "range"]].to_numpy().tolist() == [
        ["a1", "from one end of the scale to the other", 4],
        ["b2", "pass against fail", 1],
    ]
    assert result["ratings"].tolist() == ['{"r1":1.0,"r2":5.0}', '{"r1":0.0,"r2":1.0}']
    assert result["value_counts"].tolist() == ['{"1.0":1,"5.0":1}', '{"0.0":1,"1.0":1}']
    assert count_disagreements(connection) == {"clarity": 1, "safety": 1}


def test_a_question_without_far_ratings_lists_its_largest_deviations(
    connection: Connection,
) -> None:
    """They are no disagreements to count; equal ratings are not listed at all."""
    replace_rows(connection, "responses", responses(*(f"x{i:02}" for i in range(14))))
    write_labels(
        connection,
        labels(
            *((f"x{i:02}", "clarity", "r1", 3.0) for i in range(14)),
            *((f"x{i:02}", "clarity", "r2", 5.0 if i == 7 else 4.0) for i in range(13)),
            ("x13", "clarity", "r2", 3.0),
        ),
    )
    write_label_disagreements(connection)

    result = read_table(connection, "label_disagreements")
    assert result["response_id"].tolist() == ["x07", *(f"x{i:02}" for i in (*range(7), 8, 9))]
    assert set(result["reason"]) == {"largest standard deviation of the question"}
    assert count_disagreements(connection) == {}


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (2, 0, 3, 1)])
def test_ratings_without_order_disagree_where_no_class_has_a_majority(
    connection: Connection, order: tuple[int, ...]
) -> None:
    connection.execute(
        "UPDATE rubric_questions SET level = 'nominal', scale_min = 0, scale_max = 3,"
        " scale_values = [0, 1, 2, 3] WHERE question_id = 'clarity'"
    )
    ratings = {"a1": (0, 1, 2), "a2": (0, 3, 3), "b1": (1, 1, 1), "b2": (0, 3)}
    write_labels(
        connection,
        labels(
            *(
                (response, "clarity", f"r{rater}", order[value])
                for response, values in ratings.items()
                for rater, value in enumerate(values)
            )
        ),
    )
    write_label_disagreements(connection)

    rows = read_table(connection, "label_disagreements", order_by="response_id")
    assert rows["response_id"].tolist() == ["a1", "b2"]
    assert set(rows["reason"]) == {"no value has more than half of the ratings"}
    assert rows["range"].tolist() == [1, 1]
    assert rows["standard_deviation"].tolist() == pytest.approx([3**-0.5, 0.5])
    assert worst_disagreements(connection, most=1)["response_id"].tolist() == ["a1"]


def test_no_combined_score_is_left_once_the_scores_were_read_again(connection: Connection) -> None:
    """Reading scores again empties `stand_in_scores`, and no part may be certified afterwards."""
    replace_rows(connection, "responses", responses("a", "b"))
    write_scored(connection, [], scores(("a", "clarity", "j1", 2.0, "ok")))
    combined = ScoreFigures(
        slice="all",
        slice_value=None,
        question_id="clarity",
        model_name=None,
        rater_kind="combined",
        rater_id="j1",
        n=1,
        mean=2.0,
        standard_deviation=math.nan,
        n_paired=None,
        bias=math.nan,
    )
    replace_figures(connection, ScoreFigures, [combined])

    withdraw_stand_in_scores(connection)

    kinds = read_table(connection, "score_summary", order_by="slice")["rater_kind"]
    assert set(kinds) == {"judge"}


def test_a_row_of_the_history_joins_figures_of_humans_and_judges(connection: Connection) -> None:
    case = Case()
    replace_figures(connection, HumanFigures, case.humans())
    of_humans = agreement_rows(connection)
    replace_figures(connection, JudgeFigures, case.judge_rows())
    overall, clarity, _ = agreement_rows(connection)

    assert (of_humans[0]["judge_alpha"], of_humans[0]["data_version"]) == (None, "v1")
    assert (overall["scope"], overall["question_id"]) == ("overall", None)
    assert (clarity["scope"], clarity["question_id"]) == ("question", "clarity")
    assert (clarity["a_hh"], clarity["alpha"], clarity["judge_alpha"]) == (0.88, 0.81, 0.83)
    assert (overall["data_version"], overall["judge_set_fingerprint"]) == ("v1 v1", "abc")
