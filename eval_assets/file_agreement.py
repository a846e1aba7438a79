"""Agreement of the raters of a file or a data frame, without an evaluation folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from eval_assets.errors import InputError, InputProblem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike

    from eval_assets.agreement.gates.decision import GateOutcome
    from eval_assets.agreement.humans import HumanMeasures
    from eval_assets.config.evaluation import Evaluation
    from eval_assets.figures import HumanFigures
    from eval_assets.readers.labels.validation import Labels
    from eval_assets.readers.labels.without_rubric import RatingsOptions
    from eval_assets.readers.ratings_file import RatingsFile
    from eval_assets.render.document import Table
    from eval_assets.scale import Level, Scale
    from eval_assets.verdicts import GateState

_SHORT = ("question_id", "a_hh", "a_hh_by_chance", "alpha", "n_responses", "n_groups")


def agreement(  # noqa: PLR0913 - the options of the command
    ratings: pd.DataFrame | pd.Series | ArrayLike | Sequence[Mapping[str, object]] | str | Path,
    *,
    scale: Scale | str | tuple[float, float] | None = None,
    level: Level | None = None,
    item: str | Sequence[str] = (),
    rater: str | Sequence[str] = (),
    rating: str | Sequence[str] = (),
    question: str | None = None,
    missing_values: Sequence[str] = (),
) -> Agreement:
    """Measure whether raters agree: A^HH, alpha and the gates, as `eval-assets agreement` does.

    Args:
        ratings: One rating a row, or a column for each rater or question; or a file of them. An
            array or a list has a row for each item, a series an index of items and raters.
        scale: Scale of all ratings, its ends as in (1, 5), or its text, such as "1-5"; otherwise
            that of evaluation.yaml beside the file, the order of a categorical column, or else the
            range of the ratings.
        level: Level of measurement; by default it follows from the scale.
        item: Column of the rated items, or columns that name them together.
        rater: Column of the raters, or the columns of several.
        rating: Column of the ratings, or one for each question.
        question: Column of the questions.
        missing_values: Words that mean no rating.

    Raises:
        InputError: If the ratings leave the raters, the items or the scale open, or can be read in
            two ways whose verdicts differ; a file's errors come in an ExceptionGroup.
        ValueError: If the text or the ends of the scale are none.
        TypeError: If the scale is something else.
    """
    from eval_assets.readers.labels.without_rubric import RatingsOptions

    options = RatingsOptions(
        scale=_scale_of(scale),
        level=level,
        items=(item,) if isinstance(item, str) else tuple(item),
        raters=(rater,) if isinstance(rater, str) else tuple(rater),
        ratings=(rating,) if isinstance(rating, str) else tuple(rating),
        question=question,
        missing_values=tuple(missing_values),
    )
    agreements = agreement_of_layouts(ratings, options)
    if len(agreements) > 1:
        raise InputError(_ambiguous_layouts(ratings, agreements))
    return agreements[0]


def _scale_of(scale: object) -> Scale | None:
    from eval_assets.scale import Scale

    match scale:
        case None | Scale():
            return scale
        case str():
            return Scale.parse(scale)
        case (int() | float() as low, int() | float() as high):
            are_whole = float(low).is_integer() and float(high).is_integer()
            return (Scale.from_steps if are_whole else Scale)(low=low, high=high)
    raise TypeError(f'scale must be a Scale, its ends or its text such as "1-5", got {scale!r}')


def agreement_of_layouts(ratings: object, options: RatingsOptions) -> list[Agreement]:
    """Return the agreement of each layout that the ratings may have and whose verdicts differ."""
    from eval_assets.readers.labels.headers import is_model
    from eval_assets.readers.ratings_file import read_ratings_file, read_ratings_frame
    from eval_assets.wording import listed

    layout = (
        read_ratings_file(Path(ratings), options)
        if isinstance(ratings, str | Path)
        else read_ratings_frame(_as_frame(ratings), options)
    )
    if layout.raters and not options.raters and all(map(is_model, layout.raters)):
        message = f"no person rated: {listed(layout.raters)} are named like language models"
        remedy = "Add the ratings of people, or name people by --rater"
        raise InputError(InputProblem(layout.evaluation.name, None, None, message, remedy))
    measured = _measure(layout.evaluation, layout)
    if layout.other_layout is not None:
        alternative = _measure(layout.other_layout.evaluation, layout.other_layout)
        if alternative.states != measured.states:
            return [measured, alternative]
    return [measured]


def _as_frame(ratings: object) -> pd.DataFrame:
    import pandas as pd

    if isinstance(ratings, pd.Series):
        return ratings.to_frame(ratings.name if ratings.name is not None else "rating")
    return ratings if isinstance(ratings, pd.DataFrame) else pd.DataFrame(ratings)  # type: ignore[call-overload] # or it says why not


@dataclass(frozen=True, repr=False)
class Agreement:
    """Ratings, and the agreement measured on them.

    A notebook shows it as tables with a plot.

    Args:
        evaluation: The questions, with the scales declared or guessed.
        labels: The ratings.
        raters: Raters, as an option would name them to read the ratings like this.
        humans: How far the raters agree, with remarks.
        outcomes: Outcome of each gate.
        disagreements: Rows of `label_disagreements`.
        doubts: A sentence for each gate whose state depends on the guessed scale.
    """

    evaluation: Evaluation
    labels: Labels
    raters: tuple[str, ...]
    humans: HumanMeasures
    outcomes: tuple[GateOutcome, ...]
    disagreements: pd.DataFrame
    doubts: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Return whether no gate is closed."""
        return not any(outcome.is_closed for outcome in self.outcomes)

    @property
    def states(self) -> dict[str, GateState]:
        """Return the state of each gate."""
        return {outcome.gate: outcome.state for outcome in self.outcomes}

    @property
    def verdicts(self) -> dict[str, str]:
        """Return the state of each gate with its reason."""
        return {o.gate: f"{o.state.value}: {o.reason}" for o in self.outcomes}

    @property
    def figures(self) -> tuple[HumanFigures, ...]:
        """Return the figures over all questions, then of each."""
        return self.humans.agreement

    @property
    def a_hh(self) -> float:
        """Return A^HH over all questions."""
        return self.figures[0].a_hh.value

    @property
    def alpha(self) -> float:
        """Return Krippendorff's alpha over all questions."""
        return self.figures[0].alpha.value

    @property
    def notes(self) -> tuple[str, ...]:
        """Return how the ratings were read, as far as that was guessed."""
        return tuple(self.labels.notes)

    @property
    def remarks(self) -> dict[str, list[str]]:
        """Return the questions of each remark on the labels, so that none is repeated."""
        remarks: dict[str, list[str]] = {}
        for finding in self.humans.findings:
            remarks.setdefault(finding.finding, []).append(finding.question_id)
        return remarks

    def to_frame(self) -> pd.DataFrame:
        """Return all figures with their intervals: a row over all questions, then one for each."""
        import pandas as pd

        return pd.DataFrame([row.columns() for row in self.figures])

    def plot(self) -> Drawing:
        """Return A^HH and alpha with their intervals, which a notebook shows as an image."""
        from eval_assets.render.plots import intervals_image
        from eval_assets.render.tables import ALL_QUESTIONS

        figures = {
            f"{name}, {row.question_id or ALL_QUESTIONS}": figure
            for row in self.figures
            for name, figure in (("A^HH", row.a_hh), ("alpha", row.alpha))
        }
        return Drawing(intervals_image(figures, marks={}))

    def __repr__(self) -> str:
        """Return the tables and remarks as Markdown."""
        from eval_assets.render.document import Text, bullets
        from eval_assets.render.markdown import markdown_blocks

        blocks = [*self._tables, *map(Text, self.doubts), *bullets(self._remarks)]
        return "\n\n".join(markdown_blocks(blocks))

    def _repr_html_(self) -> str:
        from eval_assets.render.tables import html_list, html_table

        tables = "".join(map(html_table, self._tables))
        return f"{tables}{self.plot().svg}{html_list([*self.notes, *self.doubts, *self._remarks])}"

    @property
    def _tables(self) -> tuple[Table, Table]:
        from eval_assets.render.document import Cell, Table, TableRow, cells, columns
        from eval_assets.render.tables import figures_table

        gates = tuple(
            TableRow(cells(o.gate, Cell(o.state.value, tone=o.tone), o.reason))
            for o in self.outcomes
        )
        return (
            figures_table(self.figures, _SHORT, label="Human agreement"),
            Table("Gates", columns("gate", "state", "reason"), gates),
        )

    @property
    def _remarks(self) -> list[str]:
        return [f"{', '.join(ids)}: {remark}." for remark, ids in self.remarks.items()]

    def to_json(self) -> dict[str, object]:
        """Return everything in the types of JSON; an undefined figure is null."""
        return {
            "name": self.evaluation.name,
            "notes": self.labels.notes,
            "questions": [
                {
                    "question_id": question.id,
                    "scale_min": question.scale.low,
                    "scale_max": question.scale.high,
                    "scale": question.scale.described(),
                    "scale_guessed": question.scale_guessed,
                    "level": question.level,
                }
                for question in self.evaluation.rubric
            ],
            "agreement": [row.columns() for row in self.figures],
            "gates": [outcome.to_json() for outcome in self.outcomes],
            "findings": [vars(finding) for finding in self.humans.findings],
            "n_disagreements": len(self.disagreements),
            "disagreements": [
                row | {name: json.loads(str(row[name])) for name in ("ratings", "value_counts")}
                for row in self.disagreements.to_dict("records")
            ],
            "n_unrated": self.labels.n_unrated,
            "scale_doubts": list(self.doubts),
        }


