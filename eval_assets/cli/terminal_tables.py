"""Tables of figures, as lines of 80 columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from eval_assets.wording import labels_wanted, tested_verdict, unevaluated_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    import duckdb

    from eval_assets.agreement.gates.decision import GateOutcome
    from eval_assets.config.evaluation import Evaluation
    from eval_assets.figures import HumanFigures
    from eval_assets.shown.blocks import Table


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Sequence[str] = (),
) -> None:
    """Print a table below its title; columns of numbers are aligned right and never wrapped."""
    from eval_assets.shown.blocks import Column, Table, text_cell

    head = tuple(Column(name, name, is_number=name in numbers) for name in columns)
    _print(Table(title, head, tuple(tuple(map(text_cell, row)) for row in rows)))


def _print(table: Table) -> None:
    from eval_assets.shown.terminal import table_lines

    click.echo("\n".join([table.name, *table_lines(table), ""]))


def print_measured(
    connection: duckdb.DuckDBPyConnection,
    evaluation: Evaluation,
    outcomes: tuple[GateOutcome, ...],
    *,
    stale: str,
    certificates: Sequence[Mapping[str, Any]],
) -> None:
    """Print human agreement, judges against humans, and each gate's figures.

    `stale` says why the figures of judges are older than the data.
    """
    from eval_assets.agreement.rounds import rewording_sentences
    from eval_assets.figures import HumanFigures, JudgeHumanFigures, RubricVersionFigures
    from eval_assets.shown.gates import gates_notes, gates_table
    from eval_assets.shown.records import JUDGES_AGAINST_HUMANS, NARROW, figures_table
    from eval_assets.shown.terminal import wrapped
    from eval_assets.store.figures import read_figures
    from eval_assets.store.gates import stored_findings
    from eval_assets.store.schema import count_rows, read_rows

    print_humans(read_figures(connection, HumanFigures))
    for finding in stored_findings(connection):
        click.echo(f"{finding.question_id}: {finding.finding}.\n")
    for unpaired in read_rows(connection, "no_longer_paired", order_by="question_id"):
        question_id, n = unpaired["question_id"], unpaired["n_responses"]
        click.echo(
            f"{question_id}: {n:,} response{'s' if n > 1 else ''} had two ratings in an earlier "
            "round and fewer in the latest, which counts.\n"
        )
    for sentence in rewording_sentences(read_figures(connection, RubricVersionFigures), evaluation):
        click.echo(f"{sentence}.\n")
    if stale:
        click.echo(f"{stale}\n")
    judged = [of for of in read_figures(connection, JudgeHumanFigures) if of.n_units]
    if judged:
        _print(
            figures_table(
                judged,
                [of for of in JUDGES_AGAINST_HUMANS if of not in NARROW],
                name="Judges against humans",
            )
        )
    if count_rows(connection, "held_out_units"):
        click.echo("Judges are compared with people outside the held-out test.\n")
    _print(gates_table(outcomes))
    for note in gates_notes(outcomes):
        click.echo("\n".join([*wrapped(note, first="", rest=""), ""]))
    print_certificates(EvaluatedJudges.of(certificates, connection))


@dataclass(frozen=True)
class EvaluatedJudges:
    """Rows of the tables on held-out tests.

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
    ) -> EvaluatedJudges:
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


def print_certificates(tests: EvaluatedJudges) -> None:
    """Print the verdicts of held-out tests on judges, with their evidence and validity."""
    if tests.certificates:
        _print_tested(tests)
    for judge_id, version in tests.unused_versions.items():
        click.echo(
            f"To rate as certified, set version: {version} for {judge_id} in evaluation.yaml.\n"
        )
    for sentence in unevaluated_sentences(tests.unevaluated):
        click.echo(f"{sentence}\n")


def _print_tested(tests: EvaluatedJudges) -> None:
    from eval_assets.wording import count_text

    print_table(
        "Judges on their held-out tests",
        ("judge", "version", "question", "can replace a rater", "better than before", "groups"),
        [
            (
                row["judge_id"],
                row["version"],
                row["question_id"],
                _fitness(row),
                tested_verdict(row["improvement"], is_stale=row["stale_because"] is not None),
                "--" if row["n_groups"] is None else count_text(row["n_groups"]),
            )
            for row in tests.certificates
        ],
        numbers=("groups",),
    )
    for row in tests.certificates:
        stale = row["stale_because"]
        note = f"stale: {stale}" if stale else _reason(row, tests.plans)
        click.echo(f"{row['judge_id']} {row['version']}, {row['question_id']}: {note}.")
        if row["certificate"] and not stale:
            for limit in json.loads(row["certificate"]).get("limits", ()):
                click.echo(limit)
        click.echo()


def _fitness(row: Mapping[str, Any]) -> str:
    """Return the verdict on fitness; of a part, with its share of the responses."""
    verdict = row["fitness"]
    if row["claim"] == "fit_in_part":
        verdict = f"on {100 * row['share']:.0f} %"
    return tested_verdict(verdict, is_stale=row["stale_because"] is not None)


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


def print_verdicts(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print all results of a test."""
    from eval_assets.wording import figure_text, or_nan

    figures = ("kappa", "kappa_people", "gap", "gain", "gain_low", "gain_high")
    print_table(
        "What the test says",
        ("judge", "version", "claim", "verdict", *figures),
        [
            (
                *(str(row[name]) for name in ("judge_id", "version", "kind", "verdict")),
                *(figure_text(or_nan(row.get(name))) for name in figures),
            )
            for row in rows
        ],
        numbers=figures,
    )
    for reason in dict.fromkeys(str(row["reason"]) for row in rows):
        click.echo(f"{reason}.")


def print_humans(agreement: Sequence[HumanFigures]) -> None:
    """Print agreement of human raters, overall and by question."""
    from eval_assets.shown.records import HUMANS, NARROW, figures_table
    from eval_assets.wording import counted

    if not agreement:
        return
    overall = agreement[0]
    if not overall.n_ratings:
        click.echo("Human agreement: nothing is rated.\n")
        return
    people = counted(overall.n_raters, "rater")
    name = f"Human agreement: {counted(overall.n_ratings, 'rating')} by {people}"
    rows = agreement if len(agreement) > 2 else agreement[-1:]  # noqa: PLR2004 - an only question
    _print(figures_table(rows, [of for of in HUMANS if of not in NARROW], name=name))
