"""A question that is reworded keeps its labels apart, across runs and without the database."""

import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import BASE, NEAR, Evaluated, make

INPUTS = ("rubric_questions", "model_responses", "human_labels", "label_disagreements")
MEASURED = (*INPUTS, "adjudicated_labels", "human_agreement")
COUNTED = """
SELECT rubric_version, count(*) FROM human_labels WHERE question_id = 'clarity' GROUP BY ALL
"""
VERSIONS = """
SELECT version, n_labels FROM rubric_versions WHERE question_id = 'clarity' ORDER BY version
"""


@pytest.fixture(scope="module")
def reworded_once(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    """A folder that was run, and whose first question was reworded since: not to be written."""
    folder = make(tmp_path_factory.mktemp("reworded") / "data", (BASE, NEAR))
    assert folder.materialize(*INPUTS, checks=False).success
    rewrite(folder, "Rate the clarity", "Rate the clarity of every sentence")
    return folder


@pytest.fixture
def reworded(reworded_once: Evaluated, tmp_path: Path) -> Evaluated:
    """A copy of its own of the folder with the reworded question."""
    return Evaluated(shutil.copytree(reworded_once.path, tmp_path / "data"))


def rewrite(folder: Evaluated, old: str, new: str) -> None:
    path = folder.path / "evaluation.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def relabel(folder: Evaluated, *, n_responses: int) -> None:
    """Add a second round of labels of the first question."""
    with (folder.path / "labels.csv").open("a", encoding="utf-8") as file:
        for response in range(n_responses):
            for rater, values in (("r1", BASE), ("r2", BASE)):
                file.write(f"a{response:02},{rater},clarity,{values[response]},2\n")


def test_labels_of_the_old_wording_count_until_there_are_new_ones(reworded: Evaluated) -> None:
    assert reworded.materialize(*MEASURED, checks=False).success

    n_labels = 2 * len(BASE)
    assert reworded.rows(COUNTED) == [(1, n_labels)]
    assert reworded.rows(VERSIONS) == [(1, n_labels), (2, 0)]


@pytest.mark.slow
def test_new_labels_count_alone_and_versions_are_compared(reworded: Evaluated) -> None:
    with_rounds(reworded)
    assert reworded.materialize(*INPUTS, checks=False).success
    relabel(reworded, n_responses=len(BASE))
    assert reworded.materialize(*MEASURED, checks=False).success

    n_labels = 2 * len(BASE)
    assert reworded.rows(COUNTED) == [(2, n_labels)]
    assert reworded.rows(VERSIONS) == [(1, n_labels), (2, n_labels)]
    versions = reworded.rows(
        """SELECT rubric_version, previous_version, n_responses, n_new,
                  alpha > lag(alpha) OVER (ORDER BY rubric_version)
           FROM agreement_by_rubric_version WHERE question_id = 'clarity' ORDER BY 1"""
    )
    assert versions == [(1, None, len(BASE), None, None), (2, 1, len(BASE), 0, True)]


@pytest.mark.slow
def test_equivalent_wordings_are_pooled(reworded: Evaluated) -> None:
    rewrite(reworded, "id: clarity,", "id: clarity, equivalent_versions: [1],")
    assert reworded.materialize(*MEASURED, checks=False).success

    assert reworded.rows(COUNTED) == [(1, 2 * len(BASE))]
    assert reworded.rows("SELECT count(*) FROM earlier_labels") == [(0,)]


@pytest.mark.slow
def test_labels_stay_with_their_wording_if_the_first_is_declared_again(reworded: Evaluated) -> None:
    assert reworded.materialize(*INPUTS, checks=False).success
    with (reworded.path / "labels.csv").open("a", encoding="utf-8") as file:
        file.writelines(f"a{k:02},r3,clarity,{value}\n" for k, value in enumerate(BASE))
    assert reworded.materialize(*INPUTS, checks=False).success
    assert reworded.rows(COUNTED) == [(2, len(BASE))]
    rewrite(reworded, "Rate the clarity of every sentence", "Rate the clarity")
    assert reworded.materialize(*INPUTS, checks=False).success

    assert reworded.rows(COUNTED) == [(1, 2 * len(BASE))]
    assert reworded.rows(VERSIONS) == [(1, 2 * len(BASE)), (2, len(BASE))]


@pytest.mark.slow
def test_versions_outlive_the_database(reworded: Evaluated) -> None:
    with_rounds(reworded)
    assert reworded.materialize(*INPUTS, checks=False).success
    relabel(reworded, n_responses=len(BASE))
    shutil.rmtree(reworded.path / "out")
    assert reworded.materialize(*INPUTS, checks=False).success

    assert reworded.rows(COUNTED) == [(2, 2 * len(BASE))]


def with_rounds(folder: Evaluated) -> None:
    """Give the label file a column for the round."""
    path = folder.path / "labels.csv"
    header, *rows = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([f"{header},round", *(f"{row},1" for row in rows)]) + "\n")
