"""Tables of figures: coloured and fitted in a terminal, plain text in a pipe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from eval_assets.bands import FEW_GROUPS
from eval_assets.verdicts import GateState
from eval_assets.wording import (
    HELD_OUT,
    counted,
    labels_wanted,
    signed_text,
    tested_verdict,
    unevaluated_sentences,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import duckdb

    from eval_assets.agreement.gates.decision import GateOutcome
    from eval_assets.catalogue import Figure
    from eval_assets.config.evaluation import Evaluation
    from eval_assets.figures import HumanFigures, JudgeHumanFigures

_PIPE_WIDTH = 10_000
"""Width of output to a file or a pipe, whose rows are never wrapped."""


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    numbers: Sequence[str] = (),
) -> None:
    """Print a table below its title; columns of numbers are aligned right and never wrapped."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        is_number = column in numbers
        table.add_column(
            column, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    with console.capture() as printed:
        console.print(Text(title, style="bold"))
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in printed.get().splitlines()))  # rich pads them
    click.echo()


def print_measured(
    connection: duckdb.DuckDBPyConnection,
    evaluation: Evaluation,
    outcomes: tuple[GateOutcome, ...],
    *,
    stale: str,
    certificates: Sequence[Mapping[str, Any]],
) -> None:
    """Print human agreement, judges against humans, and each gate's verdict.

    `stale` says why the figures of judges are older than the data.
    """
    from eval_assets.agreement.rounds import rewording_sentences
    from eval_assets.figures import HumanFigures, JudgeHumanFigures, RubricVersionFigures
    from eval_assets.store.figures import read_figures
    from eval_assets.store.gates import stored_findings
    from eval_assets.store.schema import count_rows, read_rows

    print_humans(read_figures(connection, HumanFigures))
    for finding in stored_findings(connection):
        if finding.kind == "pattern":
            click.echo(f"{finding.question_id}: {finding.finding}.\n")
    for unpaired in read_rows(connection, "no_longer_paired", order_by="question_id"):
        question_id, n = unpaired["question_id"], unpaired["n_responses"]
        click.echo(
            f"{question_id}: {n:,} response{'s' if n > 1 else ''} had two ratings in an earlier "
            "round and fewer in the latest, which\ndecides: they no longer count as agreement or "
            "disagreement. Have two raters rate them.\n"
        )
    for sentence in rewording_sentences(read_figures(connection, RubricVersionFigures), evaluation):
        click.echo(f"{sentence}.\n")
    if stale:
        click.echo(f"{stale}\n")
    print_judges(read_figures(connection, JudgeHumanFigures), outcomes, evaluation)
    if count_rows(connection, "held_out_units"):
        click.echo(f"{HELD_OUT}\n")
    print_gates(evaluation, outcomes)
    print_certificates(SealedTests.of(certificates, connection))


@dataclass(frozen=True)
class SealedTests:
    """Rows of the tables on sealed tests.

    Args:
        certificates: Rows of `judge_certificates`.
        plans: Rows of `sealed_test_plans`.
        unevaluated: Reasons why tests were not evaluated, by question.
        in_use: Version of each judge in use.
    """

    certificates: Sequence[Mapping[str, Any]]
    plans: Sequence[Mapping[str, Any]]
    unevaluated: Mapping[str, str]
    in_use: Mapping[str, str]

    @classmethod
    def of(
        cls, certificates: Sequence[Mapping[str, Any]], connection: duckdb.DuckDBPyConnection
    ) -> SealedTests:
        """Return certificates with the rows of the other tables."""
        from eval_assets.store.schema import read_rows
        from eval_assets.store.scores import unevaluated_tests, versions_rated_as

        return cls(
            certificates,
            read_rows(connection, "sealed_test_plans", order_by="judge_id, question_id"),
            unevaluated_tests(connection),
            versions_rated_as(connection),
        )

    @property
    def unused_versions(self) -> dict[str, str]:
        """Last certified version of each judge that uses another version."""
        rows = [row for row in self.certificates if row["claim"] and not row["stale_because"]]
        last = {row["judge_id"]: row["version"] for row in sorted(rows, key=_time_of)}
        versions = {judge_id: v for judge_id, v in last.items() if judge_id in self.in_use}
        return {judge_id: v for judge_id, v in versions.items() if v != self.in_use[judge_id]}


def _time_of(row: Mapping[str, Any]) -> tuple[datetime, str]:
    return row["created_at"], row["version"]


def print_certificates(tests: SealedTests) -> None:
    """Print the verdicts of sealed tests on judges, with their evidence and validity."""
    if tests.certificates:
        _print_tested(tests)
    for judge_id, version in tests.unused_versions.items():
        click.echo(
            f"To rate as certified, set version: {version} for {judge_id} in evaluation.yaml.\n"
        )
    for sentence in unevaluated_sentences(tests.unevaluated):
        click.echo(f"{sentence}\n")


