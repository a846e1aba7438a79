from dataclasses import replace

import pytest

from eval_assets.stats import MonotoneMap
from eval_assets.tuning.versions import (
    JudgeVersion,
    number_version,
    version_as_json,
    version_from_json,
)

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
    known = [DECLARED, replace(DECLARED, version="1.4.0", prompt_text="Other"), MAPPED]

    assert number_version(known, replace(DECLARED, prompt_text="New")) == "1.5.0"
    assert (
        number_version(known, replace(DECLARED, prompt_text="Other", maps={"q": HARSH})) == "1.4.1"
    )


def test_how_a_version_was_made_does_not_make_it_another_judge() -> None:
    told_otherwise = replace(MAPPED, version="7.0.0", step="jury", parent=None, sources=("r1",))

    assert told_otherwise.definition_hash == MAPPED.definition_hash
    assert number_version([DECLARED, MAPPED], told_otherwise) == "1.0.1"


def test_a_version_survives_json() -> None:
    continuous = MonotoneMap((0.1, 0.25), (0.0, 1 / 3), target=None, low=0, high=1)
    version = replace(
        MAPPED,
        maps={"q": HARSH, "p": continuous},
        weights={"q": {"a": 1 / 3, "b": 2 / 3}},
        sources=("r1", "r2"),
    )

    assert version_from_json(version_as_json(version)) == version
