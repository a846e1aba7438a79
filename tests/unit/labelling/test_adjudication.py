from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eval_assets.cli.study_files import StudyFiles, disagreements_now, quality_now, read_study
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import ADJUDICATIONS
from eval_assets.labelling.adjudication import (
    NOTICE,
    Adjudication,
    Disagreement,
    add_adjudication,
    decisions,
    disagreements,
    discussion_unit,
    own_rating,
    read_adjudications,
)
from eval_assets.labelling.pages import page_texts
from eval_assets.labelling.quality import history_rows
from eval_assets.labelling.rater_queue import RaterQueue, now
from eval_assets.labelling.rater_view import ResponseView
from eval_assets.labelling.sessions import Answer
from eval_assets.labelling.study import Study
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labels.read import read_labels
from tests.unit.labelling.conftest import CLARITY, after, evaluation_of
from tests.unit.labelling.test_pairwise import one_of_each_side, pair_study


def step(kind: str, *, response: str = "a1", **more: Any) -> Adjudication:
    inputs = {"question_id": "clarity", "by": "lea", "at": after(0), "reason": "why"} | more
    return Adjudication(response_id=response, step=kind, **inputs)  # type: ignore[arg-type]


def labels(*rows: tuple[str, str, str, float]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["response_id", "question_id", "rater_id", "value"])
    return frame.assign(notes=None, skipped=False)


def test_steps_are_read_back_in_their_order(evaluation: Evaluation) -> None:
    steps = [
        step("rating", value=3.0, reason=""),
        step("comment", reason='two lines\nand a quote "'),
        step("consensus", value=4.0, ratings={"anna": 1.0, "ben": 5.0}),
    ]
    for one in steps:
        add_adjudication(evaluation.folder, one)

    assert read_adjudications(evaluation) == steps


def test_an_evaluation_without_the_file_has_no_steps(evaluation: Evaluation) -> None:
    assert read_adjudications(evaluation) == []


def test_the_file_is_only_ever_added_to(evaluation: Evaluation) -> None:
    add_adjudication(evaluation.folder, step("consensus", value=4.0))
    before = (evaluation.folder / ADJUDICATIONS).read_bytes()
    add_adjudication(evaluation.folder, step("reopened"))

    assert (evaluation.folder / ADJUDICATIONS).read_bytes().startswith(before)


def test_the_last_decision_stands_and_a_reopened_one_is_none() -> None:
    steps = [
        step("consensus", value=4.0),
        step("excluded"),
        step("consensus", response="a2", value=1.0),
        step("reopened", response="a2"),
        step("comment", response="a3"),
    ]

    assert {unit: one.step for unit, one in decisions(steps).items()} == {
        ("a1", "clarity"): "excluded"
    }


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("consensus", {"value": None}),
        ("rating", {"value": None}),
        ("consensus", {"value": 3.0, "reason": " "}),
        ("excluded", {"reason": ""}),
        ("comment", {"reason": ""}),
    ],
)
def test_a_decision_needs_a_value_and_a_reason(kind: str, more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"needs a value|say why|comment is empty"):
        step(kind, **more)


def test_a_line_that_a_crash_cut_short_was_never_saved(evaluation: Evaluation) -> None:
    add_adjudication(evaluation.folder, step("consensus", value=4.0))
    with (evaluation.folder / ADJUDICATIONS).open("a") as file:
        file.write('{"response_id": "a2", "ques')
    add_adjudication(evaluation.folder, step("excluded", response="a3"))

    assert [one.response_id for one in read_adjudications(evaluation)] == ["a1", "a3"]


def test_every_bad_line_is_named(evaluation: Evaluation) -> None:
    add_adjudication(evaluation.folder, step("consensus", value=9.0))
    with (evaluation.folder / ADJUDICATIONS).open("a") as file:
        file.write('{"response_id": "a2"}\n')

    with pytest.raises(ExceptionGroup) as raised:
        read_adjudications(evaluation)

    message = [str(error) for error in raised.value.exceptions]
    assert message[0].startswith('adjudications.jsonl:1:value: 9 is not on the scale of "clarity"')
    assert message[1].startswith("adjudications.jsonl:2:question_id: this is not an adjudication")


def test_steps_on_a_removed_question_are_kept_and_left_out(evaluation: Evaluation) -> None:
    add_adjudication(evaluation.folder, step("excluded", question_id="gone"))

    assert read_adjudications(evaluation) == []


def test_the_queue_holds_all_that_differ_the_worst_first(evaluation: Evaluation) -> None:
    inputs = labels(
        ("a1", "clarity", "anna", 3),
        ("a1", "clarity", "ben", 4),
        ("a2", "clarity", "anna", 5),
        ("a2", "clarity", "ben", 1),
        ("a3", "clarity", "anna", 2),
        ("a3", "clarity", "ben", 2),
        ("a1", "correct", "anna", 1),
        ("a1", "correct", "ben", 0),
        ("a4", "clarity", "anna", 1),
    )
    result = disagreements(evaluation, inputs)

    assert [(one.unit, one.spread) for one in result] == [
        (("a2", "clarity"), 1.0),
        (("a1", "correct"), 1.0),
        (("a1", "clarity"), 0.25),
    ]
    assert result[0].ratings == {"anna": 5, "ben": 1}


