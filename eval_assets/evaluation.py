"""An evaluation: what is evaluated, how and by whom, as evaluation.yaml declares it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from eval_assets.rubric import RubricQuestion
from eval_assets.scale import Level

Provider = Literal["openai", "anthropic", "recorded"]
Severity = Literal["error", "warn"]
OnError = Literal["fail", "reject_rows"]
GateName = Literal["human_a_hh", "human_alpha", "judge_alpha"]


@dataclass(frozen=True)
class Judge:
    """An LLM rater, as declared: a model asked live, or recorded scores of one.

    Args:
        id: Name of the judge in every table.
        provider: Whose API is spoken, or `recorded` where a file holds the scores.
        model: Model asked; of a recorded judge, the `judge_model` whose rows are taken.
        scores: File of recorded scores; None for a live judge.
        base_url: Endpoint other than the provider's own.
        api_key_env: Environment variable that holds the key; None for the provider's own.
    """

    id: str
    provider: Provider
    model: str | None = None
    scores: Path | None = None
    base_url: str | None = None
    api_key_env: str | None = None


@dataclass(frozen=True)
class Gate:
    """A minimum that agreement must reach before judges may be tuned.

    Args:
        minimum: Lowest value that passes, unrounded.
        severity: Whether a closed gate blocks (`error`) or only warns (`warn`).
        level: Level of measurement for alpha; None for the default that CONTRACT.md names.
    """

    minimum: float
    severity: Severity = "error"
    level: Level | None = None


def default_gates() -> dict[GateName, Gate]:
    """The gates of an evaluation that declares none.

    0.75 is where A^HH is called good agreement (GDPval's bands), 0.667 where Krippendorff (2004)
    allows tentative conclusions.
    """
    return {
        "human_a_hh": Gate(minimum=0.75),
        "human_alpha": Gate(minimum=0.667),
        "judge_alpha": Gate(minimum=0.667),
    }


@dataclass(frozen=True)
class Evaluation:
    """Everything that evaluation.yaml declares, checked.

    Args:
        name: Name of the evaluation.
        folder: The evaluation folder, where evaluation.yaml stands.
        rubric: Questions asked, in the order declared.
        responses: Response files, in the order in which they are merged.
        labels: Label files.
        judges: LLM raters; empty where the human side runs alone.
        gates: Gates by name.
        labels_on_error: What a bad label does: `fail` the import, or `reject_rows` one by one.
        budget_usd: Most that one run may spend on judges; None for no cap.
    """

    name: str
    folder: Path
    rubric: tuple[RubricQuestion, ...]
    responses: tuple[Path, ...]
    labels: tuple[Path, ...]
    judges: tuple[Judge, ...] = ()
    gates: dict[GateName, Gate] = field(default_factory=default_gates)
    labels_on_error: OnError = "fail"
    budget_usd: float | None = None

    def question(self, question_id: str) -> RubricQuestion:
        """The question named `question_id`.

        Raises:
            KeyError: If the rubric has none of that name.
        """
        return next(q for q in self.rubric if q.id == question_id)
