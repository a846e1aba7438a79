"""`eval-assets plan`: simulated effect of more labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import data_option, database_option, question_of, resolve_database

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from eval_assets.cli.study_files import StudyFiles
    from eval_assets.config.rubric import RubricQuestion
    from eval_assets.labelling.planning import GatePlan
    from eval_assets.labelling.rubric_versions import RubricWording, VersionedLabels

_RATERS = 2
"""Raters of each further response."""

_GAIN = 0.1
"""Gain of a figure that is worth a revision of the guidelines (a choice)."""


@click.command()
@data_option
@database_option
@click.option(
    "--more",
    multiple=True,
    type=click.IntRange(1),
    default=(10, 20, 40, 80, 160),
    show_default=True,
    help="Further responses to try, each rated by two.",
)
@click.option("--simulations", type=click.IntRange(10), default=200, show_default=True)
@click.option("--question", metavar="QUESTION", help="Only this question.  [default: all]")
@click.option(
    "--gain",
    type=click.FloatRange(0, 1, min_open=True),
    default=_GAIN,
    show_default=True,
    help="Gain of a figure that new responses are to show after a rewording.",
)
@click.option(
    "--draw",
    is_flag=True,
    help="Assign that many new responses to the raters of --question, which was reworded.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Source of chance.")
def plan(  # noqa: PLR0913 - one parameter per option
    *,
    data: Path,
    database: str | None,
    more: tuple[int, ...],
    simulations: int,
    question: str | None,
    gain: float,
    draw: bool,
    seed: int,
) -> int:
    """Simulate the effect of more labels on the gates on human agreement, overall and by question.

    Further responses are drawn from those that two or more raters rated already, prompt by prompt:
    take them at random or stratified, as `eval-assets assign` does. For each number it prints how
    wide the interval then is and how likely it leaves no doubt about the gate.

    --draw assigns new responses to the raters of a question that was reworded: as many as show the
    gain in four of five studies, at random, and none that a rater has labelled on any question,
    because raters remember.
    """
    from eval_assets.cli.study_files import read_study
    from eval_assets.labelling.planning import plan_gates

    files = read_study(data, database=resolve_database(data, database))
    planned_questions = [
        item for item in files.evaluation.rubric if question in {None, *item.names}
    ]
    if question is not None and not planned_questions:
        question_of(files.evaluation, question)
    versions = _versions(files, resolve_database(data, database))
    if draw:
        if question is None:
            raise click.UsageError("--draw needs --question.")
        return _draw(files, versions, question, planned_questions, gain=gain, seed=seed)
    labels = versions.labels.ratings
    room = _room(files, labels)
    for gate_plan in plan_gates(
        files.evaluation,
        labels,
        scopes=[*([None] if question is None else []), *planned_questions],
        groups=_groups(files.responses),
        n_more=more,
        n_simulations=simulations,
        seed=seed,
    ):
        _print(gate_plan, room, gain)
    if question is None:
        _print_judges(data, database)
    return DONE


@dataclass(frozen=True)
class _Versions:
    """Labels of the latest round by version of their question.

    `all_labels` are those of every round and version.
    """

    labels: VersionedLabels
    wordings: Sequence[RubricWording]
    all_labels: pd.DataFrame


def _versions(files: StudyFiles, database: Path) -> _Versions:
    from datetime import UTC, datetime

    import pandas as pd

    from eval_assets.cli.study_files import stored_wordings
    from eval_assets.labelling.rubric_versions import by_rubric_version, new_wordings
    from eval_assets.readers.labels.read import read_labels
    from eval_assets.store.connection import connect, is_stored
    from eval_assets.store.inputs import labels_by_version

    evaluation = files.evaluation
    wordings: list[RubricWording] = []
    labels_before: Mapping[str, Mapping[str, list[tuple[str, str, int]]]] = {}
    if is_stored(database):
        with connect(database, folder=evaluation.folder, is_reading=True) as connection:
            wordings, labels_before = stored_wordings(connection), labels_by_version(connection)
    wordings += new_wordings(evaluation, wordings, labels_before, at=datetime.now(tz=UTC))
    labels = read_labels(evaluation, files.responses)
    versions = by_rubric_version(labels.ratings, evaluation.rubric, wordings)
    return _Versions(versions, wordings, pd.concat([labels.ratings, labels.earlier]))


def _draw(  # noqa: PLR0913 - the study, its labels, and how to draw
    files: StudyFiles,
    versions: _Versions,
    question_id: str,
    questions: Sequence[RubricQuestion],
    *,
    gain: float,
    seed: int,
) -> int:
    """Assign new responses to the raters of a reworded question, and print the next commands.

    `questions` are that question alone, or the options of that multi-select question.
    """
    import pandas as pd

    from eval_assets.config.labelling import ASSIGNMENTS
    from eval_assets.labelling.assignments import add_assignments
    from eval_assets.labelling.planning import draw_new_responses, plan_gates, responses_wanted
    from eval_assets.labelling.rubric_versions import labels_before_rewording
    from eval_assets.wording import counted

    folder = files.evaluation.folder
    before = pd.concat(
        [labels_before_rewording(versions.labels, item, versions.wordings) for item in questions]
    )
    if before.empty:
        raise click.UsageError(
            f"{question_id} has no labels under an earlier wording. Run eval-assets run --data "
            f"{quote(str(folder))}, which numbers the present one, then reword the question in "
            f"{folder}/evaluation.yaml."
        )
    n_required = responses_wanted(
        plan_gates(
            files.evaluation,
            before,
            scopes=questions,
            groups=_groups(files.responses),
            n_more=(),
            n_simulations=0,
            seed=seed,
        ),
        gain=gain,
    )
    if not n_required:
        raise click.UsageError(f"Both gates were open for {question_id} before it was reworded.")
    if math.isinf(n_required):
        raise click.UsageError(
            f"The labels before the rewording are too few to show a gain of {gain:g} over them. "
            "Take a larger --gain."
        )
    drawn = draw_new_responses(
        files.study,
        question_id,
        before=before,
        known=set(versions.all_labels["response_id"]),
        n_required=n_required,
        seed=seed,
    )
    click.echo(
        f"{question_id}: {n_required:,.0f} new responses show a gain of {gain:g} in four of five "
        f"studies; {drawn.n_assigned:,} are assigned already."
    )
    if drawn.assignments:
        add_assignments(folder, drawn.assignments)
        n_drawn = len({item.response_id for item in drawn.assignments})
        raters = ", ".join(dict.fromkeys(item.rater_id for item in drawn.assignments))
        click.echo(
            f"Added to {folder / ASSIGNMENTS}: {counted(n_drawn, 'response')} that no rater "
            f"has labelled, for {raters}. Raters have nothing else to label than what this "
            "file says.\n"
            f"Sheets: eval-assets sheet --new --data {quote(str(folder))}. Give raters the new "
            "guidelines with them; pages of eval-assets serve and label show them."
        )
    if drawn.n_missing:
        click.echo(f"{drawn.n_missing:,.0f} more are missing: add responses, and run this again.")
    return DONE


def _print_judges(data: Path, database: str | None) -> None:
    """Print the labels that would decide inconclusive verdicts of the last run on judges."""
    from eval_assets.cli.terminal_tables import print_groups_wanted
    from eval_assets.figures import JudgeHumanFigures
    from eval_assets.store.connection import connect, is_stored
    from eval_assets.store.figures import read_figures

    path = resolve_database(data, database)
    if is_stored(path):
        with connect(path, folder=data, is_reading=True) as connection:
            agreement = read_figures(connection, JudgeHumanFigures)
        click.echo()
        print_groups_wanted(agreement)


@dataclass(frozen=True)
class _Room:
    """Responses that `assign` can still give to raters.

    `n_assigned` is None if nothing is assigned: every rater then labels every response.
    """

    folder: Path
    n_free: int
    n_assigned: int | None
    n_raters: int

    def advice(self, n_more: int) -> str:
        """Return the command that has so many more responses rated by two raters."""
        from eval_assets.wording import counted

        if n_more > self.n_free:
            verb = "is" if self.n_free == 1 else "are"
            return f"Only {counted(self.n_free, 'response')} {verb} left. Add responses first."
        if self.n_assigned is None or self.n_raters < _RATERS:
            return ""
        total = self.n_assigned + n_more
        return (
            f"Run: eval-assets assign --data {quote(str(self.folder))} "
            f"--raters-per-response {_RATERS} --responses {total}"
        )


def _room(files: StudyFiles, labels: pd.DataFrame) -> _Room:
    folder, study, n_raters = files.evaluation.folder, files.study, len(files.study.raters)
    if study.assignments is None:
        n_rated = labels["response_id"].nunique()
        return _Room(folder, len(files.responses) - n_rated, None, n_raters)
    number = files.evaluation.labelling.round
    assigned = {
        item.response_id
        for item in study.assignments
        if item.round == number
        and item.question_id is None
        and item.purpose in {"shared", "single"}
    }
    free = set(files.responses["response_id"]) - assigned
    return _Room(folder, len(free), len(assigned), n_raters)


def _groups(responses: pd.DataFrame) -> pd.Series:
    from eval_assets.store.connection import connect
    from eval_assets.store.schema import read_table, replace_rows

    with connect(Path(":memory:")) as connection:
        replace_rows(connection, "responses", responses)
        rows = read_table(connection, "response_groups")
    return rows.set_index("response_id")["group_id"]


def _print(gate_plan: GatePlan, room: _Room, gain: float) -> None:
    from eval_assets.bands import FEWEST_GROUPS
    from eval_assets.wording import counted

    name = gate_plan.question_id or "all questions"
    click.echo(f"\n{name}: {gate_plan.gate}, minimum {gate_plan.minimum:g}")
    if math.isnan(gate_plan.now.value):
        click.echo(f"  undefined on {counted(gate_plan.n_responses, 'response')} with two ratings")
    else:
        interval = (
            "no interval"
            if math.isnan(gate_plan.now.low)
            else f"95 % interval {gate_plan.now.low:z.2f} to {gate_plan.now.high:z.2f}"
        )
        verdict = f"a certain {gate_plan.verdict}" if gate_plan.is_certain else "in doubt"
        click.echo(
            f"  now {gate_plan.now.value:z.3f}, {interval}, on {_evidence(gate_plan)}: "
            f"the verdict is {verdict}"
        )
    if gate_plan.is_certain:
        click.echo(
            "  No more labels are needed for this figure."
            if gate_plan.verdict == "pass"
            else "  More labels would not open this gate. Revise the guidelines first."
            + _after_revision(gate_plan, gain, room.folder)
        )
        return
    if not gate_plan.outlooks:
        click.echo(
            "  These labels do not tell what more would bring: they are too few, or hold no "
            "disagreement. Have ten more responses, to different prompts, rated by two."
        )
        return
    if (n_more := gate_plan.n_more) is not None:
        click.echo(
            f"  If the figure stays, about {counted(n_more, 'more response')} would decide it."
        )
    width = gate_plan.now.high - gate_plan.now.low
    for outlook in gate_plan.outlooks:
        is_one = outlook.n_more == 1
        click.echo(
            f"  {outlook.n_more:4} more {'response' if is_one else 'responses'} rated by two "
            f"{'brings' if is_one else 'bring'} the interval from "
            f"{width:.2f} to {outlook.width:.2f} wide; the verdict becomes certain with "
            f"probability {outlook.p_certain:.2f} (90 % interval {outlook.p_certain_low:.2f} to "
            f"{outlook.p_certain_high:.2f}; pass {outlook.p_pass:.2f})"
        )
    if (enough := gate_plan.recommended) is not None:
        advice = f"Recommended: {enough.n_more} more, at random or stratified."
        click.echo(f"  {advice} {room.advice(enough.n_more)}".rstrip())
    elif (promising := gate_plan.promising) is not None:
        click.echo(
            f"  {promising.n_more} more may decide it, but the labels at hand leave that in "
            "doubt: have some of them rated, and plan again."
        )
    elif n_more is not None:
        click.echo(
            "  The labels at hand leave in doubt whether it does: have that many rated, and plan "
            "again."
        )
    elif gate_plan.now.n_groups < FEWEST_GROUPS:
        click.echo("  These labels are too few to tell: have ten more responses rated by two.")
    else:
        click.echo(
            "  No number of labels decides it: the figure is too close to the minimum. Revise the "
            "guidelines rather than label more."
        )


def _after_revision(gate_plan: GatePlan, gain: float, folder: Path) -> str:
    """Return the number of new responses that would show the effect of revised guidelines."""
    from eval_assets.labelling.planning import responses_to_show

    if math.isnan(gate_plan.now.low):
        return ""
    n = responses_to_show(gain, now=gate_plan.now, n_responses=gate_plan.n_responses)
    if math.isinf(n):
        return (
            " The figure is too uncertain for any number of new responses to show a gain of "
            f"{gain:g}."
        )
    sentence = (
        f"\n  Then {n:,.0f} new responses, rated by as many, show a gain of {gain:g} in four of "
        "five studies (raters remember responses that they rated before)."
    )
    if gate_plan.question_id is None:
        return sentence
    options = f"--question {quote(gate_plan.question_id)} --gain {gain:g} --draw"
    command = f"eval-assets plan --data {quote(str(folder))} {options}"
    return f"{sentence}\n  Reworded, draw them: {command}"


def _evidence(gate_plan: GatePlan) -> str:
    from eval_assets.wording import counted

    n_groups = gate_plan.now.n_groups
    of_groups = f" in {counted(n_groups, 'group')}" if n_groups < gate_plan.n_responses else ""
    return f"{counted(gate_plan.n_responses, 'response')}{of_groups}"
