"""Declarations of the gates, with the figure that each one compares, and remedies.

CONTRIBUTING.md lists the places that a new gate touches.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from eval_assets.catalogue import (
    A_HH,
    ADJACENT_AGREEMENT,
    ALPHA,
    EXACT_AGREEMENT,
    GWET_AC,
    KAPPA,
    Figure,
    Statistic,
)
from eval_assets.config.evaluation import Gate, GateName
from eval_assets.figures import FigureRecord, HumanFigures, JudgeFigures, RaterKind


@dataclass(frozen=True)
class GateDeclaration:
    """One gate.

    Args:
        title: The figure in a sentence.
        units: Units on which the figure is measured, in the plural.
    """

    record: type[FigureRecord]
    statistic: Statistic
    raters: RaterKind
    title: str
    units: str
    description: str

    @property
    def table(self) -> str:
        """Asset and table of the figures."""
        return self.record.table

    def figure(self, row: Any) -> Figure:  # noqa: ANN401 - a record of the declared type
        """Return the gate's figure in a record."""
        figure: Figure = getattr(row, self.statistic.column)
        return figure


_RATED = "responses with two ratings or more"


def _human_gate(statistic: Statistic, title: str = "", description: str = "") -> GateDeclaration:
    name = statistic.title
    return GateDeclaration(
        HumanFigures,
        statistic,
        "human",
        title or (name if name[1:2].isupper() else f"Human {name[0].lower()}{name[1:]}"),
        _RATED,
        description or f"{name} of human raters reaches its minimum: {statistic.meaning}.",
    )


GATES: Mapping[GateName, GateDeclaration] = {
    "human_a_hh": _human_gate(
        A_HH,
        "Human A^HH",
        "Human raters agree: GDPval's A^HH reaches its minimum, overall and by question.",
    ),
    "human_alpha": _human_gate(
        ALPHA,
        "Human alpha",
        "Human raters agree beyond chance: Krippendorff's alpha reaches its minimum.",
    ),
    "judge_alpha": GateDeclaration(
        JudgeFigures,
        ALPHA,
        "judge",
        "Judge alpha",
        "units with scores of two judges or more",
        "Judges agree with each other beyond chance: alpha reaches its minimum.",
    ),
    "exact_agreement": _human_gate(EXACT_AGREEMENT),
    "adjacent_agreement": _human_gate(ADJACENT_AGREEMENT),
    "kappa": _human_gate(KAPPA),
    "gwet_ac": _human_gate(GWET_AC),
}
"""Every gate. The first three are there by default."""

HUMAN_GATES = tuple(name for name, gate in GATES.items() if gate.raters == "human")


def applicable_gates(declared: Collection[GateName], *, n_judges: int) -> tuple[GateName, ...]:
    """Return the declared gates that apply: agreement between judges requires two of them."""
    return tuple(
        name
        for name, gate in GATES.items()
        if name in declared and (gate.raters == "human" or n_judges > 1)
    )


def below_minimum(figures: HumanFigures, gates: Mapping[GateName, Gate]) -> bool:
    """Return whether a defined figure of human agreement does not reach its gate's minimum."""
    compared = [(gates[name], GATES[name].figure(figures)) for name in HUMAN_GATES if name in gates]
    return any(
        figure.is_defined and not gate.is_reached(value=figure.value, low=figure.low)
        for gate, figure in compared
    )


_MOST_DISCUSSED = 20
"""Longest list of responses to discuss, of those that differ most."""


