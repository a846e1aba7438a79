"""Figures that were computed elsewhere come out of runs: of the sample, and of two studies.

study_figures.json was computed with numpy, scipy and the package krippendorff from the same tables.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.conftest import Evaluated

DATA = Path(__file__).parents[2] / "data"
TABLE = """
SELECT coalesce(h.question_id, 'overall'), h.a_hh, h.alpha, j.alpha
FROM human_agreement AS h JOIN judge_agreement AS j
  ON j.scope = h.scope AND j.question_id IS NOT DISTINCT FROM h.question_id
"""

STUDIES: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("study_figures.json").read_text("utf-8")
)
TO_SIX_PLACES = 1e-6
"""`STUDIES` is rounded to six places, so that an exact figure lies within half of that."""

MEASURED = (
    *("rubric_questions", "model_responses", "human_labels", "judge_scores"),
    *("human_agreement", "judge_agreement", "judge_human_agreement", "judge_splits"),
)
"""The assets whose figures are compared, the gates among them, and what they depend on."""

HUMANS = {
    "n_items_ge2": "n_responses",
    "n_ratings": "n_ratings",
    "n_raters": "n_raters",
    "n_pairs": "n_pairs",
    "A_HH": "a_hh",
    "pairwise_exact_pct": "exact_agreement",
    "pairwise_adjacent_pct": "adjacent_agreement",
    "krippendorff_alpha_ordinal": "alpha",
}
HUMANS_OVERALL = {
    "A_HH_mean_of_questions": "a_hh",
    "pairwise_exact_pct": "exact_agreement",
    "pairwise_adjacent_pct": "adjacent_agreement",
    "krippendorff_alpha_interval_pooled_scaled": "alpha",
}
JUDGES = {"n_items_ge2": "n_units", "krippendorff_alpha_interval": "alpha"}
JUDGES_AND_HUMANS = {
    "n": "n_units",
    "A_HJ": "a_ha",
    "pearson": "pearson",
    "spearman": "spearman",
    "kendall_tau_b": "kendall",
    "mae": "mae",
    "bias": "bias",
}
"""Names in STUDIES, and the columns that hold the same figure."""


@pytest.mark.parametrize("name", ["sample", "contested"])
def test_the_figures_that_the_data_describe_themselves_with_come_out(
    tmp_path: Path, name: str
) -> None:
    """The table in data/README.md: A^HH and alpha of the raters, alpha of the judges."""
    described = {
        row[0].removeprefix(f"`{name}`, "): [float(cell) for cell in row[1:]]
        for line in (DATA / "README.md").read_text("utf-8").splitlines()
        if line.startswith(f"| `{name}`, ")
        for row in [[cell.strip() for cell in line.strip("|").split("|")]]
    }
    inputs = shutil.ignore_patterns("out")
    folder = Evaluated(shutil.copytree(DATA / name, tmp_path / name, ignore=inputs))
    result = folder.materialize(*MEASURED)
    measured = {str(row[0]): row[1:] for row in folder.rows(TABLE)}

    assert result.success == (name == "sample")
    assert set(measured) == set(described)
    assert len(described) == 4
    for question, figures in described.items():
        assert measured[question] == pytest.approx(figures, abs=5e-4), question


@pytest.fixture(scope="module", params=["code", pytest.param("stories", marks=pytest.mark.slow)])
def measured(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Evaluated, dict[str, Any]]:
    """A copy of a study, run with every judge recorded in it; what to expect."""
    name = str(request.param)
    folder = Evaluated(tmp_path_factory.mktemp("real") / name)
    shutil.copytree(DATA / name, folder.path, ignore=shutil.ignore_patterns("out"))
    expected = STUDIES[name]
    declaration = folder.path / "evaluation.yaml"
    declared = yaml.safe_load(declaration.read_text("utf-8"))
    file = declared["judges"][0]["scores"]
    declared["judges"] = [
        {"id": model, "provider": "recorded", "scores": file, "model": model}
        for model in expected["judge_vs_human"]
    ]
    declared["tuning"] = {"holdout": False}  # the study's figures are of all responses
    declaration.write_text(yaml.safe_dump(declared), "utf-8")
    folder.materialize(*MEASURED)
    return folder, expected


def differences(
    folder: Evaluated, table: str, condition: dict[str, str | None], expected: dict[str, Any],
    columns: dict[str, str],
) -> list[str]:  # fmt: skip
    """Figures of the one row at `condition` that are not as expected; every one must be there."""
    conditions = " AND ".join(
        f"{name} IS NULL" if value is None else f"{name} = '{value}'"
        for name, value in condition.items()
    )
    named = {name: column for name, column in columns.items() if name in expected}
    [row] = folder.rows(f"SELECT {', '.join(named.values())} FROM {table} WHERE {conditions}")  # noqa: S608
    return [
        f"{table} {condition} {column}: {actual}, expected {expected[name]}"
        for (name, column), actual in zip(named.items(), row, strict=True)
        if actual != pytest.approx(expected[name], abs=TO_SIX_PLACES, rel=0)
    ]


def test_agreement_between_humans_on_real_data(
    measured: tuple[Evaluated, dict[str, Any]],
) -> None:
    folder, expected = measured
    overall = {"scope": "overall"}
    wrong = differences(
        folder, "human_agreement", dict(overall), expected["humans_overall"], HUMANS_OVERALL
    )
    for question, figures in expected["humans"].items():
        wrong += differences(folder, "human_agreement", {"question_id": question}, figures, HUMANS)

    assert wrong == []


def test_agreement_between_judges_on_real_data(
    measured: tuple[Evaluated, dict[str, Any]],
) -> None:
    folder, expected = measured
    wrong: list[str] = []
    for question, figures in expected.get("judge_judge", {}).items():
        condition = {"scope": "question", "question_id": question}
        wrong += differences(folder, "judge_agreement", dict(condition), figures, JUDGES)

    assert wrong == []


def test_each_judge_against_humans_on_real_data(
    measured: tuple[Evaluated, dict[str, Any]],
) -> None:
    folder, expected = measured
    wrong: list[str] = []
    n_compared = 0
    for judge, by_question in expected["judge_vs_human"].items():
        for question in expected["humans"]:
            condition = {"judge_id": judge, "question_id": question}
            wrong += differences(
                folder, "judge_human_agreement", dict(condition), by_question[question],
                JUDGES_AND_HUMANS,
            )  # fmt: skip
            n_compared += 1

    assert wrong == []
    assert n_compared == len(expected["judge_vs_human"]) * len(expected["humans"])


def test_the_gates_of_real_data_are_open_on_code_and_closed_on_stories(
    measured: tuple[Evaluated, dict[str, Any]],
) -> None:
    folder, _ = measured
    is_tuned = bool(folder.splits())

    assert is_tuned == (folder.path.name == "code")


def test_systems_that_judges_favour_are_named_where_people_agree_within_systems(
    measured: tuple[Evaluated, dict[str, Any]],
) -> None:
    """Judges of code favour codex by half a point of 4; stories have no agreement to tell by."""
    folder, _ = measured
    rows = folder.rows(
        """SELECT judge_id, value, relative, relative_low, relative_high FROM judge_bias
           WHERE attribute = 'system' AND is_named"""
    )
    named = {row[0]: row[1:] for row in rows}
    states = {
        row[0] for row in folder.rows("SELECT state FROM judge_bias WHERE attribute = 'system'")
    }
    if folder.path.name == "stories":
        assert (named, states) == ({}, {"not_measured"})
        return
    assert {system for system, *_ in named.values()} == {"codex"}
    reasoning, score_only = "gpt-3.5-turbo/ice-cot-ref", "gpt-3.5-turbo/ice-score-only-ref"
    assert named[reasoning][1:] == pytest.approx((0.5213, 0.3146, 0.7279), abs=1e-4)
    assert named[score_only][1:] == pytest.approx((0.5566, 0.3855, 0.7278), abs=1e-4)


def test_copies_of_a_text_tell_how_far_ratings_repeat_themselves(
    measured: tuple[Evaluated, dict[str, Any]],
) -> None:
    """People rate the same code to the same prompt differently in 35 of 100 pairs."""
    folder, _ = measured
    if folder.path.name == "stories":
        return
    rows = folder.rows(
        """SELECT coalesce(rater_id, kind), n_pairs, n_groups, flip_rate, low, high, icc
           FROM repeatability WHERE source = 'same text' AND (rater_id IS NULL OR kind = 'judge')"""
    )
    repeated = {row[0]: row[1:] for row in rows}
    assert repeated["human"][:2] == (1217, 310)
    assert repeated["human"][2:] == pytest.approx((0.349, 0.313, 0.387, 0.850), abs=6e-4)
    reasoning = repeated["gpt-3.5-turbo/ice-cot-ref"]
    assert reasoning[:2] == (352, 296)
    assert reasoning[2:] == pytest.approx((0.122, 0.089, 0.166, 0.960), abs=6e-4)
