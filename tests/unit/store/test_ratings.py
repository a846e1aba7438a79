"""Ratings as arrays and as patterns, response groups, and the version of the data."""

import dataclasses
import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from eval_assets.agreement.humans import measure_humans
from eval_assets.agreement.judges import measure_judges, measure_judges_against_humans
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge, judge_set_fingerprint
from eval_assets.readers.rated_items import groups_of_responses
from eval_assets.scale import LIKERT5, Scale
from eval_assets.stats import RatingPatterns, agreement_profile, judge_human_profile
from eval_assets.store.connection import connect
from eval_assets.store.data_versions import combined_fingerprint, rating_versions
from eval_assets.store.inputs import record_import, write_labels, write_rubric
from eval_assets.store.long_ratings import group_codes, long_ratings
from eval_assets.store.ratings import (
    bias_attributes,
    human_ratings,
    judge_ratings,
    judged_units,
    ratings_of_people,
    responses_in_order,
    scored_conversations,
    scores_of_responses,
    slices_in_order,
    write_pair_measures,
)
from eval_assets.store.schema import count_rows, replace_rows
from eval_assets.store.scores import judged_models, next_units, score_coverage
from tests.counting import counted
from tests.unit.store.conftest import (
    CLARITY,
    SAFETY,
    JudgeRow,
    labels,
    responses,
    scores,
    write_scored,
)

Connection = duckdb.DuckDBPyConnection
NAN = float("nan")

GIVEN = (
    ("b1", "clarity", "r2", 5),
    ("a1", "clarity", "r1", 1),
    ("a1", "clarity", "r2", 2),
    ("a2", "clarity", "r3", 4),
    ("a1", "safety", "r9", 1),
)


def test_long_ratings_count_responses_and_raters_in_the_order_of_their_names(
    connection: Connection,
) -> None:
    """Responses a1, a2, b1, b2 are units 0 to 3; r9 rated the other question only."""
    write_labels(connection, labels(*GIVEN))
    result = long_ratings(connection, "human", ["clarity"], group=group_codes(connection))[
        "clarity"
    ]

    assert result.rater_ids == ("r1", "r2", "r3", "r9")
    assert (result.unit.tolist(), result.rater.tolist()) == ([0, 0, 1, 2], [0, 1, 2, 1])
    assert result.value.tolist() == [1, 2, 4, 5]
    np.testing.assert_array_equal(
        result.matrix(),
        [[1, 2, NAN, NAN], [NAN, NAN, 4, NAN], [NAN, 5, NAN, NAN], [NAN, NAN, NAN, NAN]],
    )
    assert result.raters == ["r1", "r2", "r3"]


def test_the_group_of_each_unit_is_its_prompt_or_what_is_given(connection: Connection) -> None:
    """Prompts a and b have two responses each; b2 is given a group of its own."""
    assert group_codes(connection).tolist() == [0, 0, 1, 1] or group_codes(connection).tolist() == [
        1,
        1,
        0,
        0,
    ]
    frame = responses("a1", "a2", "b1", "b2")
    frame.loc[3, "group_id"] = "own"
    replace_rows(connection, "responses", frame)
    codes = group_codes(connection)
    assert codes[0] == codes[1]
    assert len(set(codes[1:].tolist())) == 3


def test_the_version_of_the_data_covers_which_rated_responses_are_in_one_group(
    connection: Connection,
) -> None:
    write_labels(connection, labels(*GIVEN))
    before = rating_versions(connection)["human"]
    renamed = responses("a1", "a2", "b1", "b2")
    renamed["group_id"] = ["x", "x", "y", "y"]
    replace_rows(connection, "responses", renamed)
    assert rating_versions(connection)["human"] == before
    renamed["group_id"] = ["x", "y", "y", "z"]
    replace_rows(connection, "responses", renamed)
    assert rating_versions(connection)["human"] != before


