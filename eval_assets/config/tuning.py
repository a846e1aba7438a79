"""Declaration of judge tuning."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, get_args

from annotated_types import Gt, Lt

from eval_assets.config.types import NotNegative, Share, Text
from eval_assets.errors import Fault, raise_faults

PromptStep = Literal["few_shot_examples", "judge_guidelines"]
"""Steps that change a judge's prompt, and ask models."""

EvaluationPolicy = Literal["when_powered", "always", "never"]
"""When a held-out test is evaluated."""

Step = PromptStep | Literal["calibration", "jury"]

_NOISE = 1e-9


@dataclass(frozen=True)
class SplitShares:
    """Expected shares of response groups in each split; they add up to 1.

    Args:
        train: Groups for maps, examples and rules.
        dev: Groups for the selection of candidates.
        test: Groups that are held out, and decide.

    Raises:
        DeclarationError: If the shares do not add up to 1.
    """

    train: Share = 0.4
    dev: NotNegative = 0.2
    test: Share = 0.4

    def __post_init__(self) -> None:
        total = self.train + self.dev + self.test
        if abs(total - 1) > _NOISE:
            message = f"train, dev and test add up to {total:g}"
            raise_faults([Fault((), message, "Make it 1, for instance 0.4, 0.2 and 0.4")])


@dataclass(frozen=True)
class Tuning:
    """Settings of judge tuning.

    Args:
        split: Shares of the response groups.
        holdout: Whether comparisons of judges with people leave out the responses of the test, as
            they do from 60 response groups on. Without it no test is evaluated and no certificate
            issued.
        steps: Steps to try: prompts first, in this order, then maps of the scores, then a jury.
        margin: How far a judge's agreement with humans may lie below the agreement between humans
            if the judge is to be fit.
        writer: Judge whose model writes the rules of `judge_guidelines`.
        max_usd: The most that the steps may spend in one run; None for the run's budget.
        stand_in: Whether to test on which part of the responses a judge can replace a rater, if it
            is not expected to be fit on all. It takes two judges or replicates.
        evaluate: When a held-out test may be evaluated, which counts: if train and dev give one
            claim a chance of at least one half, always, or never.

    Raises:
        DeclarationError: If a step is repeated, or needs a writer.
    """

    split: SplitShares = field(default_factory=SplitShares)
    holdout: bool = True
    steps: tuple[Step, ...] = ("calibration",)
    margin: Annotated[float, Gt(0), Lt(1)] = 0.10
    writer: Text | None = None
    max_usd: NotNegative | None = None
    stand_in: bool = True
    evaluate: EvaluationPolicy = "when_powered"

    def __post_init__(self) -> None:
        if len(set(self.steps)) < len(self.steps):
            raise_faults([Fault(("steps",), "a step is repeated", "Name each step once")])
        if "judge_guidelines" in self.steps and self.writer is None:
            message = "judge_guidelines needs a writer"
            raise_faults([Fault(("steps",), message, "Name a live judge as its writer")])

    @property
    def prompt_steps(self) -> tuple[PromptStep, ...]:
        """Steps that change a judge's prompt, in order."""
        return tuple(step for step in self.steps if step in get_args(PromptStep))  # type: ignore[misc]