def test_an_adjudicators_own_rating_is_found_by_name() -> None:
    steps = [step("rating", value=2.0, by="max"), step("rating", value=3.0)]

    first = own_rating(steps, ("a1", "clarity"), "lea")
    assert first is not None
    assert first.value == 3
    assert own_rating(steps, ("a2", "clarity"), "lea") is None


RATERS = ("anna", "ben", "cleo")
FIRST = {"anna": (5, 3, 2), "ben": (1, 3, 4), "cleo": (5, 3, 4)}


@pytest.fixture
def files(tmp_path: Path) -> StudyFiles:
    """Three responses that three raters rated an hour ago; they differ on a0 and a2."""
    (tmp_path / "evaluation.yaml").write_text(
        "name: e\nrubric:\n  - {id: clarity, question: Is it clear?, scale: likert5}\n"
        "labelling: {raters: [anna, ben, cleo], discussion: true}\n"
    )
    rows = [f"a{number},Ask,Text {number},m" for number in range(3)]
    header = "response_id,prompt_text,response_text,model_name"
    (tmp_path / "responses.csv").write_text("\n".join([header, *rows, ""]))
    study = read_study(tmp_path)
    for rater, ratings in FIRST.items():
        answer(study.study, rater, dict(zip(("a0", "a1", "a2"), ratings, strict=True)), hours=1)
    return study


def answer(study: Study, rater: str, ratings: dict[str, float], *, hours: float = 0) -> None:
    queue = study.work(rater) if hours else study.queue(rater)
    for unit in queue.units:
        if (rating := ratings.get(unit.response.response_id)) is not None:
            message = Answer(rating=rating, notes=f"reason of {rater}" if rating != 3 else "")
            queue.answer(unit, message, at=now() - timedelta(hours=hours))


def first_ratings(queue: RaterQueue, response_id: str) -> dict[str, tuple[str, str]]:
    [unit] = [unit for unit in queue.units if unit.response.response_id == response_id]
    return {first.name: (first.rating, first.reason) for first in unit.first_ratings}


def test_raters_see_first_ratings_as_numbers_and_their_own(files: StudyFiles) -> None:
    queue = files.study.queue("anna")

    assert [unit.response.response_id for unit in queue.units] == ["a0", "a2"]
    assert queue.notice.startswith("Discussion: raters differ on these responses.")
    ratings = first_ratings(queue, "a0")
    anna_names = [name for name in ratings if name.startswith("You (Rater ")]
    assert [ratings[name] for name in anna_names] == [("5", "reason of anna")]
    assert sorted(name[-2 if name in anna_names else -1] for name in ratings) == ["1", "2", "3"]
    text = str(page_texts(queue, None))
    assert "Rater" in text
    assert "ben'" not in text.replace("reason of ben", "")


def test_number_is_the_same_person_on_every_rater_page(files: StudyFiles) -> None:
    by_number = [
        {name.strip("()")[-1]: rating for name, rating in first_ratings(queue, "a2").items()}
        for queue in map(files.study.queue, RATERS)
    ]

    assert by_number[0] == by_number[1] == by_number[2]
    assert by_number[0].keys() == {"1", "2", "3"}


def test_numbers_are_drawn_anew_for_each_response(tmp_path: Path) -> None:
    view = ResponseView("a", "p", "r", (CLARITY,))
    ratings = {rater: float(number) for number, rater in enumerate(RATERS)}
    units = [
        discussion_unit(
            "anna", Disagreement(f"a{n}", "clarity", ratings, 1.0), evaluation_of(tmp_path), view
        )
        for n in range(20)
    ]
    orders = {tuple(first.rating for first in unit.first_ratings) for unit in units}

    assert len(orders) == 6


def test_discussion_opens_once_all_raters_are_done_and_cannot_undo(files: StudyFiles) -> None:
    answer(files.study, "anna", {"a0": 4})
    (files.study.sessions.path / "cleo+clarity+r1.json").unlink()
    reread = read_study(files.evaluation.folder).study

    assert len(reread.queue("anna").units) == 3
    answer(reread, "cleo", {"a0": 5, "a1": 3, "a2": 4})
    assert len(reread.queue("ben").units) == 3


def test_overlapping_assignments_neither_lower_completeness_nor_close_the_discussion(
    files: StudyFiles,
) -> None:
    rows = [
        f"a{n},{rater},{q},1,shared" for q in ("clarity", "") for n in range(3) for rater in RATERS
    ]
    (files.evaluation.folder / "assignments.csv").write_text(
        "\n".join(["response_id,rater_id,question_id,round,purpose", *rows, ""])
    )
    reread = read_study(files.evaluation.folder)

    assert reread.study.queue("anna").notice == NOTICE
    completeness = [f for f in quality_now(reread) if f.measure == "completeness"]
    assert {(figure.value, figure.n) for figure in completeness} == {(1, 3)}