def test_people_and_judges_are_measured_by_response_groups(connection: Connection) -> None:
    """Six copies of each of ten responses: no more evidence than the ten."""
    rng = np.random.default_rng(3)
    ids = [f"g{g}-{copy}" for g in range(10) for copy in range(6)]
    rated = responses(*ids)
    rated["group_id"] = [name[:2] for name in ids]
    rated["prompt_text"] = ids
    replace_rows(connection, "responses", rated)
    value = {(g, r): float(rng.integers(1, 6)) for g in range(10) for r in ("r1", "r2", "r3")}
    inputs = [(name, int(name[1]), r) for name in ids for r in ("r1", "r2", "r3")]
    write_labels(connection, labels(*((n, "clarity", r, value[g, r]) for n, g, r in inputs)))
    judges = [JudgeRow(j, "recorded", None, 60, 60, j, k) for k, j in enumerate(("j1", "j2"))]
    scored = [(n, "clarity", f"j{r[1]}", value[g, r], "ok") for n, g, r in inputs if r != "r3"]
    write_scored(connection, judges, scores(*scored))
    evaluation = Evaluation(
        "test",
        Path(),
        (CLARITY,),
        judges=tuple(Judge(j.judge_id, "recorded", scores=Path(j.judge_id)) for j in judges),
    )
    ten = np.array([[value[g, r] for r in ("r1", "r2", "r3")] for g in range(10)])

    humans = measure_humans(human_ratings(connection, evaluation), evaluation).agreement
    between = measure_judges(judge_ratings(connection, evaluation), evaluation).agreement
    against = measure_judges_against_humans(
        ratings_of_people(connection, evaluation, "reference_outside_test"),
        scores_of_responses(connection, evaluation),
        evaluation,
        conversations={},
        data_version="1",
    ).agreement

    for n_units, n_groups in (
        *((row.n_responses, row.n_groups) for row in humans),
        *((row.n_units, row.n_groups) for row in between),
        *((row.n_units, row.n_groups) for row in against),
    ):
        assert (n_units, n_groups) == (60, 10)
    matrix, group = np.repeat(ten, 6, axis=0), np.repeat(np.arange(10), 6)
    people = agreement_profile(
        matrix, scale=LIKERT5, level="ordinal", confidence=0.95, groups=group
    )
    judged = judge_human_profile(
        matrix, matrix[:, 0], scale=LIKERT5, level="ordinal", confidence=0.95, groups=group
    )
    assert humans[1].a_hh.low == pytest.approx(people.a_hh.low)
    assert humans[1].alpha.low == pytest.approx(people.alpha.low)
    assert against[0].a_ha.low == pytest.approx(judged.a_ha.low)
    apart = agreement_profile(matrix, scale=LIKERT5, level="ordinal", confidence=0.95)
    assert people.a_hh.low < apart.a_hh.low - 0.05


def test_only_scores_with_status_ok_are_ratings(connection: Connection) -> None:
    write_scored(
        connection,
        [],
        scores(("a1", "clarity", "j", 3.5, "ok"), ("a2", "clarity", "j", None, "unparsable")),
    )
    result = long_ratings(connection, "judge", ["clarity"], group=group_codes(connection))[
        "clarity"
    ]

    assert (result.unit.tolist(), result.value.tolist()) == ([0], [3.5])


def test_a_question_without_ratings_has_none(connection: Connection) -> None:
    result = long_ratings(connection, "human", ["clarity"], group=group_codes(connection))[
        "clarity"
    ]

    assert len(result.value) == 0
    assert result.matrix().shape == (4, 0)
    assert result.raters == []


def stored_patterns(connection: Connection) -> RatingPatterns:
    """Return the patterns of the stored ratings on clarity."""
    ratings = long_ratings(connection, "human", ["clarity"], group=group_codes(connection))
    return ratings["clarity"].patterns()


def test_patterns_count_each_response_once(connection: Connection) -> None:
    """a1 has {1, 2}, a2 {4}, b1 {5}, b2 {5}."""
    write_labels(connection, labels(*GIVEN, ("b2", "clarity", "r1", 5)))

    assert counted(stored_patterns(connection)) == {(1, 2): 1, (4,): 1, (5,): 2}


