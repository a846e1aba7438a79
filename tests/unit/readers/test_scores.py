import math
from pathlib import Path

import pandas as pd
import pytest

from eval_assets.frame_columns import SCORE_COLUMNS
from eval_assets.judges.recorded_replies import number_in_reply
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.responses import read_responses
from eval_assets.readers.scores import read_recorded_scores
from tests.unit.readers.conftest import EVALUATION, Reported, Write

JUDGED = f"""\
{EVALUATION}judges:
  - {{id: gpt, provider: recorded, scores: scores.csv, model: gpt/1}}
"""

LONG = "response_id,judge_model,question_id,score,raw_output\n"


def scores(folder: Path) -> pd.DataFrame:
    evaluation = read_evaluation(folder)
    return read_recorded_scores(evaluation, read_responses(evaluation))[0]


def rows(table: pd.DataFrame, *columns: str) -> list[tuple[object, ...]]:
    return list(table[list(columns)].itertuples(index=False, name=None))


def test_every_unit_has_a_row_whether_it_was_scored_or_not(write: Write) -> None:
    text = f"{LONG}a2,gpt/1,safe,1,fine\na1,gpt/2,safe,0,other judge\n"

    table = scores(write({"evaluation.yaml": JUDGED, "scores.csv": text}))

    assert tuple(table.columns) == SCORE_COLUMNS
    assert rows(table, "response_id", "question_id", "judge_id", "status", "raw_output") == [
        ("a1", "helpfulness", "gpt", "missing", None),
        ("a1", "safe", "gpt", "missing", None),
        ("a2", "helpfulness", "gpt", "missing", None),
        ("a2", "safe", "gpt", "ok", "fine"),
    ]
    assert table["score"].tolist()[3] == 1.0
    assert table["score"].isna().tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("score", "reply", "expected"),
    [
        ("4", "4", ("ok", 4.0, 4.0, "4")),
        ("2.3333", "", ("ok", 2.3333, 2.3333, None)),
        (" 5.0 ", "", ("ok", 5.0, 5.0, None)),
        ("6", "six", ("out_of_range", math.nan, 6.0, "six")),
        ("0", "", ("out_of_range", math.nan, 0.0, None)),
        ("", "N/A, cannot say", ("unparsable", math.nan, math.nan, "N/A, cannot say")),
        ("", "  ", ("missing", math.nan, math.nan, None)),
        ("four", "", ("unparsable", math.nan, math.nan, "four")),
        ("nan", "reply", ("unparsable", math.nan, math.nan, "reply")),
        ("true", "", ("unparsable", math.nan, math.nan, "true")),
    ],
)
def test_what_a_recorded_score_means(
    write: Write, score: str, reply: str, expected: tuple[str, float, float, str | None]
) -> None:
    """Cells of score and reply; expected are status, score, raw score and reply kept."""
    text = f'{LONG}a1,gpt/1,helpfulness,{score},"{reply}"\n'

    row = scores(write({"evaluation.yaml": JUDGED, "scores.csv": text})).iloc[0]

    status, value, raw, raw_output = expected
    assert (row["status"], row["raw_output"]) == (status, raw_output)
    assert row["score"] == pytest.approx(value, nan_ok=True)
    assert row["raw_score"] == pytest.approx(raw, nan_ok=True)


def test_words_are_scores_on_a_binary_scale(write: Write) -> None:
    text = f"{LONG}a1,gpt/1,safe,true,\n"

    table = scores(write({"evaluation.yaml": JUDGED, "scores.csv": text}))

    assert rows(table, "status", "score")[1] == ("ok", 1.0)


def test_replies_without_a_score_column_are_parsed(write: Write) -> None:
    text = (
        "response_id,judge_model,question_id,raw_output,run\na1,gpt/1,safe,Score: 1,1\n"
        "a1,gpt/1,safe,Score: 0,2\na2,gpt/1,safe,,1\na2,gpt/1,helpfulness,Score: 9,1\n"
    )
    evaluation = read_evaluation(write({"evaluation.yaml": JUDGED, "scores.csv": text}))

    [table] = read_recorded_scores(
        evaluation,
        read_responses(evaluation),
        number_in_reply=number_in_reply,
    )

    assert rows(table, "status", "raw_output", "runs") == [
        ("missing", None, None),
        ("ok", "Score: 0", [1.0, 0.0]),
        ("out_of_range", "Score: 9", None),
        ("missing", None, None),
    ]
    assert table["score"].tolist()[1] == 0.5


def test_the_model_must_be_in_the_file(write: Write, reported: Reported) -> None:
    folder = write({"evaluation.yaml": JUDGED, "scores.csv": f"{LONG}a1,gpt/2,safe,1,\n"})

    assert reported(lambda: scores(folder)) == [
        'scores.csv:judge_model: no row has the judge_model "gpt/1". Write "gpt/2".'
    ]