@dataclass(frozen=True)
class Drawing:
    """An image as SVG; empty if there is nothing to draw."""

    svg: str

    def _repr_svg_(self) -> str | None:
        return self.svg or None


def _measure(evaluation: Evaluation, ratings: RatingsFile) -> Agreement:
    """Measure on the scale as guessed, and name the verdicts that another one would change."""
    measured = _measure_on(evaluation, ratings)
    doubts: list[str] = []
    if ratings.wider is not None:
        doubts += _scale_doubts(measured, _measure_on(ratings.wider, ratings))
    if ratings.from_one is not None:
        without_zeros = _measure_on(ratings.from_one, _on_scale(ratings, ratings.from_one))
        doubts += _zero_doubts(measured, without_zeros)
    return replace(measured, doubts=tuple(doubts))


def _on_scale(ratings: RatingsFile, evaluation: Evaluation) -> RatingsFile:
    """Return the ratings without those below the scale of their question."""
    rows = ratings.labels.ratings
    lowest = rows["question_id"].map({q.id: q.scale.low for q in evaluation.rubric})
    rows = rows[~(rows["value"] < lowest.astype(float))]
    return replace(ratings, labels=replace(ratings.labels, ratings=rows))


def _measure_on(evaluation: Evaluation, file: RatingsFile) -> Agreement:
    from eval_assets.agreement.gates.evidence import gate_outcomes
    from eval_assets.agreement.humans import measure_humans
    from eval_assets.file_ratings import file_ratings
    from eval_assets.readers.ratings_file import unread_notes

    ratings = file_ratings(evaluation, file)
    humans = measure_humans(ratings.humans, evaluation)
    outcomes = gate_outcomes(
        evaluation,
        measured={"human": humans.agreement, "judge": ()},
        versions={"human": ratings.version},
        changed=(),
    )
    notes = (*file.notes("Pass --scale if that is wrong"), *unread_notes(file.unread))
    labels = replace(file.labels, notes=notes)
    return Agreement(evaluation, labels, file.raters, humans, outcomes, ratings.disagreements)