def _print_tested(tests: SealedTests) -> None:
    print_table(
        "Judges on their sealed tests",
        ("judge", "version", "question", "may stand in", "better than before", "groups"),
        [
            (
                row["judge_id"],
                row["version"],
                row["question_id"],
                _fitness(row),
                _verdict(row["improvement"], is_stale=row["stale_because"] is not None),
                "--" if row["n_groups"] is None else f"{row['n_groups']:,}",
            )
            for row in tests.certificates
        ],
        numbers=("groups",),
    )
    for row in tests.certificates:
        stale = row["stale_because"]
        note = f"stale: {stale}" if stale else _reason(row, tests.plans)
        click.echo(f"{row['judge_id']} {row['version']}, {row['question_id']}: {note}.\n")


def _reason(row: Mapping[str, Any], plans: Sequence[Mapping[str, Any]]) -> str:
    """Return the reason of a verdict, and the labels that would decide an undecided one."""
    unit = row["judge_id"], row["version"], row["question_id"]
    labels = [
        labels_wanted(
            row["groups_wanted"],
            n_groups=row["n_groups"] or 0,
            groups_at_gap=plan["groups_at_gap"],
            responses_per_group=plan["responses_per_group"],
            labels_per_group=plan["labels_per_group"],
        )
        for plan in plans
        if (plan["judge_id"], plan["version"], plan["question_id"]) == unit
        and row["groups_wanted"] is not None
    ]
    return "; ".join([row["reason"], *labels])


def print_verdicts(rows: Sequence[Mapping[str, object]]) -> None:
    """Print all results of a test."""
    figures = ("kappa", "kappa_baseline", "gain", "gain_low", "gain_high", "kappa_people", "gap")
    print_table(
        "What the test says",
        ("judge", "version", "claim", "verdict", *figures, "note"),
        [
            (
                str(row["judge_id"]),
                str(row["version"]),
                str(row["kind"]),
                str(row["verdict"]),
                *("--" if row.get(n) is None else _number(float(str(row[n]))) for n in figures),
                str(row["reason"]),
            )
            for row in rows
        ],
        numbers=figures,
    )


def _fitness(row: Mapping[str, Any]) -> Text:
    """Return the verdict on fitness; of a part, with its share of the responses."""
    is_stale = row["stale_because"] is not None
    if row["claim"] == "fit_in_part":
        words = tested_verdict(f"on {100 * row['share']:.0f} %", is_stale=is_stale)
        return Text(words, style="yellow" if is_stale else "green")
    return _verdict(row["fitness"], is_stale=is_stale)


def _verdict(verdict: str | None, *, is_stale: bool) -> Text:
    styles = {"fit": "green", "accepted": "green", "unfit": "red", "rejected": "red"}
    style = "yellow" if is_stale else styles.get(str(verdict), "yellow")
    return Text(tested_verdict(verdict, is_stale=is_stale), style=style if verdict else "")


def print_humans(agreement: Sequence[HumanFigures]) -> None:
    """Print agreement of human raters, overall and by question."""
    if not agreement:
        return
    overall = agreement[0]
    if not overall.n_ratings:
        click.echo("Human agreement: nothing is rated.\n")
        return
    numbers = (
        *("A^HH", "95 % interval", "by chance"),
        *("alpha", "95 % interval", "responses", "groups"),
    )
    print_table(
        f"Human agreement: {counted(overall.n_ratings, 'rating')} by "
        f"{counted(overall.n_raters, 'rater')}",
        ("question", *numbers),
        [
            (
                row.question_id or Text("all questions", style="bold"),
                _number(row.a_hh.value),
                _interval(row.a_hh),
                _number(row.a_hh_by_chance),
                _number(row.alpha.value),
                _interval(row.alpha),
                f"{row.n_responses:,}",
                f"{row.n_groups:,}",
            )
            for row in agreement
        ],
        numbers=numbers,
    )
    for remark in _remarks(agreement) if overall.n_pairs else ():
        click.echo(f"{remark}\n")


