"""Comparisons of two texts: sides are drawn by rater, labels are of the columns."""

import json
from pathlib import Path

import pytest

from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import DeclarationError
from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.pages import page_answers, page_task
from eval_assets.labelling.rater_queue import WorkUnit
from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.rich_text import html_of
from eval_assets.labelling.session_files import session_json
from eval_assets.labelling.sessions import Answer
from eval_assets.labelling.study import Study
from eval_assets.scale import Scale
from tests.unit.labelling.conftest import CLARITY, after, evaluation_of, response_rows, study_of

BETTER = RubricQuestion(
    "better",
    "Which is better?",
    Scale.from_words("A is better", "no difference", "B is better"),
    "ordinal",
    type="pairwise",
)
N_PAIRS = 200
FIRST_SIDE = 0.0


def pairs(n_pairs: int) -> list[dict[str, object]]:
    return [
        {"response_a": f"first {n}", "response_b": f"second {n}", "response_text": f"both {n}"}
        for n in range(n_pairs)
    ]


def pair_study(folder: Path, n_pairs: int = N_PAIRS, **options: object) -> Study:
    return study_of(folder, pairs(n_pairs), rubric=(BETTER,), **options)  # type: ignore[arg-type]


def one_of_each_side(study: Study) -> tuple[WorkUnit, WorkUnit]:
    """A unit that shows the first column as A, and one that shows the second."""
    units = study.queue("anna").units
    straight = next(unit for unit in units if not unit.is_swapped)
    return straight, next(unit for unit in units if unit.is_swapped)


def test_sides_are_drawn_by_rater_and_pair(tmp_path: Path) -> None:
    study = pair_study(tmp_path)
    anna, ben = (
        {unit.response.response_id: unit.is_swapped for unit in study.queue(rater).units}
        for rater in ("anna", "ben")
    )

    # 200 fair coins lie outside with probability 0.0001.
    assert 0.35 <= sum(anna.values()) / N_PAIRS <= 0.65
    assert 0.35 <= sum(anna[name] == ben[name] for name in anna) / N_PAIRS <= 0.65
    repeat = pair_study(tmp_path).queue("anna").units
    assert {unit.response.response_id: unit.is_swapped for unit in repeat} == anna


def test_repeat_shows_the_other_side_first(tmp_path: Path) -> None:
    assignments = [Assignment("a0", "anna"), Assignment("a0", "anna", purpose="repeat")]
    first, repeat = pair_study(tmp_path, 1, assignments=assignments).queue("anna").units

    assert first.is_swapped != repeat.is_swapped
    assert first.sides == tuple(reversed(repeat.sides or ()))


def test_label_is_of_the_columns_whatever_the_side(tmp_path: Path) -> None:
    study = pair_study(tmp_path)
    queue = study.queue("anna")
    for unit in one_of_each_side(study):
        queue.answer(unit, Answer(rating=FIRST_SIDE), at=after(0))

    labels = {label.is_swapped: label.rating for label in queue.labels().values()}
    assert labels == {False: 0, True: 2}


def test_no_difference_is_the_same_from_both_sides(tmp_path: Path) -> None:
    study = pair_study(tmp_path)
    queue = study.queue("anna")
    for unit in one_of_each_side(study):
        queue.answer(unit, Answer(rating=1), at=after(0))

    assert [label.rating for label in queue.labels().values()] == [1, 1]


def test_rater_sees_the_own_answer_by_the_sides(tmp_path: Path) -> None:
    study = pair_study(tmp_path)
    queue = study.queue("anna")
    for unit in one_of_each_side(study):
        queue.answer(unit, Answer(rating=FIRST_SIDE), at=after(0))

    assert [answer["rating"] for answer in page_answers(queue).values()] == [0, 0]


def test_session_file_records_the_side(tmp_path: Path) -> None:
    study = pair_study(tmp_path)
    queue = study.queue("anna")
    for unit in one_of_each_side(study):
        session = queue.answer(unit, Answer(rating=FIRST_SIDE), at=after(0))

    labels = session_json(session)["labels"]
    assert {label["swapped"]: label["rating"] for label in labels} == {False: 0, True: 2}


def test_page_holds_the_texts_by_side_and_not_by_column(tmp_path: Path) -> None:
    study = pair_study(tmp_path)
    queue = study.queue("anna")
    task = page_task(queue, None)

    for unit, described in zip(queue.units, task["units"], strict=True):
        number = unit.response.response_id.removeprefix("a")
        texts = [f"first {number}", f"second {number}"]
        assert described["sides"] == (texts[::-1] if unit.is_swapped else texts)
    assert "both" not in json.dumps(task)
    assert [choice["key"] for choice in task["questions"][0]["choices"]] == ["a", "e", "b"]


def test_pages_do_not_name_the_models(tmp_path: Path) -> None:
    rows = [{**row, "model_a": "secret-1", "model_b": "secret-2"} for row in pairs(3)]
    rows = [{**row, "model_name": "secret-1 and secret-2"} for row in rows]
    for text in ("plain", "markdown"):
        study = study_of(tmp_path, rows, rubric=(BETTER,), text=text)
        html = html_of(study.evaluation, lambda path: path.name)
        page = json.dumps(page_task(study.queue("anna"), html))
        assert "second 1" in page
        assert "secret" not in page


def test_label_belongs_to_both_texts(tmp_path: Path) -> None:
    def hashed(second: str) -> str:
        rows = [{**pairs(1)[0], "response_b": second}]
        view = response_views(evaluation_of(tmp_path, rubric=(BETTER,)), response_rows(rows))["a0"]
        return view.hashes(BETTER).response

    assert hashed("second") != hashed("other")


def test_columns_of_pairs_are_required(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup) as raised:
        study_of(tmp_path, [{"response_a": "first"}], rubric=(BETTER,))

    [error] = raised.value.exceptions
    assert str(error).startswith(
        'evaluation.yaml:rubric: the responses have no column "response_b". Use columns'
    )


def test_other_questions_show_the_response(tmp_path: Path) -> None:
    study = study_of(tmp_path, pairs(1), rubric=(CLARITY, BETTER))
    texts = [unit.texts for unit in study.queue("anna").units]

    assert texts[0] == {"Response": "both 0"}
    assert set(texts[1]) == {"A", "B"}


def test_comparison_on_a_continuous_scale_is_refused() -> None:
    with pytest.raises(DeclarationError, match="lead from response_a to response_b"):
        RubricQuestion("q", "q", Scale(low=-1, high=1), "interval", type="pairwise")


@pytest.mark.parametrize(
    ("scale", "value", "mirror"),
    [
        (Scale.from_words("A", "B"), 0, 1),
        (Scale.from_words("A", "equal", "B"), 1, 1),
        (Scale.from_steps(low=1, high=5), 2, 4),
        (Scale(low=-1, high=1, values=(-1.0, 0.0, 0.5, 1.0)), 0.5, 0),
        (Scale(low=0, high=1), 0.25, 0.75),
    ],
)
def test_value_of_a_scale_is_mirrored(scale: Scale, value: float, mirror: float) -> None:
    assert scale.mirrored(value) == mirror
    assert scale.mirrored(mirror) == value