def _scale_doubts(measured: Agreement, wider: Agreement) -> tuple[str, ...]:
    """Return a sentence for each gate whose state depends on how wide the guessed scale is."""
    scales = [
        "; ".join(dict.fromkeys(question.scale.described() for question in of.evaluation.rubric))
        for of in (measured, wider)
    ]
    return tuple(
        f"The verdict depends on the guessed scale: on {scales[0]}, {_figure(first)}; "
        f"on {scales[1]}, {_figure(second)}. Pass the scale that raters saw with --scale."
        for first, second in zip(measured.outcomes, wider.outcomes, strict=True)
        if first.state is not second.state
    )


def _zero_doubts(measured: Agreement, without_zeros: Agreement) -> list[str]:
    """Return a sentence for each gate whose state depends on whether 0 is a rating."""
    return [
        f"The verdict depends on whether 0 is a rating: with it, {_figure(first)}; without it, "
        f"{_figure(second)}. Pass --missing-values 0 if it means no rating, else the --scale."
        for first, second in zip(measured.outcomes, without_zeros.outcomes, strict=True)
        if first.state is not second.state
    ]


def _figure(outcome: GateOutcome) -> str:
    from eval_assets.wording import figure_text

    value = figure_text(outcome.overall.value, limits=[outcome.overall.minimum])
    return f"{outcome.gate} is {value} and {outcome.state.value}"


def _ambiguous_layouts(ratings: object, agreements: Sequence[Agreement]) -> InputProblem:
    from eval_assets.wording import listed

    name = Path(ratings).name if isinstance(ratings, str | Path) else "data frame"
    states = [
        f"with the raters {listed(of.raters)}, "
        + listed([f"{gate} is {state.value}" for gate, state in of.states.items()])
        for of in agreements
    ]
    options = " or ".join(f"rater={list(of.raters)}" for of in agreements)
    message = f"it can be read in two ways, and their verdicts differ: {'; '.join(states)}"
    return InputProblem(name, None, None, message, f"Pass {options}")