def test_patterns_hold_values_between_whole_numbers(connection: Connection) -> None:
    write_labels(connection, labels(("a1", "clarity", "r1", 0.5), ("a1", "clarity", "r2", 1)))

    assert counted(stored_patterns(connection)) == {(0.5, 1.0): 1}


@pytest.mark.parametrize("n_raters", [15, 16, 64])
def test_patterns_hold_any_number_of_ratings(connection: Connection, n_raters: int) -> None:
    write_labels(connection, labels(*(("a1", "clarity", f"r{i:02}", 3.0) for i in range(n_raters))))

    assert counted(stored_patterns(connection)) == {(3.0,) * n_raters: 1}


def groups_of(connection: Connection, rows: pd.DataFrame) -> tuple[list[int], list[int]]:
    """Return the numbers of the prompts and of the groups, in the order of the responses' ids.

    `check` makes the same groups from the files alone: held-out groups are chosen by their names.
    """
    replace_rows(connection, "responses", rows)
    result = responses_in_order(connection)
    groups = connection.execute("SELECT response_id, group_id FROM response_groups").fetchall()
    assert groups_of_responses(rows).to_dict() == dict(groups)
    return pd.factorize(result["prompt"])[0].tolist(), pd.factorize(result["group"])[0].tolist()


def test_responses_to_one_prompt_share_prompt_and_group(connection: Connection) -> None:
    result = groups_of(connection, responses("a1", "a2", "b1", "b2"))

    assert result == ([0, 0, 1, 1], [0, 0, 1, 1])


def test_responses_of_one_length_are_of_one_class(connection: Connection) -> None:
    texts = ["", "", "", "", "Long.", "Longer still."]
    rows = responses(*(f"a{k}" for k in range(6))).assign(response_text=texts)
    replace_rows(connection, "responses", rows)

    codes, names = bias_attributes(connection, ())["length"]

    assert [names[code] for code in codes] == ["short"] * 4 + ["long"] * 2


def test_a_given_group_joins_prompts_and_a_conversation_joins_its_turns(
    connection: Connection,
) -> None:
    """The prompt of each response stays what it is: documents belong to their own query."""
    rows = responses("a1", "b1", "c1", "d1", "e1").assign(
        group_id=np.array(["g", "g", None, None, None], dtype=object),
        convo_id=np.array([None, "v", "v", "v", None], dtype=object),
    )

    assert groups_of(connection, rows) == ([0, 1, 2, 3, 4], [0, 0, 1, 1, 2])


def test_a_given_prompt_id_joins_prompts_that_are_worded_differently(
    connection: Connection,
) -> None:
    rows = responses("a1", "b1", "c1", "d1").assign(
        attributes=np.array(['{"prompt_id": "q1"}', '{"prompt_id": "q1"}', "{}", None], object)
    )

    assert groups_of(connection, rows) == ([0, 0, 1, 2], [0, 0, 1, 2])


def test_a_prompt_of_more_than_half_of_all_responses_is_an_instruction_and_not_a_group(
    connection: Connection,
) -> None:
    result = groups_of(connection, responses("a1", "a2", "a3", "b1", "b2"))

    assert result == ([0, 0, 0, 1, 1], [0, 1, 2, 3, 3])


def test_copies_of_a_response_without_a_prompt_are_one_group(connection: Connection) -> None:
    texts = ["the same", "the same", "another", " ", " "]
    rows = responses("a1", "a2", "a3", "a4", "a5", prompt_text=None).assign(response_text=texts)

    assert groups_of(connection, rows)[1] == [0, 0, 1, 2, 3]


def test_a_response_without_prompt_stands_for_itself(connection: Connection) -> None:
    result = groups_of(connection, responses("a1", "a2", prompt_text=None))

    assert result == ([0, 1], [0, 1])