class RemedyKind(StrEnum):
    """Next step after a gate did not pass."""

    RUN = "run"
    RATE = "rate"
    RATE_MORE = "rate_more"
    RATE_RARE_VALUES = "rate_rare_values"
    REVISE_OR_RATE_MORE = "revise_or_rate_more"
    FIND_MISSING_SCORES = "find_missing_scores"
    SCORE_MORE = "score_more"
    SCORE_RARE_VALUES = "score_rare_values"
    REVISE_OR_SCORE_MORE = "revise_or_score_more"
    ADD_GROUPS = "add_groups"
    ADD_VARIETY = "add_variety"
    ADD_RARE_VALUES = "add_rare_values"
    DISCUSS = "discuss"
    DISCUSS_IS_TOO_LITTLE = "discuss_is_too_little"
    CHECK_SCALE_DIRECTION = "check_scale_direction"
    GIVE_EXAMPLES = "give_examples"
    REVISE_JUDGE_PROMPT = "revise_judge_prompt"


_TEXTS = {
    RemedyKind.RUN: "Run eval-assets run --data {name}",
    RemedyKind.RATE: "Have responses rated by two raters or more",
    RemedyKind.RATE_MORE: "Have {name} rated by two raters or more",
    RemedyKind.RATE_RARE_VALUES: (
        "Have {name} rated by two raters or more, above all some that deserve the rarer values"
    ),
    RemedyKind.REVISE_OR_RATE_MORE: (
        "Revise the rubric, or have {name} rated by two raters or more to settle whether it is too "
        "low"
    ),
    RemedyKind.FIND_MISSING_SCORES: ("Find out why scores are missing, and run the judges again"),
    RemedyKind.SCORE_MORE: "Have the judges score {name}, new ones if all are scored",
    RemedyKind.SCORE_RARE_VALUES: (
        "Have the judges score {name}, above all some that deserve the rarer values"
    ),
    RemedyKind.REVISE_OR_SCORE_MORE: (
        "Revise the judge prompt, or have the judges score {name}, new ones if all are scored, to "
        "settle whether it is too low"
    ),
    RemedyKind.ADD_GROUPS: "Add responses to other prompts",
    RemedyKind.ADD_VARIETY: (
        "Add responses that differ more: agreement beyond chance shows only if ratings vary"
    ),
    RemedyKind.ADD_RARE_VALUES: (
        "There is no disagreement to discuss: {name}. Add responses that deserve the rarer values"
    ),
    RemedyKind.DISCUSS: (
        "Discuss {name} with the raters, revise the rubric, then have new responses rated"
    ),
    RemedyKind.DISCUSS_IS_TOO_LITTLE: (
        "Revise the question and give an example response for every value, then have new "
        "responses rated. Settling {name}"
    ),
    RemedyKind.CHECK_SCALE_DIRECTION: (
        "Discuss {name} with the raters, check whether one of them reads the scale in reverse, and "
        "if so have that rater label again"
    ),
    RemedyKind.GIVE_EXAMPLES: (
        "No single response explains it: check whether a rater is stricter than the others, give "
        "an example response for every value of the scale, then have new responses rated"
    ),
    RemedyKind.REVISE_JUDGE_PROMPT: ("Compare the judges' replies and revise the judge prompt"),
}


@dataclass(frozen=True)
class Remedy:
    """A next step with its parameter."""

    kind: RemedyKind
    name: str = "more responses"

    @property
    def text(self) -> str:
        """The step as a sentence without a full stop."""
        return _TEXTS[self.kind].format(name=self.name)


def discussion(kind: RemedyKind, *, n_disagreements: int) -> Remedy:
    """Return the remedy to discuss the largest disagreements."""
    if n_disagreements > _MOST_DISCUSSED:
        return Remedy(kind, f"the first {_MOST_DISCUSSED} of {n_disagreements:,} disagreements")
    return Remedy(kind, _counted(n_disagreements))


def too_little(settled: str, n_disagreements: int) -> Remedy:
    """Return the remedy if settling all disagreements would not reach the minimum."""
    name = f"{_counted(n_disagreements)} would only reach {settled}"
    return Remedy(RemedyKind.DISCUSS_IS_TOO_LITTLE, name)


def _counted(n_disagreements: int) -> str:
    return f"the {n_disagreements:,} disagreements" if n_disagreements > 1 else "the disagreement"
