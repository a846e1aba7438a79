"""What a certificate rests on, and what makes it stale."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from eval_assets.scale import BINARY
from eval_assets.tuning.fingerprints import Fingerprints, labels_hash, rubric_hash, stale_because
from tests.unit.tuning.made_up import rated_units

TODAY = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fingerprint": "g"}, "the model, its settings or the declared prompt changed"),
        ({"rubric": "r"}, "the question, its scale or its guidelines changed"),
        ({"labels": "l"}, "human ratings in the test changed"),
        ({"scores": "s"}, "the judge's scores changed since the test"),
        ({"models_returned": ("m2",)}, "the vendor answers with another model"),
    ],
)
def test_a_certificate_goes_stale_with_what_it_rests_on(
    change: dict[str, object], said: str
) -> None:
    evidence = Fingerprints("f", "", "", "", ("m1",))
    now = replace(evidence, **change)  # type: ignore[arg-type]

    assert not stale_because(evidence, evidence, until="2027-01-01", today=TODAY)
    assert stale_because(evidence, now, until="2027-01-01", today=TODAY) == said


def test_a_certificate_ends_with_its_validity_and_with_its_judge() -> None:
    evidence = Fingerprints("f", "", "", "")

    assert not stale_because(evidence, evidence, until="2026-11-21", today=TODAY)
    assert "ended on 2026-11-20" in stale_because(
        evidence, evidence, until="2026-11-20", today=TODAY
    )
    assert "no longer declared" in stale_because(evidence, None, until="2027", today=TODAY)


def test_fingerprints_of_labels_do_not_depend_on_who_gave_them_in_which_order() -> None:
    one = rated_units([[1, 2], [3, np.nan]])
    other = rated_units([[2, 1], [np.nan, 3]])
    changed = rated_units([[2, 2], [np.nan, 3]])

    assert labels_hash(one) == labels_hash(other) == labels_hash(one.only(np.array([True, True])))
    assert labels_hash(one) != labels_hash(changed)


def test_fingerprints_of_a_question_cover_all_that_raters_were_told() -> None:
    question = rated_units([[1, 2]]).question
    others = [
        replace(question, question="Else?"),
        replace(question, guidelines="1: bad"),
        replace(question, level="interval"),
        replace(question, scale=BINARY),
    ]

    assert len({rubric_hash(each) for each in (question, *others)}) == 5