def test_slices_sort_responses_by_prompt_difficulty_and_attribute(connection: Connection) -> None:
    """A column with a value for each of 21 responses is none; a missing value is None."""
    many = [f"x{i:02}" for i in range(21)]
    rows = responses(*many, prompt_text="One").assign(
        difficulty=np.array(["easy"] * 20 + [None], dtype=object),
        attributes=[f'{{"topic": "tax", "serial": "{i}", "prompt_id": "p{i}"}}' for i in range(21)],
    )
    replace_rows(connection, "responses", rows)
    result = slices_in_order(connection)

    assert list(result) == ["difficulty", "model_name", "prompt_id", "topic"]
    codes, names = result["difficulty"]
    assert (codes.tolist(), names) == ([0] * 20 + [-1], ["easy"])
    codes, names = result["prompt_id"]
    assert [names[code] for code in codes] == [f"p{i}" for i in range(21)]
    assert result["topic"][1] == ["tax"]


def rate_anew(connection: Connection) -> None:
    write_labels(connection, labels(*GIVEN[1:], ("b1", "clarity", "r2", 4)))


def add_a_rater(connection: Connection) -> None:
    write_labels(connection, labels(*GIVEN, ("b1", "clarity", "r5", 5)))


def rename_a_rater(connection: Connection) -> None:
    write_labels(connection, labels(*GIVEN[1:], ("b1", "clarity", "r7", 5)))


def drop_a_rating(connection: Connection) -> None:
    write_labels(connection, labels(*GIVEN[1:]))


def widen_a_scale(connection: Connection) -> None:
    wide = Scale.from_steps(low=1, high=7)
    write_rubric(connection, [type(CLARITY)("clarity", CLARITY.question, wide, "ordinal"), SAFETY])


def change_a_level(connection: Connection) -> None:
    write_rubric(
        connection, [type(CLARITY)("clarity", CLARITY.question, LIKERT5, "nominal"), SAFETY]
    )


@pytest.mark.parametrize(
    "change",
    [rate_anew, add_a_rater, rename_a_rater, drop_a_rating, widen_a_scale, change_a_level],
)
def test_all_that_decides_agreement_changes_the_version(
    connection: Connection, change: Callable[[Connection], None]
) -> None:
    write_labels(connection, labels(*GIVEN))
    before = rating_versions(connection)["human"]
    change(connection)

    assert rating_versions(connection)["human"] != before


def import_labels(connection: Connection, *value: tuple[str, str, str, float]) -> None:
    """Write labels and record their import, as a run does."""
    write_labels(connection, labels(*value))
    record_import(connection, "human_labels", fingerprint="", sources="")


def test_another_import_changes_the_version(connection: Connection) -> None:
    import_labels(connection, *GIVEN)
    before = rating_versions(connection)["human"]
    import_labels(connection, *GIVEN[1:])

    assert rating_versions(connection)["human"] != before


def test_an_edit_by_another_program_changes_the_versions(path: Path) -> None:
    """Of imported tables they are kept while the file is open, in which no one else writes."""
    with connect(path) as connection:
        write_rubric(connection, [CLARITY, SAFETY])
        replace_rows(connection, "responses", responses("a1", "a2", "b1", "b2"))
        import_labels(connection, *GIVEN)
        before = rating_versions(connection)["human"], combined_fingerprint(connection)
    with duckdb.connect(path) as other:
        other.execute("UPDATE human_labels SET value = 3 WHERE rater_id = 'r3'")

    with connect(path) as connection:
        assert rating_versions(connection)["human"] != before[0]
        assert combined_fingerprint(connection) != before[1]


def test_databases_that_are_open_together_have_separate_versions(
    path: Path, tmp_path: Path
) -> None:
    """Imports at the same moment are told apart by the file."""
    with connect(path) as first, connect(tmp_path / "second.duckdb") as second:
        for connection, value in ((first, 1), (second, 2)):
            import_labels(connection, ("a1", "clarity", "r1", value))
            connection.execute("UPDATE imports SET imported_at = '2026-11-01'")

        assert rating_versions(first)["human"] != rating_versions(second)["human"]


