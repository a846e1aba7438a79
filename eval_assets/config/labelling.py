"""Declaration of labelling: raters, displayed columns and overlap."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge, Le

from eval_assets.config.types import Count, Name
from eval_assets.errors import Fault, raise_faults

ASSIGNMENTS = "assignments.csv"
"""File of assigned units in the evaluation folder."""

SESSIONS = "sessions"
"""Folder of the session files in the evaluation folder."""

ADJUDICATIONS = "adjudications.jsonl"
"""File of decisions on disagreements in the evaluation folder."""


CALIBRATION, DISCUSSION = KINDS = ("calibration", "discussion")
"""Kinds of sessions whose answers never count as labels: those compared with gold answers, and
ratings after a discussion. Their files are in folders of these names in the folder of the
sessions."""


def session_paths(folder: Path, kind: str = "") -> list[Path]:
    """Return the session files of an evaluation folder, of labels or of another kind, by name."""
    return sorted((folder / SESSIONS / kind).glob("[!.]*.json"))


@dataclass(frozen=True)
class Labelling:
    """The section `labelling` of evaluation.yaml.

    Args:
        raters: Names of the raters; empty if anyone may label.
        round: Round that labels belong to; the latest round decides.
        overlap: Share of the responses that every rater labels, in [0, 1]; the rest is split.
        per_rater: Most responses that one rater labels in a round; None for no limit.
        show: Columns of the responses that raters see beside prompt and response, in this order.
        hide: Columns that no rater ever sees.
        text: `markdown` if pages show prompts, responses and guidelines as Markdown, with tables,
            code and images of the evaluation folder; `plain` if they show the raw text.
        one_question_at_a_time: Whether raters answer one question about all responses before the
            next question; otherwise all questions about one response.
        run_column: Column of the responses that names the run they come from.
        adjudicators: People who settle disagreements; empty if anyone may, under any name.
        calibration: File of responses with right answers that each rater labels before any other.
        pass_mark: Share of the right answers from which on other responses open, in [0, 1].
        discussion: Whether raters see each other's ratings and reasons after the round, without
            names, and rate disagreements again. These ratings do not count in agreement or gates.
        links_valid_until: Last day, in UTC, on which links of raters and adjudicators are valid.

    Raises:
        DeclarationError: If the settings contradict each other.
    """

    raters: tuple[Name, ...] = ()
    round: Count = 1
    overlap: Annotated[float, Ge(0), Le(1)] = 1.0
    per_rater: Count | None = None
    show: tuple[Name, ...] = ()
    hide: tuple[Name, ...] = ()
    text: Literal["plain", "markdown"] = "plain"
    one_question_at_a_time: bool = True
    run_column: Name = "run_id"
    adjudicators: tuple[Name, ...] = ()
    calibration: Path | None = None
    pass_mark: Annotated[float, Ge(0), Le(1)] = 0.8
    discussion: bool = False
    links_valid_until: date | None = None

    def __post_init__(self) -> None:
        faults = [
            Fault(("hide", index), f"{column} is shown as well", "Remove it from show or hide")
            for index, column in enumerate(self.hide)
            if column in self.show
        ]
        if "response_text" in self.hide:
            index = self.hide.index("response_text")
            message = "raters cannot rate what they do not see"
            faults.append(Fault(("hide", index), message, "Remove it"))
        if self.calibration and not self.raters:
            faults.append(Fault(("calibration",), "no rater is named", "Add raters: [anna, ben]"))
        for key, names in (("raters", self.raters), ("adjudicators", self.adjudicators)):
            plain = [name.casefold() for name in names]
            faults += [
                Fault((key, index), f"{names[index]} is repeated", f"Name each {key[:-1]} once")
                for index, name in enumerate(plain)
                if name in plain[:index]
            ]
        raise_faults(faults)
