"""Two judges: when one of them is enough."""

import math

import pytest

from eval_assets.agreement.staged import Stage, next_stage, spot_checks
from eval_assets.config.judges import Staged


@pytest.mark.parametrize(
    ("stage", "kappa", "exact", "n", "expected"),
    [
        ("both", 0.85, 0.9, 100, "one"),
        ("both", 0.849, 0.9, 100, "both"),
        ("both", 0.99, 0.9, 99, "both"),
        ("both", math.nan, 1.0, 100, "both"),
        ("one", 0.70, 0.9, 20, "one"),
        ("one", 0.699, 0.9, 20, "both"),
        ("one", 0.0, 0.5, 4, "one"),
        ("one", math.nan, 1.0, 20, "one"),
        ("one", math.nan, 0.9, 20, "both"),
    ],
)
def test_a_stage_changes_only_on_evidence(
    stage: Stage, kappa: float, exact: float, n: int, expected: Stage
) -> None:
    following, reason = next_stage(
        stage, kappa=kappa, exact_agreement=exact, n_units=n, staged=Staged()
    )
    assert following == expected
    assert reason


def test_spot_checks_are_exactly_the_share_and_the_same_in_any_order() -> None:
    ids = [f"r{i}" for i in range(1000)]
    chosen = spot_checks(ids, share=0.05)
    assert len(chosen) == 50
    assert spot_checks(ids[::-1], share=0.05) == chosen
    assert len(spot_checks(ids[:40], share=0.05)) == 2
    assert len(spot_checks(ids[:3], share=0.05)) == 1


def test_a_share_of_spot_checks_is_rounded_up() -> None:
    assert len(spot_checks([f"r{k}" for k in range(101)], share=0.1)) == 11