def test_the_combined_scores_of_equal_tables_have_equal_fingerprints(
    connection: Connection,
) -> None:
    import_labels(connection, *GIVEN)
    before = combined_fingerprint(connection)
    import_labels(connection, *GIVEN[::-1])

    assert combined_fingerprint(connection) == before
    assert before.partition("-")[0] == str(count_rows(connection, "combined_scores"))


def test_neither_the_order_of_rows_nor_notes_change_the_version(connection: Connection) -> None:
    write_labels(connection, labels(*GIVEN))
    before = rating_versions(connection)["human"]
    write_labels(connection, labels(*GIVEN[::-1]).assign(file="x", notes="sure"))

    assert rating_versions(connection)["human"] == before


def test_responses_without_ratings_do_not_change_the_version(connection: Connection) -> None:
    write_labels(connection, labels(*GIVEN))
    before = rating_versions(connection)["human"]
    replace_rows(connection, "responses", responses("a1", "a2", "b1", "b2", "z1"))

    assert rating_versions(connection)["human"] == before


def test_the_judges_version_knows_who_they_are_and_not_the_humans(connection: Connection) -> None:
    inputs = scores(("a1", "clarity", "j", 3.0, "ok"))

    def version(fingerprint: str, rows: pd.DataFrame = inputs) -> str:
        write_scored(connection, [JudgeRow("j", "recorded", "m", 1, 1, fingerprint, 0)], rows)
        return rating_versions(connection)["judge"]

    before = version("one")
    write_labels(connection, labels(*GIVEN))
    assert version("one") == before
    assert version("two") != before
    assert version("one", inputs.assign(score=4.0)) != before
    assert version("one", inputs.assign(score=NAN, status="missing")) != before


def test_two_ratings_that_swap_their_raters_are_another_version(connection: Connection) -> None:
    """The same cells in other places: a sum over rows that forgot the pairing would not see it."""
    write_labels(connection, labels(("a1", "clarity", "r1", 1), ("a1", "clarity", "r2", 5)))
    before = rating_versions(connection)["human"]
    write_labels(connection, labels(("a1", "clarity", "r1", 5), ("a1", "clarity", "r2", 1)))

    assert rating_versions(connection)["human"] != before


def test_a_score_of_a_conversation_is_compared_with_its_mean_rating_and_not_with_turns(
    connection: Connection,
) -> None:
    """A judge who is right on every turn, and gives the mean of a conversation, is right."""
    ratings = {"c1": (1, 5), "c2": (2, 2), "c3": (4, 1), "c4": (5, 4)}
    turns = pd.concat(
        [
            responses(f"{convo}t{turn}", convo_id=convo, turn_index=turn).assign(model_name="m")
            for convo in ratings
            for turn in (1, 2)
        ]
    )
    replace_rows(connection, "responses", turns)
    inputs = [(f"{c}t{t}", v) for c, turns in ratings.items() for t, v in enumerate(turns, start=1)]
    write_labels(connection, labels(*((r, "clarity", "anna", v) for r, v in inputs)))
    whole = scores(*((r, "clarity", "whole", None, "conversation") for r, _ in inputs))
    whole["raw_score"] = [np.mean(ratings[r[:2]]) for r, _ in inputs]
    by_turn = scores(*((r, "clarity", "turns", v, "ok") for r, v in inputs))
    judges = [
        JudgeRow(name, "recorded", None, 8, 8, name, place)
        for place, name in enumerate(("whole", "turns"))
    ]
    write_scored(connection, judges, pd.concat([whole, by_turn]))
    evaluation = Evaluation(
        "test",
        Path(),
        (CLARITY,),
        judges=tuple(Judge(j.judge_id, "recorded", scores=Path(j.judge_id)) for j in judges),
    )

    measured = measure_judges_against_humans(
        ratings_of_people(connection, evaluation, "reference_outside_test"),
        scores_of_responses(connection, evaluation),
        evaluation,
        conversations=scored_conversations(connection, evaluation),
        data_version="1",
    ).agreement
    between = measure_judges(judge_ratings(connection, evaluation), evaluation).agreement

    by_judge = {row.judge_id: (row.unit, row.n_units, row.a_ha.value) for row in measured}
    assert by_judge == {"turns": ("response", 8, 1), "whole": ("conversation", 4, 1)}
    assert [row.pearson.value for row in measured] == pytest.approx([1, 1])
    assert between[1].n_units == 4
    assert between[1].alpha.value == pytest.approx(1)