def test_a_file_that_does_not_say_whose_scores_it_holds_serves_one_judge(
    write: Write, reported: Reported
) -> None:
    second = "  - {id: haiku, provider: recorded, scores: scores.csv, model: haiku/1}\n"
    text = "response_id,question_id,score\na1,safe,1\n"

    assert rows(scores(write({"evaluation.yaml": JUDGED, "scores.csv": text})), "status")[1] == (
        "ok",
    )
    folder = write({"evaluation.yaml": JUDGED + second, "scores.csv": text})
    assert reported(lambda: scores(folder)) == [
        (
            "scores.csv:judge_model: the file does not say whose scores these are, and gpt and "
            "haiku read it. Add the column judge_model, or give each judge a file of its own."
        )
    ]


def test_without_a_model_the_file_must_hold_one_judge(write: Write, reported: Reported) -> None:
    yaml = JUDGED.replace(", model: gpt/1", "")

    one = scores(write({"evaluation.yaml": yaml, "scores.csv": f"{LONG}a1,m2,safe,1,\n"}))
    assert rows(one, "status")[1] == ("ok",)

    folder = write({"scores.csv": f"{LONG}a1,m2,safe,1,\na2,m1,safe,1,\n", "evaluation.yaml": yaml})
    assert reported(lambda: scores(folder)) == [
        (
            "scores.csv:judge_model: the file holds scores of several models: m1, m2. "
            "Name one of them as the model of the judge gpt."
        )
    ]


def test_everything_that_is_wrong_is_reported_at_once(write: Write, reported: Reported) -> None:
    text = (
        f"{LONG}a1,gpt/1,safe,1,\na1,gpt/1,safe,0,\nb9,gpt/1,safe,1,\na1,gpt/1,tone,1,\n"
        "a1,gpt/1,,1,\na1,gpt/1,safe\nb9,gpt/2,safe,1,\n"
    )
    folder = write({"evaluation.yaml": JUDGED, "scores.csv": text})

    assert reported(lambda: scores(folder)) == [
        (
            'scores.csv:3:score: a second score of "a1" on "safe", the first is in line 2. '
            "Keep one of the two."
        ),
        (
            'scores.csv:4:response_id: "b9" is not a response of this evaluation. '
            "Use an id from the response files, or add the response there."
        ),
        'scores.csv:5:question_id: "tone" is not in the rubric. Use one of helpfulness, safe.',
        (
            "scores.csv:6:question_id: the row does not name a question, and several are asked. "
            "Name one of helpfulness, safe."
        ),
        (
            "scores.csv:7: the row has 3 cells, the header has 5. "
            "Give the row a cell for each column, and put quotes around text with commas."
        ),
    ]


def test_a_file_of_something_else_is_refused(write: Write, reported: Reported) -> None:
    folder = write({"evaluation.yaml": JUDGED, "scores.csv": "response_id,text\na1,Fine.\n"})

    assert reported(lambda: scores(folder)) == [
        (
            "scores.csv:1: the columns response_id, text are not those of any form of scores. "
            "Give the columns of one of them: response_id, judge_model, question_id, score "
            "(or raw_output alone); or indicator_id, convo_id, model_name, seed, aiescore."
        )
    ]


TURNS = """\
response_id,indicator_id,convo_id,turn_index,model_name,seed,prompt_text,response_text
s1,safe,c1,1,m1,1,p,r
s2,safe,c1,2,m1,1,p,r
s3,other,c2,1,m1,1,p,r
"""


def test_a_score_of_a_conversation_is_not_that_of_any_turn(write: Write) -> None:
    """s3 is asked both questions and was not scored; s1 and s2 are asked what they indicate."""
    text = "indicator_id,convo_id,model_name,seed,aiescore\nsafe,c1,m1,1.0,0.5\n"

    table = scores(write({"evaluation.yaml": JUDGED, "responses.csv": TURNS, "scores.csv": text}))

    assert rows(table, "response_id", "question_id", "status") == [
        ("s1", "safe", "conversation"),
        ("s2", "safe", "conversation"),
        ("s3", "helpfulness", "missing"),
        ("s3", "safe", "missing"),
    ]
    assert table["score"].isna().all()
    assert table["raw_score"].tolist()[:2] == [0.5, 0.5]


def test_conversations_of_one_turn_are_scored_as_the_judge_scores_the_others(write: Write) -> None:
    one = "indicator_id,convo_id,model_name,seed,question_id,aiescore\nother,c2,m1,1,safe,1\n"
    two_turns = one + "safe,c1,m1,1,safe,0.5\n"
    files = {"evaluation.yaml": JUDGED, "responses.csv": TURNS}

    alone = scores(write({**files, "scores.csv": one}))
    beside = scores(write({**files, "scores.csv": two_turns}))

    assert alone["status"].tolist()[-1] == "ok"
    assert beside["status"].tolist()[-1] == "conversation"