def _remarks(agreement: Sequence[HumanFigures]) -> Iterator[str]:
    """Yield notes on the limits of human agreement, such as few groups or pooled questions."""
    overall, *questions = agreement
    few = [row.question_id or "" for row in questions if 0 < row.n_groups < FEW_GROUPS]
    if few:
        scope = "" if len(few) == len(questions) else f" on {', '.join(few)}"
        rule = "\nResponses to one prompt, or of one conversation, form a group."
        is_grouped = any(row.n_groups < row.n_responses for row in questions)
        yield (
            f"Fewer than {FEW_GROUPS} response groups{scope}: use the intervals, not the "
            f"values.{rule if is_grouped else ''}"
        )
    if len(questions) == 1 and _number(questions[0].alpha.value) != _number(overall.alpha.value):
        yield (
            f"Alpha of all questions is at the {overall.alpha_level} level, which the gates use;\n"
            f"of the question it is at the {questions[0].alpha_level} level. Both are of the same "
            "ratings."
        )
    if len(questions) > 1 and overall.alpha_within.is_defined:
        yield (
            "Alpha of all questions counts differences between questions as agreement;\nwithin "
            f"questions it is {_number(overall.alpha_within.value)} "
            f"{_interval(overall.alpha_within)}."
        )


def print_judges(
    agreement: Sequence[JudgeHumanFigures],
    outcomes: Sequence[GateOutcome],
    evaluation: Evaluation,
) -> None:
    """Print the agreement of each judge with humans, beside its controls.

    Values without order have neither a rank correlation nor a bias.
    """
    if not any(row.n_units for row in agreement):
        return
    ordered = {question.id for question in evaluation.rubric if question.has_order}
    numbers = ("A^HA", "constant", "shuffled", "Spearman", "bias", "responses", "groups")
    print_table(
        "Judges against humans",
        ("judge", "question", *numbers, "verdict"),
        [
            (
                row.judge_id,
                row.question_id,
                _number(row.a_ha.value),
                _number(row.a_ha_constant),
                _number(row.a_ha_shuffled),
                _number(row.spearman.value if row.question_id in ordered else math.nan),
                _bias(row, is_ordered=row.question_id in ordered),
                f"{row.n_units:,}{' conversations' if row.unit == 'conversation' else ''}",
                f"{row.n_groups:,}",
                _judge_verdict(row, outcomes),
            )
            for row in agreement
        ],
        numbers=numbers,
    )
    print_groups_wanted([row for row in agreement if not _why_not_judged(row, outcomes)])


def print_groups_wanted(agreement: Sequence[JudgeHumanFigures]) -> None:
    """Print the number of response groups that would decide each inconclusive verdict."""
    from eval_assets.agreement.judge_verdicts import more_groups_sentence

    for sentence in filter(None, map(more_groups_sentence, agreement)):
        click.echo(f"{sentence}\n")


def _why_not_judged(row: JudgeHumanFigures, outcomes: Sequence[GateOutcome]) -> str:
    from eval_assets.agreement.judge_verdicts import why_not_judged

    return why_not_judged(row, outcomes)


def _judge_verdict(row: JudgeHumanFigures, outcomes: Sequence[GateOutcome]) -> str:
    if reason := _why_not_judged(row, outcomes):
        return f"cannot be judged: {reason}"
    return row.verdict.sentence


def print_gates(evaluation: Evaluation, outcomes: tuple[GateOutcome, ...]) -> None:
    """Print the verdict of each gate of an evaluation, and the gates that do not apply."""
    from eval_assets.catalogue import Figure

    rows: list[tuple[str | Text, ...]] = [
        (
            outcome.gate,
            _state(outcome),
            _interval(Figure(outcome.overall.value, outcome.overall.low, outcome.overall.high)),
            outcome.reason,
        )
        for outcome in outcomes
    ]
    if len(evaluation.judges) < 2:  # noqa: PLR2004 - two judges can agree
        n_judges = "one judge" if evaluation.judges else "no judge"
        reason = f"does not apply: it takes two judges, and {n_judges} is declared"
        rows.append(("judge_alpha", "--", "--", reason))
    print_table(
        "Gates", ("gate", "state", "95 % interval", "reason"), rows, numbers=("95 % interval",)
    )


def _state(outcome: GateOutcome) -> Text:
    """Return the state of a gate, coloured; an open one with a figure below its minimum warns."""
    if outcome.is_closed:
        return Text("CLOSED", style="bold red")
    if outcome.state in {GateState.UNDECIDED, GateState.PARTLY_OPEN}:
        return Text(outcome.state.value, style="yellow")
    if outcome.passed:
        return Text("open", style="green")
    return Text("open" if outcome.overall.verdict == "pass" else "warns", style="yellow")


def _number(value: float | None) -> str:
    """Return a number as written; "--" if it is undefined."""
    return "--" if value is None or math.isnan(value) else f"{value:z.3f}"


def _bias(row: JudgeHumanFigures, *, is_ordered: bool) -> str:
    return signed_text(row.bias.value) if is_ordered and row.bias.is_defined else "--"


def _interval(figure: Figure) -> str:
    if not figure.has_interval:
        return "--"
    return f"[{_number(figure.low)}, {_number(figure.high)}]"
