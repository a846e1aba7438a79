"""Certificates: what held-out tests say of judges, for every screen."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eval_assets.shown.blocks import Cell, Column, Table, text_cell, verdict_cell
from eval_assets.verdicts import Verdict, state_of_test
from eval_assets.wording import count_text, figure_text, listed, or_nan, percent_text, planned

if TYPE_CHECKING:  # a screen needs none of what tunes judges
    from eval_assets.tuning.power import Plan

StoredRow = Mapping[str, Any]

_CLAIMS = {"fit": "all responses", "improved": "not a rater; better than before"}


def certificate_verdict(row: StoredRow) -> Verdict:
    """Return the verdict of a row of `judge_certificates` on replacing a rater."""
    return Verdict.NOT_MEASURED if row["stale_because"] else Verdict[row["state"].upper()]


def certificates_table(rows: Sequence[StoredRow]) -> Table:
    """Return the verdict of each held-out test, with what it permits and until when."""
    columns = (
        Column("judge", "judge"),
        Column("version", "version"),
        Column("question", "question"),
        Column("verdict", "verdict"),
        Column("replaces", "may replace a rater on"),
        Column("n_groups", "groups", is_number=True),
        Column("evaluated", "evaluated on", is_wide=True),
        Column("until", "until", is_wide=True),
    )
    cells = []
    for row in rows:
        replaces = "--"
        if row["claim"] and not row["stale_because"]:
            share = f"{percent_text(row['share'] or 1.0)} of responses"
            replaces = _CLAIMS.get(row["claim"], share)
        n_groups = row["n_groups"]
        cells.append(
            (
                text_cell(row["judge_id"]),
                text_cell(row["version"]),
                text_cell(row["question_id"]),
                verdict_cell(certificate_verdict(row)),
                text_cell(replaces),
                Cell("" if n_groups is None else count_text(n_groups), n_groups),
                text_cell(str(row["created_at"] or "")[: len("2026-01-01")]),
                text_cell(str(_statement(row).get("valid_until", ""))),
            )
        )
    return Table("Certificates", columns, tuple(cells))


def certificates_notes(rows: Sequence[StoredRow], unevaluated: Mapping[str, str]) -> Iterator[str]:
    """Yield the limits of certificates, why some are no longer valid, and why tests are missing.

    `rows` are of `judge_certificates`; the reasons `unevaluated` are by question.
    """
    for row in rows:
        subject = f"{row['judge_id']} on {row['question_id']}"
        if row["stale_because"]:
            yield f"{subject}: no longer valid, because {row['stale_because']}."
        else:
            yield from (f"{subject}: {limit}" for limit in _statement(row).get("limits", ()))
    questions: dict[str, list[str]] = {}
    for question_id, reason in unevaluated.items():
        questions.setdefault(reason, []).append(question_id)
    for reason, ids in questions.items():
        verb = "s of {} were" if len(ids) > 1 else " of {} was"
        yield f"The held-out test{verb.format(listed(ids))} not evaluated: {reason}."


def certificates_reasons(rows: Sequence[StoredRow]) -> Iterator[str]:
    """Yield the reason of each verdict that is in force."""
    for row in rows:
        if not row["stale_because"]:
            yield f"{row['judge_id']} {row['version']} on {row['question_id']}: {row['reason']}."


def versions_notes(rows: Sequence[StoredRow], in_use: Mapping[str, str]) -> Iterator[str]:
    """Yield what to declare for judges that rate as another version than the certified one.

    `rows` are of `judge_certificates`.
    """
    held = [row for row in rows if row["claim"] and not row["stale_because"]]
    held.sort(key=lambda row: (row["created_at"], row["version"]))
    for judge_id, version in {row["judge_id"]: row["version"] for row in held}.items():
        if in_use.get(judge_id, version) != version:
            yield (
                f"To rate as certified, set version: {version} for {judge_id} in evaluation.yaml."
            )


def test_table(rows: Sequence[StoredRow]) -> Table:
    """Return all figures of a question's test, a row for each judge and claim."""
    figures = ("kappa", "kappa_people", "gap", "gain", "gain_low", "gain_high")
    columns = [Column(name, name) for name in ("judge", "version", "claim", "verdict")]
    columns += [Column(name, name.replace("_", " "), is_number=True) for name in figures]
    cells = (
        (
            *(text_cell(str(row[name])) for name in ("judge_id", "version", "kind")),
            verdict_cell(state_of_test(row["verdict"], has_pairs=bool(row.get("n_units")))),
            *(Cell(figure_text(or_nan(row.get(name))), row.get(name)) for name in figures),
        )
        for row in rows
    )
    return Table("What the test says", tuple(columns), tuple(cells))


def labels_sentence(plan: "Plan") -> str:
    """Return the number of responses and labels that find a judge fit in four of five tries.

    Empty if that is undefined.
    """
    if plan.groups_if_equal is None:
        return ""
    equal, at_gap = (
        None if n_groups is None else _responses_and_labels(n_groups, plan)
        for n_groups in (plan.groups_if_equal, plan.groups_at_gap)
    )
    words = f"at the level of the next evaluation a judge equal to people takes {equal} in all"
    if at_gap is None:
        return f"{words}; by train and dev this one lies more than the margin below people"
    return f"{words}, this one at its gap on train and dev {at_gap}"


def _responses_and_labels(n_groups: int, plan: "Plan") -> str:
    """Return the rated responses and labels that so many groups in the test come with."""
    n_responses = planned(math.ceil(n_groups * plan.responses_per_group))
    n_labels = planned(math.ceil(n_groups * plan.labels_per_group))
    return f"about {n_responses:,} rated responses ({n_labels:,} labels)"


def _statement(row: StoredRow) -> Mapping[str, Any]:
    """Return the certificate of a row, which a database holds as text."""
    certificate = row["certificate"] or {}
    return json.loads(certificate) if isinstance(certificate, str) else certificate
