"""What a certificate rests on, and what makes it stale."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from eval_assets.scale import BINARY
from eval_assets.stats import MonotoneMap
from eval_assets.tuning.versions import (
    Fingerprints,
    JudgeVersion,
    changed_since,
    is_read_again,
    labels_hash,
    number_version,
    response_fingerprints,
    rubric_hash,
    training_fingerprints,
    version_from_json,
)
from tests.unit.tuning.made_up import rated_units

HARSH = MonotoneMap((0.0, 1.0), (0.0, 3.0), target=(0.0, 1.0, 2.0, 3.0), low=0, high=3)
DECLARED = JudgeVersion("gpt", "1.0.0", "declared", None, "f1", prompt_text="Rate it.")
MAPPED = replace(DECLARED, version="1.0.1", step="calibration", parent="1.0.0", maps={"q": HARSH})


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (DECLARED, "1.0.0"),
        (MAPPED, "1.0.1"),
        (replace(MAPPED, maps={"other": HARSH}), "1.0.2"),
        (replace(DECLARED, prompt_text="Rate it well."), "1.1.0"),
        (replace(DECLARED, fingerprint="f2"), "2.0.0"),
    ],
    ids=["the same", "its map", "another map", "another prompt", "another model"],
)
def test_a_number_says_what_changed(new: JudgeVersion, expected: str) -> None:
    assert number_version([DECLARED, MAPPED], new) == expected


def test_numbers_go_on_after_the_highest() -> None:
    known = [DECLARED, replace(DECLARED, version="1.5.0", prompt_text="Other"), MAPPED]

    assert number_version(known, replace(DECLARED, prompt_text="New")) == "1.6.0"
    assert (
        number_version(known, replace(DECLARED, prompt_text="Other", maps={"q": HARSH})) == "1.5.1"
    )


def test_how_a_version_was_made_does_not_make_it_another_judge() -> None:
    told_otherwise = replace(MAPPED, version="7.0.0", step="jury", parent=None, sources=("r1",))

    assert told_otherwise.definition_hash == MAPPED.definition_hash
    assert number_version([DECLARED, MAPPED], told_otherwise) == "1.0.1"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, False),
        ({"step": "few_shot_examples"}, True),
        ({"maps": {"q": HARSH}}, True),
        ({"weights": {"q": {"a": 1.0}}}, True),
    ],
)
def test_a_version_is_trained_if_its_prompt_maps_or_weights_are(
    changes: dict[str, Any],
    expected: bool,  # noqa: FBT001
) -> None:
    assert replace(DECLARED, **changes).is_trained is expected


def test_a_version_survives_json() -> None:
    continuous = MonotoneMap((0.1, 0.25), (0.0, 1 / 3), target=None, low=0, high=1)
    version = replace(
        MAPPED,
        maps={"q": HARSH, "p": continuous},
        weights={"q": {"a": 1 / 3, "b": 2 / 3}},
        sources=("r1", "r2"),
    )

    fields = json.loads(json.dumps({**asdict(version), "trained_on": ()}))
    assert version_from_json({**fields, "trained_on": frozenset()}) == version


THEN = Fingerprints("f", "rubric", "labels", "scores", ("m",))
TODAY = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fingerprint": "g"}, "the model, its settings or the declared prompt changed"),
        (
            {"rubric": "r"},
            "the question, its scale or its guidelines changed: restore them, or rate again",
        ),
        ({"labels": "l"}, "human ratings in the test changed"),
        ({"scores": "s"}, "the judge's scores changed since the test"),
        ({"labels": "l", "scores": "s", "doubts": "d"}, "human ratings in the test changed"),
        ({"models_returned": ("m2",)}, "the vendor answers with another model"),
    ],
)
def test_a_certificate_goes_stale_with_what_it_rests_on(
    change: dict[str, object], message: str
) -> None:
    evidence = Fingerprints("f", "", "", "", ("m1",))
    now = replace(evidence, **change)  # type: ignore[arg-type]

    assert not changed_since(evidence, evidence)
    assert changed_since(evidence, now) == message


def test_a_certificate_ends_with_its_judge() -> None:
    assert "no longer declared" in changed_since(Fingerprints("f", "", "", ""), None)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (THEN, False),
        (None, False),
        (replace(THEN, labels="x"), True),
        (replace(THEN, scores="x"), True),
        (replace(THEN, doubts="x"), True),
        (replace(THEN, rubric="x", models_returned=("x",)), False),
        (replace(THEN, fingerprint="a", labels="x"), False),
        (replace(THEN, fingerprint="z", labels="x"), False),
    ],
)
def test_another_reading_is_one_of_the_same_judge_with_other_labels_or_scores(
    now: Fingerprints | None,
    expected: bool,  # noqa: FBT001
) -> None:
    assert is_read_again(THEN, now, by_other_rule=False) is expected


def test_fingerprints_of_responses_are_those_that_ledgers_hold() -> None:
    assert response_fingerprints(["abc"]) == ["ba7816bf8f01"]  # SHA-256 of NIST's example


def test_fingerprints_of_labels_do_not_depend_on_who_gave_them_in_which_order() -> None:
    one = rated_units([[1, 2], [3, np.nan]])
    other = rated_units([[2, 1], [np.nan, 3]])
    changed = rated_units([[2, 2], [np.nan, 3]])

    assert labels_hash(one) == labels_hash(other) == labels_hash(one.only(np.array([True, True])))
    assert labels_hash(one) != labels_hash(changed)


def test_fingerprints_of_a_question_cover_all_that_raters_were_told() -> None:
    question = rated_units([[1, 2]]).question
    variants = [
        replace(question, question="Else?"),
        replace(question, guidelines="1: bad"),
        replace(question, level="interval"),
        replace(question, scale=BINARY),
    ]

    assert len({rubric_hash(item) for item in (question, *variants)}) == 5


def test_only_a_map_of_a_declared_prompt_leads_back_to_the_declared_judge() -> None:
    tuned = replace(
        DECLARED, version="1.1.0", step="judge_guidelines", parent="1.0.0", prompt_text="Better."
    )
    mapped = replace(tuned, version="1.1.1", parent="1.1.0", maps={"q": HARSH})
    jury = replace(MAPPED, version="1.0.2", parent=None)

    assert MAPPED.as_declared == DECLARED
    for version in (DECLARED, tuned, mapped, jury):
        assert version.as_declared is version


def test_what_a_version_was_trained_on_is_train_and_dev() -> None:
    units = rated_units(np.ones((6, 2)))
    units = replace(units, splits=np.array(["train", "dev", "test"] * 2, dtype=object))
    names = response_fingerprints(units.response_ids)

    assert training_fingerprints([units]) == {
        name for name, split in zip(names, units.splits, strict=True) if split != "test"
    }