def test_the_version_of_the_data_covers_scores_of_conversations(connection: Connection) -> None:
    replace_rows(connection, "responses", responses("a1", "a2", convo_id="c", turn_index=1))
    versions = []
    for score in (2.0, 3.0):
        inputs = scores(("a1", "clarity", "j", None, "conversation"))
        write_scored(connection, [], inputs.assign(raw_score=score))
        versions.append(rating_versions(connection)["judge"])

    assert versions[0] != versions[1]


def test_backup_judges_and_function_scores_are_left_out_of_the_judges_alpha(
    connection: Connection, tmp_path: Path
) -> None:
    by_function = dataclasses.replace(SAFETY, scored_by="function")
    names = ("j", "k", "spare")
    judges = tuple(Judge(name, "openai", name, backup=name == "spare") for name in names)
    declared = Evaluation("test", tmp_path, (CLARITY, by_function), judges=judges)
    write_rubric(connection, declared.rubric)
    rows = [
        JudgeRow(j.id, j.provider, j.model, 2, 2, j.id, place, is_backup=j.backup)
        for place, j in enumerate(judges)
    ]
    inputs = scores(
        *(("a1", question, name, 3.0, "ok") for question in ("clarity", "safety") for name in "jk"),
        ("a1", "clarity", "spare", 1.0, "ok"),
    )
    write_scored(connection, rows, inputs)

    compared = judge_ratings(connection, declared)

    assert compared.scores["clarity"].rater_ids == ("j", "k")
    assert len(compared.scores["safety"].value) == 0
    assert compared.judge_set_fingerprint == judge_set_fingerprint({"j": "j", "k": "k"})
    assert len(scores_of_responses(connection, declared)["clarity"].value) == 3
    assert [unit[1] for unit in next_units(connection, n=9)] == ["clarity"] * 4


def test_temperatures_of_one_model_are_models_of_their_own(connection: Connection) -> None:
    rows = responses("a1", "a2", "b1", "b2")
    rows["model_name"] = ["m", "m", "m", "other"]
    zero, one = '{"temperature": "0"}', '{"temperature": "1"}'
    rows["attributes"] = [zero, one, "{}", one]
    replace_rows(connection, "responses", rows)

    codes, names = slices_in_order(connection)["model_name"]

    assert [names[code] for code in codes] == [
        "m (temperature 0)",
        "m (temperature 1)",
        "m (temperature not stated)",
        "other",
    ]


NOW = datetime(2026, 11, 21, 5, tzinfo=UTC)


def judge(judge_id: str, position: int) -> JudgeRow:
    return JudgeRow(judge_id, "openai", f"model-{judge_id}", 0, 0, f"f-{judge_id}", position)


def query() -> pd.DataFrame:
    """A row of `dual_judgements`."""
    row = {
        "query_id": 1,
        "query": "What is it?",
        "docs": [7, 3],
        "expected_docs": [7],
        "judge1_score": [0.7, None],
        "judge2_score": [0.6, 0.1],
        "judge1_model": "gpt-6-luna",
        "judge2_model": "claude-haiku-5-5",
        "kappa": 1.0,
        "status": "partial",
        "created_at": NOW,
    }
    return pd.DataFrame([row])


