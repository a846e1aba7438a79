from pathlib import Path

import pytest

from eval_assets.config.labelling import Labelling
from eval_assets.labelling.rater_view import response_views
from tests.unit.labelling.conftest import CLARITY, CORRECT, evaluation_of, response_rows


def test_raters_see_prompt_response_and_the_columns_named_and_no_others(tmp_path: Path) -> None:
    evaluation = evaluation_of(tmp_path, labelling=Labelling(show=("captures", "plugin")))
    rows: list[dict[str, object]] = [
        {
            "plugin": "lint",
            "captures": ["Skill: lint", "Bash: ls"],
            "expected": "the skill fires",
            "judge_said": "5",
        }
    ]

    [shown] = response_views(evaluation, response_rows(rows)).values()

    assert (shown.prompt, shown.response) == ("Prompt 0", "Answer 0")
    assert shown.facts == (("captures", ("Skill: lint", "Bash: ls")), ("plugin", ("lint",)))
    assert "m1" not in repr(shown)
    assert "the skill fires" not in repr(shown)


def test_a_column_stands_in_the_title_if_it_is_short_in_every_response(tmp_path: Path) -> None:
    evaluation = evaluation_of(tmp_path, labelling=Labelling(show=("expected", "plugin")))
    rows: list[dict[str, object]] = [
        {"response_id": "r1", "plugin": "lint", "expected": "No component."},
        {"response_id": "r2", "plugin": "lint", "expected": "The lint skill fires, and no other."},
        {"response_id": "r3", "plugin": "", "expected": "The notes command reads all the history."},
        {"response_id": "r4", "plugin": "lint", "expected": "A hook formats the file\nafter it."},
    ]

    shown = response_views(evaluation, response_rows(rows))

    assert {view.brief for view in shown.values()} == {frozenset({"plugin"})}


def test_the_turns_before_are_shown_oldest_first(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"response_id": "t3", "convo_id": "c", "turn_index": 3},
        {"response_id": "t1", "convo_id": "c", "turn_index": 1},
        {"response_id": "t2", "convo_id": "c", "turn_index": 2},
        {"response_id": "other", "convo_id": "c", "turn_index": 1, "model_name": "m2"},
    ]

    shown = response_views(evaluation_of(tmp_path), response_rows(rows))

    assert [turn.prompt for turn in shown["t3"].earlier] == ["Prompt 1", "Prompt 2"]
    assert shown["t1"].earlier == ()
    assert shown["other"].earlier == ()


def test_a_hidden_prompt_is_not_shown(tmp_path: Path) -> None:
    evaluation = evaluation_of(tmp_path, labelling=Labelling(hide=("prompt_text",)))

    assert response_views(evaluation, response_rows([{}]))["a0"].prompt == ""


def test_a_response_is_shown_with_the_questions_asked_of_it_and_its_run(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"run_id": 7}, {"indicator_id": "correct"}]

    shown = response_views(evaluation_of(tmp_path), response_rows(rows))

    assert (shown["a0"].run_id, shown["a1"].run_id) == ("7", None)
    assert shown["a0"].questions == (CLARITY, CORRECT)
    assert shown["a1"].questions == (CORRECT,)


def test_a_column_that_no_response_has_is_named(tmp_path: Path) -> None:
    evaluation = evaluation_of(tmp_path, labelling=Labelling(show=("plugin",), hide=("verdict",)))

    with pytest.raises(ExceptionGroup) as raised:
        response_views(evaluation, response_rows([{}]))

    message = [str(error) for error in raised.value.exceptions]
    assert message[0].startswith(
        'evaluation.yaml:labelling.show: the responses have no column "plugin". Use columns'
    )
    assert message[1].startswith("evaluation.yaml:labelling.hide: ")


def test_a_label_is_tied_to_the_texts_that_were_seen(tmp_path: Path) -> None:
    def hashes(**changed: object) -> tuple[str, str, str]:
        shown = response_views(evaluation_of(tmp_path), response_rows([changed]))["a0"]
        hashes = shown.hashes(CLARITY)
        return hashes.prompt, hashes.response, hashes.guidelines

    base = hashes()
    assert hashes(prompt_text="other")[1:] == base[1:]
    assert hashes(prompt_text="other")[0] != base[0]
    assert hashes(response_text="other")[1] != base[1]
