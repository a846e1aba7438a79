"""`eval-assets assign`: assignment of responses to raters."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import click

from eval_assets.cli.exit_codes import DONE
from eval_assets.cli.options import data_option, database_option, question_of, resolve_database

if TYPE_CHECKING:
    from pathlib import Path

    from eval_assets.cli.study_files import StudyFiles
    from eval_assets.labelling.assignments import Assignment, AssignmentPlan

Stage = Literal["calibration", "expanded", "full"]

_SIZES: dict[Stage, int] = {"calibration": 50, "expanded": 100, "full": 150}
"""Responses of each stage: 5 x 10 and 5 x 20 that every rater labels, then a sample of the rest."""


@click.command("assign")
@data_option
@database_option
@click.option(
    "--stage",
    type=click.Choice(["calibration", "expanded", "full"]),
    help="50 responses on the first question, then 100, both labelled by every rater, then a "
    "sample of 150 split as evaluation.yaml says.",
)
@click.option("--responses", type=click.IntRange(1), help="How many in this round.  [default: all]")
@click.option("--overlap", type=click.FloatRange(0, 1), help="Share that every rater labels.")
@click.option(
    "--raters-per-response",
    type=click.IntRange(1),
    help="Raters of each response that not every rater labels, in teams that change so that "
    "loads are even and any two raters share responses. Without --overlap, of all responses.",
)
@click.option(
    "--reassign",
    metavar="RATER",
    help="Give the responses that this rater has not labelled yet to the others.",
)
@click.option("--per-rater", type=click.IntRange(1), help="Most responses for one rater.")
@click.option(
    "--stratify",
    multiple=True,
    help="Columns whose values are all represented.  [with commas]",
)
@click.option("--equal", is_flag=True, help="As many of each stratum, not in proportion.")
@click.option(
    "--repeat", type=click.FloatRange(0, 1), default=0.0, help="Share that comes back once more."
)
@click.option(
    "--unlabelled",
    is_flag=True,
    help="Only responses that no rater has labelled: after a rewording raters remember the others.",
)
@click.option("--question", help="Only this question.  [default: all]")
@click.option("--seed", type=int, default=0, show_default=True, help="Source of the order.")
def assign(  # noqa: PLR0913 - one parameter per option
    *,
    data: Path,
    database: str | None,
    stage: Stage | None,
    responses: int | None,
    overlap: float | None,
    raters_per_response: int | None,
    reassign: str | None,
    per_rater: int | None,
    stratify: tuple[str, ...],
    equal: bool,
    repeat: float,
    unlabelled: bool,
    question: str | None,
    seed: int,
) -> int:
    """Write assignments.csv: the responses of each rater in the round of evaluation.yaml.

    Responses are drawn at random, or at random within strata: agreement on those that several
    raters label then holds for the others too.

    What is assigned stays assigned: run it again after adding responses or to go on to the next
    stage, and it adds missing assignments. The order of a rater's rows is the order of their work.

    --reassign takes no other options. The raters who take over are those of evaluation.yaml; add a
    new rater there first.
    """
    from eval_assets.cli.study_files import read_study
    from eval_assets.config.labelling import ASSIGNMENTS
    from eval_assets.labelling.assignments import AssignmentPlan, add_assignments, strata_of
    from eval_assets.labelling.assignments import assign as assigned
    from eval_assets.readers.labels.read import read_labels
    from eval_assets.wording import counted

    stratify = tuple(name.strip() for names in stratify for name in names.split(","))
    files = read_study(data, database=resolve_database(data, database))
    labelling = files.evaluation.labelling
    raters, n_raters = files.study.raters, raters_per_response or 1
    if len(raters) < n_raters:
        names = ", ".join([*raters, "anna", "ben", "chloe"][: max(n_raters, 2)])
        raise click.UsageError(
            f"{data}/evaluation.yaml names {'too few' if raters else 'no'} raters. "
            f"Add: labelling: {{raters: [{names}]}}"
        )
    if reassign is not None:
        return _reassign(files, reassign)
    if question is not None and not any(question in q.names for q in files.evaluation.rubric):
        question_of(files.evaluation, question)
    planned_overlap = labelling.overlap if raters_per_response is None else 0.0
    if stage in {"calibration", "expanded"}:
        planned_overlap = 1.0
    planned_overlap = planned_overlap if overlap is None else overlap
    try:
        strata = strata_of(files.responses, stratify)
        plan = AssignmentPlan(
            raters=raters,
            n_responses=responses or (_SIZES[stage] if stage else None),
            overlap=planned_overlap,
            raters_per_response=n_raters,
            per_rater=per_rater or labelling.per_rater,
            allocation="equal" if equal else "proportional",
            repeat_share=repeat,
            question_id=files.evaluation.rubric[0].names[-1]
            if stage == "calibration"
            else question,
            round=labelling.round,
            seed=seed,
        )
    except ValueError as error:
        raise click.UsageError(f"{error}.") from error
    existing = list(files.study.assignments or ())
    is_short = False
    if unlabelled:
        labels = read_labels(files.evaluation, files.responses)
        labelled = {*labels.ratings["response_id"], *labels.earlier["response_id"]}
        strata = {name: of for name, of in strata.items() if name not in labelled}
        existing = [of for of in existing if of.response_id in strata]
        lacking = max((plan.n_responses or 0) - len(strata), 0)
        is_short = lacking > 0 or not strata
        if is_short:
            further = counted(lacking, "response") if lacking else "responses"
            number = f"{len(strata):,}" if strata else "none"
            click.echo(f"Add {further}, then run this again: so far {number} are without a label.")
    added = assigned(strata, plan, existing=existing)
    if added:
        add_assignments(data, added)
    if added or not is_short:
        _report(added, data / ASSIGNMENTS, plan, stratify)
    return DONE


def _reassign(files: StudyFiles, rater: str) -> int:
    """Give the open assignments of a rater to the others, and print who has how many more."""
    from eval_assets.labelling.assignments import reassign, replace_assignments
    from eval_assets.readers.labels.read import read_labels

    study, number = files.study, files.evaluation.labelling.round
    assignments = study.assignments or ()
    if not any((item.rater_id, item.round) == (rater, number) for item in assignments):
        raise click.UsageError(f"{rater} has no assignments in round {number}.")
    labels = read_labels(files.evaluation, files.responses).ratings
    of_rater = labels[(labels["rater_id"] == rater) & (labels["round"] == number)]
    units = set(zip(of_rater["response_id"], of_rater["question_id"], strict=True))

    def questions_of(assignment: Assignment) -> tuple[list[str], list[str]]:
        response = study.responses.get(assignment.response_id)
        questions = response.questions if response else ()
        names = [item.id for item in questions if assignment.question_id in {None, *item.names}]
        labelled = [name for name in names if (assignment.response_id, name) in units]
        return labelled, [name for name in names if name not in labelled]

    result = reassign(assignments, rater, to=study.raters, round=number, questions_of=questions_of)
    if result.taken_over or result.dropped:
        replace_assignments(files.evaluation.folder, result.assignments)
    click.echo(f"Reassigned from {rater}: {len(result.taken_over)}")
    for taker, n in Counter(item.rater_id for item in result.taken_over).items():
        click.echo(f"  {taker:20}{n:>10}")
    if result.dropped:
        click.echo(f"Removed, since no other rater can take them over: {len(result.dropped)}")
    return DONE


def _report(
    added: list[Assignment], path: Path, plan: AssignmentPlan, stratify: tuple[str, ...]
) -> None:
    if not added:
        click.echo(f"Nothing to add: {path} holds all that the plan asks for.")
        return
    counts = Counter((item.rater_id, item.purpose) for item in added)
    purposes = {item.purpose for item in added}
    columns = [purpose for purpose in ("shared", "single", "repeat") if purpose in purposes]
    planned_questions = plan.question_id or "every question"
    click.echo(f"Added to {path}, round {plan.round}, {planned_questions}:")
    click.echo(f"  {'rater':20}" + "".join(f"{purpose:>10}" for purpose in columns))
    for rater in plan.raters:
        click.echo(f"  {rater:20}" + "".join(f"{counts[rater, p]:>10}" for p in columns))
    strata = f" within each {' and '.join(stratify)}" if stratify else ""
    sizes = ", the same number of each" if stratify and plan.allocation == "equal" else ""
    click.echo(f"Responses are drawn at random{strata}{sizes}.")