def prompt(**columns: object) -> pd.DataFrame:
    """Return a row of `prompt_judgements`."""
    row = {
        "prompt_id": "p0",
        "question_id": "clarity",
        "query": "Prompt a",
        "response_ids": ["a1", "a2"],
        "judge1_score": [4.0, None],
        "judge2_score": [None, None],
        "judge1_id": "j",
        "judge2_id": "k",
        "judge1_model": "mj",
        "judge2_model": None,
        "n_units": 0,
        "kappa": math.nan,
        "kappa_reason": "no_pairs",
        "created_at": NOW,
        **columns,
    }
    return pd.DataFrame([row])


def test_units_stand_together_by_question_and_prompt_with_every_judges_scores(
    connection: Connection,
) -> None:
    """The first judge is the first declared, not the first by name."""
    inputs = scores(
        ("a1", "clarity", "z", 2.0, "ok"),
        ("b2", "clarity", "z", np.nan, "unparsable"),
        ("b1", "clarity", "a", 5.0, "ok"),
    )
    write_scored(connection, [judge("z", 0), judge("a", 1)], inputs)

    judged = judged_units(connection)

    assert list(judged.scores) == ["z", "a"]
    assert judged.fingerprints == {"z": "f-z", "a": "f-a"}
    first = judged.units[judged.units["question_id"] == "clarity"]
    by_prompt = first.groupby("prompt_id", sort=False)["response_id"].agg(list).tolist()
    assert sorted(by_prompt) == [["a1", "a2"], ["b1", "b2"]]
    assert (first["query"].str[-1] == first["response_id"].str[0]).all()
    z = dict(zip(first["response_id"], judged.scores["z"], strict=False))
    assert z["a1"] == 2.0
    assert math.isnan(z["b2"])
    assert np.nansum(judged.scores["a"]) == 5.0


def test_ground_truth_holds_queries_and_prompts_under_whole_numbers(
    connection: Connection,
) -> None:
    replace_rows(connection, "dual_judgements", query())
    write_pair_measures(connection, prompts=prompt(), disagreements=pd.DataFrame())

    columns = "expected_docs, docs, judge1_score, judge2_score, judge1_model, judge2_model, kappa"
    [requested, asset] = connection.execute(
        f"SELECT {columns} FROM ground_truth ORDER BY id"  # noqa: S608
    ).fetchall()
    ids = connection.execute("SELECT id + 1, typeof(id) FROM ground_truth ORDER BY id").fetchall()

    models = ("gpt-6-luna", "claude-haiku-5-5")
    assert requested == (["7"], ["7", "3"], [0.7, None], [0.6, 0.1], *models, 1.0)
    assert asset == (None, ["a1", "a2"], [4.0, None], [None, None], "mj", None, None)
    assert ids[0] == (2, "BIGINT")
    assert ids[1][0] > 2


def test_coverage_lists_every_judge_with_what_it_attempted(
    connection: Connection,
) -> None:
    inputs = scores(
        ("a1", "clarity", "j", 2.0, "ok"),
        ("a2", "clarity", "j", np.nan, "budget_stopped"),
        ("a1", "safety", "j", 1.0, "ok"),
    )
    write_scored(connection, [judge("j", 0), judge("k", 1)], inputs)

    result = score_coverage(connection)

    counts = ["judge_id", "question_id", "n_asked", "n_attempted", "n_ok", "n_budget_stopped"]
    assert result[counts].to_numpy(dtype=object).tolist() == [
        ["j", "clarity", 4, 2, 1, 1],
        ["j", "safety", 4, 1, 1, 0],
        ["k", "clarity", 4, 0, 0, 0],
        ["k", "safety", 4, 0, 0, 0],
    ]
    assert result["share_ok"].tolist()[:2] == [0.5, 1.0]
    assert result["share_ok"].isna().tolist()[2:] == [True, True]
    assert result["main_reason"].tolist()[:1] == ["budget_stopped"]


def test_models_under_test_are_named_once(connection: Connection) -> None:
    assert judged_models(connection) == ["m1", "m2"]
