"""Declarations of the gates, with the figure that each one compares.

CONTRIBUTING.md lists the places that a new gate touches.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eval_assets.catalogue import A_HH, ALPHA, Figure, Statistic
from eval_assets.config.evaluation import Gate, GateName
from eval_assets.figures import FigureRecord, HumanFigures, JudgeFigures, RaterKind


@dataclass(frozen=True)
class GateDeclaration:
    """One gate.

    Args:
        record: Record type of the figures that it compares.
        statistic: The figure of these that it compares.
        raters: Kind of the raters whose agreement it is.
        title: The figure in a sentence.
        units: What the figure is measured on, in the plural.
        description: Description of the asset check.
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
        """Return the figure of a record that the gate compares."""
        figure: Figure = getattr(row, self.statistic.column)
        return figure


_RATED = "responses with two ratings or more"

GATES: Mapping[GateName, GateDeclaration] = {
    "human_a_hh": GateDeclaration(
        HumanFigures,
        A_HH,
        "human",
        "Human A^HH",
        _RATED,
        "Human raters agree: GDPval's A^HH reaches its minimum, overall and by question.",
    ),
    "human_alpha": GateDeclaration(
        HumanFigures,
        ALPHA,
        "human",
        "Human alpha",
        _RATED,
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
}

HUMAN_GATES = tuple(name for name, gate in GATES.items() if gate.raters == "human")


def applicable_gates(*, n_judges: int) -> tuple[GateName, ...]:
    """Return the gates that apply: agreement between judges requires two of them."""
    return tuple(GATES) if n_judges > 1 else HUMAN_GATES


def below_minimum(figures: HumanFigures, gates: Mapping[GateName, Gate]) -> bool:
    """Return whether a defined figure of human agreement does not reach its gate's minimum."""
    compared = [(gates[name], GATES[name].figure(figures)) for name in HUMAN_GATES]
    return any(
        figure.is_defined and not gate.is_reached(value=figure.value, low=figure.low)
        for gate, figure in compared
    )
