"""Declarations of the gates, with the figure that each one compares.

CONTRIBUTING.md lists the places that a new gate touches.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
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
from eval_assets.config.evaluation import GateName
from eval_assets.figures import FigureRecord, HumanFigures, JudgeFigures, RaterKind


@dataclass(frozen=True)
class GateDeclaration:
    """One gate.

    Args:
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
