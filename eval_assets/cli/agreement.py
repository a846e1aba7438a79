"""`eval-assets agreement`: agreement of any file of ratings, without an evaluation folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE, GATE_CLOSED, MISUSED
from eval_assets.cli.options import file_arguments, ratings_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from eval_assets.agreement.gates.decision import GateOutcome
    from eval_assets.agreement.humans import HumanMeasures
    from eval_assets.config.evaluation import Evaluation
    from eval_assets.readers.labels.ratings_options import RatingsOptions
    from eval_assets.readers.labels.validation import Labels
    from eval_assets.readers.ratings_file import RatingsFile
    from eval_assets.verdicts import GateState

_MOST_DISAGREEMENTS = 5


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@ratings_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def agreement(file: Path, *, options: RatingsOptions, as_json: bool) -> int:
    """Say whether the raters of any file agree: A^HH, alpha, the gates and what to do next.

    FILE holds one rating a row (who rated, what, the rating), or a column for each rater or
    question; as CSV, TSV, Excel, JSON, JSONL or Parquet. Ratings are numbers, words, yes and no,
    4/5, stars, or a cross in one of the columns that are named by the values. How the file was read
    is printed first. Nothing is stored. If a gate is closed, the exit code is 3. If headers can be
    read in two ways whose verdicts differ, both are printed, and the exit code is 2.
    """
    from eval_assets.readers.ratings_file import read_ratings_file

    ratings = read_ratings_file(file, options)
    measured = _measure(ratings.evaluation, ratings)
    if ratings.other_layout is not None:
        other = _measure(ratings.other_layout.evaluation, ratings.other_layout)
        if other.states != measured.states:
            return _undecided(
                file,
                {ratings.raters: measured, ratings.other_layout.raters: other},
                as_json=as_json,
            )
    wider = _measure(ratings.wider, ratings) if ratings.wider else None
    doubts = _scale_doubts(measured, wider) if wider else []
    if as_json:
        content = _as_json(measured) | {"scale_doubts": doubts}
        click.echo(json.dumps(content, indent=2, allow_nan=False))
    else:
        _print(measured, file)
        for doubt in doubts:
            click.echo(doubt)
    return DONE if measured.is_open else GATE_CLOSED


@dataclass(frozen=True)
class _Measured:
    """A file's ratings, and the figures measured on them.

    Args:
        evaluation: The questions, with the scales declared or guessed.
        labels: The ratings.
        humans: How far the raters agree, with remarks.
        outcomes: Outcome of each gate.
        disagreements: Rows of `label_disagreements`.
    """

    evaluation: Evaluation
    labels: Labels
    humans: HumanMeasures
    outcomes: tuple[GateOutcome, ...]
    disagreements: pd.DataFrame

    @property
    def is_open(self) -> bool:
        """Return whether no gate is closed."""
        return not any(outcome.is_closed for outcome in self.outcomes)

    @property
    def states(self) -> dict[str, GateState]:
        """Return the state of each gate."""
        return {outcome.gate: outcome.state for outcome in self.outcomes}


def _measure(evaluation: Evaluation, ratings: RatingsFile) -> _Measured:
    """Measure in a database in memory, as `eval-assets run` does in a file."""
    from eval_assets.agreement.gates.evidence import gate_outcomes
    from eval_assets.agreement.humans import measure_humans
    from eval_assets.store.connection import connect_in_memory
    from eval_assets.store.data_versions import rating_versions
    from eval_assets.store.inputs import write_labels, write_rubric
    from eval_assets.store.ratings import human_ratings
    from eval_assets.store.summaries import write_label_disagreements
    from eval_assets.store.tables import read_table, replace_rows

    labels = ratings.labels
    with connect_in_memory() as connection:
        write_rubric(connection, evaluation.rubric)
        replace_rows(connection, "responses", ratings.responses)
        write_labels(connection, labels.ratings, earlier=labels.earlier)
        write_label_disagreements(connection)
        humans = measure_humans(human_ratings(connection, evaluation), evaluation)
        outcomes = gate_outcomes(
            evaluation,
            measured={"human": humans.agreement, "judge": ()},
            versions=rating_versions(connection),
            changed=(),
        )
        disagreements = read_table(connection, "label_disagreements")
    return _Measured(evaluation, labels, humans, outcomes, disagreements)


def _scale_doubts(measured: _Measured, wider: _Measured) -> list[str]:
    """Return a sentence for each gate whose state depends on how wide the guessed scale is."""
    scales = [
        "; ".join(dict.fromkeys(question.scale.described() for question in of.evaluation.rubric))
        for of in (measured, wider)
    ]
    return [
        f"The verdict depends on the guessed scale: on {scales[0]}, {_figure(here)}; "
        f"on {scales[1]}, {_figure(there)}. Pass the scale that raters saw with --scale."
        for here, there in zip(measured.outcomes, wider.outcomes, strict=True)
        if here.state is not there.state
    ]


def _figure(outcome: GateOutcome) -> str:
    from eval_assets.wording import figure_text

    value = figure_text(outcome.overall.value, limits=[outcome.overall.minimum])
    return f"{outcome.gate} is {value} and {outcome.state.value}"


def _undecided(file: Path, layouts: Mapping[tuple[str, ...], _Measured], *, as_json: bool) -> int:
    """Print the figures of two layouts of a file, and how to name the right one."""
    from eval_assets.cli.tables import print_gates

    if as_json:
        readings = [{"raters": raters, **_as_json(of)} for raters, of in layouts.items()]
        click.echo(json.dumps({"layouts": readings}, indent=2, allow_nan=False))
        return MISUSED
    click.echo(f"{file.name} can be read in two ways, and their verdicts differ.")
    for raters, measured in layouts.items():
        click.echo()
        for note in measured.labels.notes:
            click.echo(f"{file.name}: {note}.")
        print_gates(measured.evaluation, measured.outcomes)
        command = f"eval-assets agreement {quote(str(file))} --rater {quote(','.join(raters))}"
        click.echo(f"If that is right, run: {command}")
    return MISUSED


def _next_command(file: Path) -> str:
    """Return the command that evaluates the folder of the file, or makes one of the file."""
    from eval_assets.readers.ratings_file import folder_of

    folder = folder_of(file)
    if folder is not None:
        return f"eval-assets run --data {quote(str(folder))}"
    return join(["eval-assets", "init", *file_arguments()])


def _print(measured: _Measured, file: Path) -> None:
    """Print how the file was read, what was measured, the gates, and what to do next."""
    from eval_assets.cli.tables import print_gates, print_humans, print_table

    for note in measured.labels.notes:
        click.echo(f"{file.name}: {note}.")
    click.echo()
    print_humans(measured.humans.agreement)
    print_gates(measured.evaluation, measured.outcomes)
    if len(measured.disagreements):
        worst = measured.disagreements.head(_MOST_DISAGREEMENTS).to_dict("records")
        print_table(
            f"label_disagreements: the largest of {len(measured.disagreements)} (--json has all)"
            if len(measured.disagreements) > _MOST_DISAGREEMENTS
            else "label_disagreements",
            ("item", "question", "ratings"),
            [(row["response_id"], row["question_id"], _ratings(row["ratings"])) for row in worst],
        )
    for remark, questions in _remarks(measured.humans).items():
        click.echo(f"{', '.join(questions)}: {remark}.")
    if measured.is_open:
        click.echo(_open_gates(measured))
        click.echo(f"To compare judges with these raters, run: {_next_command(file)}")


def _open_gates(measured: _Measured) -> str:
    """Return whether gates that are not closed are open for every question, and for certain."""
    from eval_assets.agreement.gates.decision import tunable_questions
    from eval_assets.verdicts import GateState
    from eval_assets.wording import listed

    question_ids = [question.id for question in measured.evaluation.rubric]
    n_passing = len(tunable_questions(measured.outcomes, question_ids))
    if n_passing < len(question_ids):
        verb = "passes" if n_passing == 1 else "pass"
        return f"{n_passing} of {len(question_ids)} questions {verb} every gate."
    undecided = [o.gate for o in measured.outcomes if o.state is GateState.UNDECIDED]
    if undecided:
        return f"No gate is closed, and {listed(undecided)} may be open by chance."
    return "The gates are open."


def _remarks(measures: HumanMeasures) -> dict[str, list[str]]:
    """Return the questions of each remark, so that none is printed twice."""
    remarks: dict[str, list[str]] = {}
    for finding in measures.findings:
        remarks.setdefault(finding.finding, []).append(finding.question_id)
    return remarks


def _ratings(by_rater: str) -> str:
    return ", ".join(f"{rater} {value:g}" for rater, value in json.loads(by_rater).items())


def _as_json(measured: _Measured) -> dict[str, object]:
    """Return everything in the types of JSON; an undefined figure is null."""
    return {
        "name": measured.evaluation.name,
        "notes": measured.labels.notes,
        "questions": [
            {
                "question_id": question.id,
                "scale_min": question.scale.low,
                "scale_max": question.scale.high,
                "scale": question.scale.described(),
                "scale_guessed": question.scale_guessed,
                "level": question.level,
            }
            for question in measured.evaluation.rubric
        ],
        "agreement": [row.columns() for row in measured.humans.agreement],
        "gates": [outcome.to_json() for outcome in measured.outcomes],
        "findings": [vars(finding) for finding in measured.humans.findings],
        "n_disagreements": len(measured.disagreements),
        "disagreements": [
            row | {name: json.loads(str(row[name])) for name in ("ratings", "value_counts")}
            for row in measured.disagreements.to_dict("records")
        ],
        "n_unrated": measured.labels.n_unrated,
    }
