"""How judges are tuned, as the `tuning` section of evaluation.yaml declares it."""

from dataclasses import dataclass, field
from typing import Literal

Step = Literal["calibration", "few_shot_examples", "judge_guidelines", "prompt_candidates", "jury"]

CALL_FREE_STEPS: tuple[Step, ...] = ("calibration", "jury")
"""Steps that ask no model anything."""


@dataclass(frozen=True)
class SplitShares:
    """Expected shares of response groups in each split; they add up to 1.

    Args:
        train: Groups that maps, examples and rules are made from.
        dev: Groups that candidates are selected on.
        test: Groups under the seal, which decide.

    Raises:
        ValueError: If a share is negative, there is no train or test share, or the sum is not 1.
    """

    train: float = 0.4
    dev: float = 0.2
    test: float = 0.4

    def __post_init__(self) -> None:
        shares = (self.train, self.dev, self.test)
        if not (self.train > 0 and self.test > 0 and self.dev >= 0):
            raise ValueError(f"train and test must be above 0 and dev at least 0, got {shares}")
        if abs(sum(shares) - 1) > 1e-9:  # noqa: PLR2004 - float noise
            raise ValueError(f"train, dev and test must add up to 1, got {sum(shares):g}")


@dataclass(frozen=True)
class Tuning:
    """How judges are tuned.

    Args:
        split: Shares of the response groups.
        steps: What is tried, in this order; each step starts from what the one before it made.
        margin: How far a judge's agreement with people may stay below people's with each other
            and still be fit for use.
    """

    split: SplitShares = field(default_factory=SplitShares)
    steps: tuple[Step, ...] = ("calibration",)
    margin: float = 0.10

    def __post_init__(self) -> None:
        if not 0 < self.margin < 1:
            raise ValueError(f"margin must lie in (0, 1), got {self.margin:g}")
