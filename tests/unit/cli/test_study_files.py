"""Inputs of the lead's pages and commands: the files as they are now."""

from pathlib import Path

import pytest

from eval_assets.cli.study_files import (
    CurrentStudy,
    StudyFiles,
    disagreements_now,
    quality_now,
    read_study,
)
from eval_assets.errors import leaves
from eval_assets.labelling.adjudication import Disagreement
from eval_assets.labelling.rater_queue import now
from eval_assets.labelling.sessions import Answer
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labels.read import read_labels


@pytest.fixture
def files(tmp_path: Path) -> StudyFiles:
    """Two responses that nobody has labelled yet."""
    (tmp_path / "evaluation.yaml").write_text(
        "name: e\nrubric:\n  - {id: clarity, question: Is it clear?, scale: likert5}\n"
        "labelling: {raters: [anna, ben]}\n"
    )
    (tmp_path / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name\na1,Ask,One,m\na2,Ask,Two,m\n"
    )
    return read_study(tmp_path)


def label(files: StudyFiles, rater: str, *values: float) -> None:
    queue = files.study.queue(rater)
    for unit, value in zip(sorted(queue.units, key=lambda u: u.code), values, strict=True):
        queue.answer(unit, Answer(rating=value), at=now())


def test_sessions_begun_since_the_study_was_read_are_queued(files: StudyFiles) -> None:
    assert disagreements_now(files, between_judges=[]) == []
    label(files, "anna", 5, 5)
    label(files, "ben", 1, 5)

    [result] = disagreements_now(files, between_judges=[])
    assert (result.spread, sorted(result.ratings.values())) == (1.0, [1.0, 5.0])


def test_ratings_in_files_are_not_asked_again(files: StudyFiles) -> None:
    """A second rating of a unit would be refused by every run."""
    (files.evaluation.folder / "labels.csv").write_text(
        "response_id,rater_id,question_id,rating\na1,anna,clarity,3\na2,anna,clarity,9\n"
    )

    study = read_study(files.evaluation.folder).study
    units = {rater: {u.name[0] for u in study.queue(rater).units} for rater in study.raters}
    assert units == {"anna": {"a2"}, "ben": {"a1", "a2"}}


def test_quality_covers_sessions_begun_since_the_study_was_read(files: StudyFiles) -> None:
    label(files, "anna", 5, 3)

    done = {f.rater_id: f.value for f in quality_now(files) if f.measure == "completeness"}
    assert done == {"anna": 1.0, "ben": 0.0}


def test_judges_who_disagree_join_unless_raters_disagree_on_the_same(files: StudyFiles) -> None:
    label(files, "anna", 5, 5)
    label(files, "ben", 1, 5)
    [between_raters] = disagreements_now(files, between_judges=[])
    other = "a1" if between_raters.response_id == "a2" else "a2"
    between_judges = [
        Disagreement(name, "clarity", {"gpt": 1.0, "haiku": 4.0}, 0.75, between="judges")
        for name in ("a1", "a2")
    ]

    result = disagreements_now(files, between_judges=between_judges)
    assert [(one.response_id, one.between) for one in result] == [
        (between_raters.response_id, "raters"),
        (other, "judges"),
    ]


def test_damaged_session_is_left_out_of_the_lead_page(files: StudyFiles) -> None:
    label(files, "anna", 5, 3)
    label(files, "ben", 1, 3)
    (files.study.sessions.path / "ben+clarity+r1.json").write_text('{"labels": [')

    assert disagreements_now(files, between_judges=[]) == []
    done = {f.rater_id: f.value for f in quality_now(files) if f.measure == "completeness"}
    assert done == {"anna": 1.0, "ben": 0.0}


def test_study_follows_its_files_while_they_are_sound(
    files: StudyFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = files.evaluation.folder
    current = CurrentStudy(folder, database=None)
    assert current() is current()
    (folder / "assignments.csv").write_text("response_id,rater_id\na1,anna\n")
    assert [len(current().queue(rater).units) for rater in ("anna", "ben")] == [1, 0]

    (folder / "assignments.csv.new").write_text("response_id\na1\n")
    (folder / "assignments.csv.new").rename(folder / "assignments.csv")
    assert [len(current().queue(rater).units) for rater in ("anna", "ben")] == [1, 0]
    assert "assignments.csv:1:rater_id: there is no such column" in capsys.readouterr().err


def test_study_follows_its_gold_answers(files: StudyFiles) -> None:
    folder = files.evaluation.folder
    header = "response_id,prompt_text,response_text,clarity,round\n"
    (folder / "gold.csv").write_text(f"{header}g1,Ask,Gold,4,1\n")
    declared = (folder / "evaluation.yaml").read_text()
    declared = declared.replace("[anna, ben]", "[anna, ben], calibration: gold.csv")
    (folder / "evaluation.yaml").write_text(declared)
    current = CurrentStudy(folder, database=None)
    queue = current().queue("anna")
    queue.answer(queue.units[0], Answer(rating=1), at=now())
    queue.close(at=now())
    assert current().queue("anna").units == ()

    (folder / "gold.csv").write_text(f"{header}g1,Ask,Gold,4,1\ng2,Ask,More gold,2,2\n")
    [unit] = current().queue("anna").units
    assert unit.response.response == "More gold"


def test_label_off_the_scale_is_reported_as_in_its_file(folder_of_sessions: Path) -> None:
    path = folder_of_sessions / "sessions" / "anna+clarity+r1.json"
    path.write_text(path.read_text().replace('"rating": 4', '"rating": 9'))
    files = read_study(folder_of_sessions)
    with pytest.raises(ExceptionGroup) as current:
        files.labels.ratings()
    with pytest.raises(ExceptionGroup) as read_errors:
        read_labels(read_evaluation(folder_of_sessions), files.responses)

    assert list(map(str, leaves(current.value))) == list(map(str, leaves(read_errors.value)))
    assert "9 is not on the scale" in str(next(leaves(read_errors.value)))


@pytest.fixture
def folder_of_sessions(tmp_path: Path) -> Path:
    """Two raters' sessions of two questions: skips, notes, a repeat and an unknown time."""
    (tmp_path / "evaluation.yaml").write_text(
        "name: e\nrubric:\n  - {id: clarity, question: Is it clear?, scale: likert5}\n"
        "  - {id: trigger-accuracy, question: Did it fire?, scale: binary}\n"
        "labelling: {raters: [anna, ben]}\n"
    )
    (tmp_path / "responses.csv").write_text(
        "response_id,prompt_text,response_text,model_name\na1,Ask,One,m\na2,Ask,Two,m\n"
    )
    rows = [f"{name},{rater}," for rater in ("anna", "ben") for name in ("a1", "a2")]
    header = "response_id,rater_id,purpose"
    (tmp_path / "assignments.csv").write_text("\n".join([header, *rows, "a1,anna,repeat", ""]))
    study = read_study(tmp_path).study
    for rater in ("anna", "ben"):
        queue = study.queue(rater)
        for n, unit in enumerate(queue.units):
            rating = None if n == 1 else 1.0 if unit.question.scale.is_binary else 4.0
            answer = Answer(
                rating=rating, notes=" why \n" if n else "", skip_reason="odd" * (n == 1)
            )
            queue.answer(unit, answer, at=now(), is_time_known=n != 2)
    return tmp_path
