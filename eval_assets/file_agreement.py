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
    from eval_assets.readers.rating_tables import RatingTables, ReadOptions
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
    from eval_assets.readers.rating_tables import ReadOptions

    options = ReadOptions(
        scale=_scale_of(scale),
        level=level,
        item=(item,) if isinstance(item, str) else tuple(item),
        rater=(rater,) if isinstance(rater, str) else tuple(rater),
        rating=(rating,) if isinstance(rating, str) else tuple(rating),
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


def agreement_of_layouts(ratings: object, options: ReadOptions) -> list[Agreement]:
    """Return the agreement of each reading that the ratings allow and whose verdicts differ."""
    from eval_assets.readers.ratings import read_ratings
    from eval_assets.wording import listed

    source: list[Path] | pd.DataFrame
    if isinstance(ratings, str | Path):
        evaluation, beside = _evaluation_beside(Path(ratings))
        source, name = [Path(ratings)], Path(ratings).stem
    else:
        evaluation, beside, source, name = None, (), _as_frame(ratings), "data frame"
    tables = read_ratings(source, options, evaluation=evaluation)
    if not len(tables.ratings):
        judges = listed([str(judge) for judge in tables.scores["judge"].unique()])
        message = f"no person rated: {judges} are named like judges"
        remedy = "Add the ratings of people, or name people by --rater"
        raise InputError(InputProblem(tables.files[0], None, None, message, remedy))
    measured = replace(_measure(tables, name, evaluation), beside=beside)
    differing = [measured]
    doubts: list[str] = []
    for doubt, other in tables.alternatives:
        alternative = _measure(other, name, evaluation)
        if alternative.states == measured.states:
            continue
        if doubt.option.lstrip("-").startswith(("scale", "missing")):
            doubts += _scale_doubts(measured, alternative, doubt.option)
        else:
            differing.append(replace(alternative, option=doubt.option))
    return [replace(measured, doubts=tuple(doubts)), *differing[1:]]


def _evaluation_beside(path: Path) -> tuple[Evaluation | None, tuple[str, ...]]:
    """Return the evaluation in whose folder a file is, and a note on it."""
    from eval_assets.errors import gathered
    from eval_assets.readers.evaluation.read import read_evaluation

    folder = folder_of(path)
    if folder is None:
        return None, ()
    problems: list[InputProblem] = []
    with gathered(problems):
        return read_evaluation(folder), ("scales and gates of evaluation.yaml beside it are used",)
    return None, (f"evaluation.yaml beside it is not used ({problems[0].message})",)


def folder_of(path: Path) -> Path | None:
    """Return the evaluation folder that a file is in; None if it is in none."""
    folder = path.parent.parent if path.parent.name == "labels" else path.parent
    return folder if (folder / "evaluation.yaml").is_file() else None


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
        tables: The ratings.
        option: Option that reads the ratings like this; empty for the likeliest reading.
        humans: How far the raters agree, with remarks.
        outcomes: Outcome of each gate.
        disagreements: Rows of `label_disagreements`.
        doubts: A sentence for each gate whose state depends on the guessed scale.
    """

    evaluation: Evaluation
    tables: RatingTables
    humans: HumanMeasures
    outcomes: tuple[GateOutcome, ...]
    disagreements: pd.DataFrame
    doubts: tuple[str, ...] = ()
    option: str = ""
    beside: tuple[str, ...] = ()

    @property
    def raters(self) -> tuple[str, ...]:
        """Return the raters."""
        return tuple(map(str, self.tables.ratings["rater"].unique()))

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
        columns = {role: names for role, names in self.tables.columns.items() if names}
        roles = "; ".join(f"{role} = {', '.join(names)}" for role, names in columns.items())
        scales = {q.id: q.scale.described() for q in self.evaluation.rubric if q.scale_guessed}
        guesses = "; ".join(f"{scale} ({name})" for name, scale in scales.items())
        judges = ", ".join(map(str, self.tables.scores["judge"].unique()))
        return (
            roles,
            *self.tables.notes,
            *self.beside,
            *([f"scale guessed from the ratings: {guesses}"] if guesses else []),
            *([f"{judges} left out, as judges are no human raters"] if judges else []),
            *(f"{name} is not read: {reason}" for name, reason in self.tables.not_read.items()),
        )

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
            "notes": self.notes,
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
            "scale_doubts": list(self.doubts),
        }


@dataclass(frozen=True)
class Drawing:
    """An image as SVG; empty if there is nothing to draw."""

    svg: str

    def _repr_svg_(self) -> str | None:
        return self.svg or None


def _measure(tables: RatingTables, name: str, beside: Evaluation | None) -> Agreement:
    from eval_assets.agreement.gates.evidence import gate_outcomes
    from eval_assets.agreement.humans import measure_humans
    from eval_assets.config.evaluation import Evaluation, default_gates
    from eval_assets.file_ratings import file_ratings

    gates = default_gates() if beside is None else beside.gates
    rated = set(tables.ratings["question"].unique())
    rubric = tuple(question for question in tables.questions if question.id in rated)
    evaluation = Evaluation(name, Path(), rubric, gates=gates)
    ratings = file_ratings(evaluation, tables)
    humans = measure_humans(ratings.humans, evaluation)
    outcomes = gate_outcomes(
        evaluation,
        measured={"human": humans.agreement, "judge": ()},
        versions={"human": ratings.version},
        changed=(),
    )
    return Agreement(evaluation, tables, humans, outcomes, ratings.disagreements)


def _scale_doubts(measured: Agreement, other: Agreement, option: str) -> list[str]:
    """Return a sentence for each gate whose state depends on the guessed scale."""
    return [
        f"The verdict depends on the guessed scale: {_figure(first)}, but with {option} "
        f"{_figure(second)}. Pass {option} if that is what raters saw."
        for first, second in zip(measured.outcomes, other.outcomes, strict=True)
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
    options = " or ".join(of.option for of in agreements if of.option)
    message = f"it can be read in two ways, and their verdicts differ: {'; '.join(states)}"
    return InputProblem(name, None, None, message, f"Pass {options}")