def test_a_score_of_a_turn_is_of_that_turn(write: Write) -> None:
    text = "indicator_id,convo_id,turn_index,model,seed,aiescore\nsafe,c1,2.0,m1,01,1\n"

    table = scores(write({"evaluation.yaml": JUDGED, "responses.csv": TURNS, "scores.csv": text}))

    assert table["status"].tolist() == ["missing", "ok", "missing", "missing"]


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("convo_id,model", "c1,m1", '"c1", model_name "m1". Copy these values from the response '),
        ("indicator_id,convo_id", "safe,c9", '"c9". Copy these values from the response files.'),
    ],
)
def test_keys_of_no_response_are_reported(
    write: Write, reported: Reported, header: str, row: str, expected: str
) -> None:
    text = f"{header},question_id,aiescore\n{row},safe,1\n"
    folder = write({"evaluation.yaml": JUDGED, "responses.csv": TURNS, "scores.csv": text})

    [line] = reported(lambda: scores(folder))

    assert line.startswith("scores.csv:2: no response has ")
    assert expected in line


def test_scores_of_conversations_that_do_not_fit_are_reported(
    write: Write, reported: Reported
) -> None:
    """A problem of a whole conversation is reported once, not once for every turn of it."""
    text = (
        "indicator_id,convo_id,turn_index,model_name,seed,question_id,aiescore\n"
        "safe,c9,,m1,1,,1\n"
        "safe,c1,,m1,1,helpfulness,1\n"
        "safe,c1,,m1,1,,1\n"
        "safe,c1,2,m1,1,,0\n"
    )
    folder = write({"evaluation.yaml": JUDGED, "responses.csv": TURNS, "scores.csv": text})

    assert [message.split(". ")[0] for message in reported(lambda: scores(folder))] == [
        (
            "scores.csv:2: no response has "
            'indicator_id "safe", convo_id "c9", model_name "m1", seed "1"'
        ),
        'scores.csv:3:question_id: "helpfulness" is not asked of "s1"',
        'scores.csv:3:question_id: "helpfulness" is not asked of "s2"',
        'scores.csv:5:aiescore: a second score of "s2" on "safe", the first is in line 4',
    ]


def test_runs_of_a_judge_are_averaged_and_kept(write: Write, reported: Reported) -> None:
    header = "response_id,judge_model,question_id,score,run\n"
    text = f"{header}a1,gpt/1,safe,1,1\na1,gpt/1,safe,0,2\na2,gpt/1,safe,1,1\na2,gpt/1,safe,,2\n"
    table = scores(write({"evaluation.yaml": JUDGED, "scores.csv": text}))
    safe = table[table["question_id"] == "safe"].sort_values("response_id")

    assert rows(safe, "response_id", "score", "runs", "status")[:2] == [
        ("a1", 0.5, [1.0, 0.0], "ok"),
        ("a2", 1.0, None, "ok"),
    ]

    folder = write({"evaluation.yaml": JUDGED, "scores.csv": f"{text}a1,gpt/1,safe,1,2\n"})
    assert reported(lambda: scores(folder)) == [
        (
            'scores.csv:6:score: a second score of "a1" on "safe", the first is in line 3. '
            "Keep one of the two."
        )
    ]


@pytest.mark.parametrize(
    "table",
    [
        "ticket,gpt/1,gpt/2\na1,1,0\na2,0,0\n",
        "ticket,anna,gpt/1\na1,0,1\na2,0,0\n",
        "ticket,llm_judge\na1,1\na2,0\n",
        "ticket,model,verdict\na1,gpt/1,1\na2,gpt/1,0\na1,gpt/2,0\na2,gpt/2,1\n",
    ],
    ids=["two judges", "beside a person", "one judge", "long"],
)
def test_scores_are_read_as_check_reads_them(write: Write, table: str) -> None:
    rubric = "name: t\nrubric:\n  - {id: safe, question: Is it safe, scale: binary}\n"
    declared = rubric + JUDGED.removeprefix(EVALUATION)

    result = scores(write({"evaluation.yaml": declared, "scores.csv": table}))

    assert rows(result, "response_id", "question_id", "score") == [
        ("a1", "safe", 1.0),
        ("a2", "safe", 0.0),
    ]


def test_columns_of_people_only_are_no_scores(write: Write, reported: Reported) -> None:
    table = "ticket,anna,ben\na1,0,1\na2,0,0\n"

    [problem] = reported(lambda: scores(write({"evaluation.yaml": JUDGED, "scores.csv": table})))

    assert "columns anna, ben hold ratings of people, and none those of a judge" in problem
