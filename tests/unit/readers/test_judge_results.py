"""Two files are joined by whatever column says the same in both."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from eval_assets.readers.judge_results import JudgedItems, read_judged_items
from eval_assets.scale import LIKERT5

Write = Callable[[Mapping[str, str]], Path]
Reported = Callable[[Callable[[], object]], list[str]]

LABELS = """\
response_id,rater_id,question_id,rating
a1,r1,clarity,4
a1,r2,clarity,5
a2,r1,clarity,1
a2,r1,depth,2
"""
SCORES = """\
response_id,judge_model,question_id,score
a1,gpt,clarity,4.5
a2,gpt,clarity,2
a3,gpt,clarity,3
a1,haiku,clarity,1
a1,gpt,depth,1
"""


def read(folder: Path, judge: str | None = "gpt", dimension: str = "clarity") -> JudgedItems:
    return read_judged_items(
        folder / "labels.csv",
        folder / "scores.csv",
        dimension=dimension,
        scale=LIKERT5,
        judge=judge,
    )


def test_items_of_one_dimension_have_ratings_and_the_score_of_one_judge(write: Write) -> None:
    result = read(write({"labels.csv": LABELS, "scores.csv": SCORES}))

    assert result.item_ids == ("a1", "a2")
    assert result.scores.tolist() == [4.5, 2.0]
    assert result.ratings == pytest.approx(np.array([[4, 5], [1, np.nan]]), nan_ok=True)
    assert result.n_unrated == 1


def test_a_result_without_a_turn_is_about_the_conversation(write: Write) -> None:
    sheet = """\
indicator_id,convo_id,turn_index,seed,prompt_text,response_text,model,difficulty,rater_id,score
L4,c1,0,1,Hello?,Yes.,gem,easy,r1,2
L4,c1,1,1,And?,Yes.,gem,easy,r1,4
L4,c2,0,1,Hello?,No.,gem,easy,r1,5
"""
    results = "indicator_id,convo_id,model_name,seed,aiescore\nL4,c1,gem,1,3\nL4,c2,gem,1,4\n"
    result = read(write({"labels.csv": sheet, "scores.csv": results}), judge=None, dimension="L4")

    assert result.ratings.tolist() == [[3.0], [5.0]]
    assert result.scores.tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("scores", "judge", "dimension", "message"),
    [
        (SCORES, None, "clarity", "several judges: gpt, haiku. Name one with --judge."),
        (SCORES, "gtp", "clarity", 'no row has the judge "gtp". Write "gpt".'),
        (SCORES, "gpt", "wit", 'no rater rated the dimension "wit". Use one of clarity, depth.'),
        ("response_id,note\na1,x\n", None, "clarity", "no item of labels.csv is in it. Give both"),
        (
            "response_id,score\na1,6\n",
            None,
            "clarity",
            "are on another scale (1, 2, 3, 4, 5, 6) than",
        ),
        ("response_id,score\na1,3\na1,4\n", None, "clarity", 'a second rating of "a1"'),
        ("response_id,score\nb1,3\n", None, "clarity", "no item of labels.csv is in it. Give both"),
    ],
)
def test_what_cannot_be_compared_is_reported(  # noqa: PLR0913, PLR0917 - fixtures and a case
    write: Write,
    reported: Reported,
    scores: str,
    judge: str | None,
    dimension: str,
    message: str,
) -> None:
    folder = write({"labels.csv": LABELS, "scores.csv": scores})

    [result] = reported(lambda: read(folder, judge, dimension))
    assert message in result