def test_discussion_is_limited_to_a_multi_select_question_and_a_run(tmp_path: Path) -> None:
    (tmp_path / "evaluation.yaml").write_text(
        "name: e\nrubric:\n  - {id: faults, question: Which?, options: [rude, vague]}\n"
        "labelling: {raters: [anna, ben], discussion: true}\n"
    )
    header = "response_id,prompt_text,response_text,model_name,run_id\n"
    (tmp_path / "responses.csv").write_text(f"{header}a0,Ask,One,m,r1\na1,Ask,Two,m,r2\n")
    study = read_study(tmp_path).study
    for rating, rater in enumerate(study.raters):
        answer(study, rater, {"a0": rating, "a1": rating}, hours=1)

    queue = study.queue("anna", question_id="faults", run_id="r2")
    assert queue.notice == NOTICE
    assert [unit.response.response_id for unit in queue.units] == ["a1", "a1"]


def test_second_ratings_are_kept_beside_the_first_and_are_no_labels(files: StudyFiles) -> None:
    for rater in RATERS:
        answer(files.study, rater, {"a0": 4, "a2": 4})

    labels = read_labels(read_evaluation(files.evaluation.folder), files.responses).ratings
    values = {(r, n): v for r, n, v in labels[["rater_id", "response_id", "value"]].to_numpy()}
    assert [values["anna", "a0"], values["ben", "a0"]] == [5, 1]
    assert len(disagreements_now(files, between_judges=[])) == 2
    rows = [*files.study.sessions.all(), *files.study.sessions.readable("discussion")[0]]
    history = history_rows(rows)
    assert set(history["kind"]) == {"discussion"}
    pairs = zip(history["rater_id"], history["before"], history["after"], strict=True)
    assert ("ben", 1, 4) in set(pairs)


def test_adjudicator_sees_both_ratings_and_settles_what_is_then_not_discussed(
    files: StudyFiles,
) -> None:
    answer(files.study, "ben", {"a0": 4})
    queue = files.study.adjudication_queue(
        lambda: disagreements_now(files, between_judges=[]), by="lea"
    )
    case = next(case for case in queue.cases() if case.disagreement.response_id == "a0")

    assert case.disagreement.ratings["ben"] == 1
    assert {name: label.rating for name, label in case.second_ratings.items()} == {"ben": 4}
    add_adjudication(
        files.evaluation.folder,
        Adjudication(
            response_id="a0",
            question_id="clarity",
            step="consensus",
            by="lea",
            at=now(),
            value=4,
            reason="it is clear",
        ),
    )
    assert [u.response.response_id for u in files.study.queue("anna").units] == ["a2"]


def test_nothing_is_discussed_unless_declared(files: StudyFiles) -> None:
    declared = files.evaluation.folder / "evaluation.yaml"
    declared.write_text(declared.read_text().replace(", discussion: true", ""))

    study = read_study(files.evaluation.folder).study
    assert len(study.queue("anna").units) == 3
    assert study.queue("anna").notice == ""


def test_first_ratings_of_a_comparison_are_told_by_the_sides_that_the_rater_sees(
    tmp_path: Path,
) -> None:
    study = pair_study(tmp_path)
    units = one_of_each_side(study)
    for unit, expected in zip(units, ("A is better", "B is better"), strict=True):
        disagreement = Disagreement(unit.response.response_id, "better", {"anna": 0, "ben": 1}, 0.5)
        discussed = discussion_unit("anna", disagreement, study.evaluation, unit.response)

        assert discussed.sides == unit.sides
        ratings = {first.name[:3]: first.rating for first in discussed.first_ratings}
        assert ratings == {"You": expected, "Rat": "no difference"}


def test_notes_on_a_comparison_say_whose_sides_they_name(tmp_path: Path) -> None:
    study = pair_study(tmp_path)
    queue = study.queue("ben")
    swapped = next(unit for unit in queue.units if unit.is_swapped)
    queue.answer(swapped, Answer(rating=0, notes="A is longer"), at=now())
    response_id = swapped.response.response_id
    [session] = (tmp_path / "sessions").glob("*.json*")
    files = replace(study.evaluation.labels, files=(session,))
    parsed = read_labels(
        replace(study.evaluation, labels=files), pd.DataFrame({"response_id": [response_id]})
    )
    notes = {"ben": parsed.ratings["notes"].item(), "sheet": "A is short"}
    assert notes["ben"] == "A is longer (saw A and B swapped)"

    disagreement = Disagreement(response_id, "better", {"ben": 2, "sheet": 0}, 1.0, notes)
    reasons = {
        unit.is_swapped: {first.reason for first in unit.first_ratings}
        for rater in map(str, range(20))
        for unit in [discussion_unit(rater, disagreement, study.evaluation, swapped.response)]
    }
    assert reasons == {
        False: {"A is longer (saw A and B swapped)", "A is short"},
        True: {"A is longer", "A is short (saw A and B swapped)"},
    }
