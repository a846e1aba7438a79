"""How judges are tuned, as the section `tuning` of evaluation.yaml declares it."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Gt, Lt

from eval_assets.declared import NotNegative, Share
from eval_assets.problems import Fault, raise_faults

Step = Literal["calibration", "jury"]

_NOISE = 1e-9


@dataclass(frozen=True)
class SplitShares:
    """Expected shares of response groups in each split; they add up to 1.

    Args:
        train: Groups that maps, examples and rules are made from.
        dev: Groups that candidates are selected on.
        test: Groups under the seal, which decide.

    Raises:
        DeclarationError: If the shares do not add up to 1.
    """

    train: Share = 0.4
    dev: NotNegative = 0.2
    test: Share = 0.4

    def __post_init__(self) -> None:
        total = self.train + self.dev + self.test
        if abs(total - 1) > _NOISE:
            what = f"train, dev and test add up to {total:g}"
            raise_faults([Fault((), what, "Make it 1, for instance 0.4, 0.2 and 0.4")])


@dataclass(frozen=True)
class Tuning:
    """How judges are tuned.

    Args:
        split: Shares of the response groups.
        steps: What is tried, in this order.
        margin: How far a judge's agreement with people may stay below people's with each other
            and still be fit for use.

    Raises:
        DeclarationError: If a step is repeated.
    """

    split: SplitShares = field(default_factory=SplitShares)
    steps: tuple[Step, ...] = ("calibration",)
    margin: Annotated[float, Gt(0), Lt(1)] = 0.10

    def __post_init__(self) -> None:
        if len(set(self.steps)) < len(self.steps):
            raise_faults([Fault(("steps",), "a step is repeated", "Name each step once")])
