"""Checks on labels and on judging: coverage, models, independence and budget."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime

import dagster as dg
import pandas as pd

from eval_assets.assets.judging import judge_scores
from eval_assets.assets.labelling import human_labels
from eval_assets.assets.live_judging import (
    declared_template,
    judge_fingerprints,
    prompts_in_use,
    versions_in_use,
)
from eval_assets.assets.metadata import Metadata, rows_as_metadata, without_blanks
from eval_assets.assets.recipes import checks
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.bands import LOWEST_COVERAGE
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Generator, Judge
from eval_assets.judges.catalogue.models import ENDS_SOON, end_of, shared_family
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.scale import TOLERANCE
from eval_assets.store.inputs import rejected_labels
from eval_assets.store.ledger.attempts import spent_in_month
from eval_assets.store.schema import read_rows
from eval_assets.store.scores import judged_models, score_coverage
from eval_assets.store.tuned_judges import checked_certificates
from eval_assets.wording import counted, listed, percent_text, shortened

_MOST_NAMED = 3
"""Largest number of models that a finding names."""

_REMEDIES = {
    "missing": "the replies are empty or missing",
    "truncated": "the replies are cut off. Raise max_tokens in settings",
}
"""Reasons of units without a score that do not speak for themselves."""

MONTH_WARNING = 0.8
"""Share of a month's budget from which the check warns."""


def result_of(
    warnings: Sequence[str], *, errors: Sequence[str] = (), default: str, metadata: Metadata
) -> dg.AssetCheckResult:
    """Return a check's result with its findings, a line each; without any it passes.

    `default` is the text without findings.
    """
    return dg.AssetCheckResult(
        passed=not (warnings or errors),
        severity=dg.AssetCheckSeverity.ERROR if errors else dg.AssetCheckSeverity.WARN,
        description="\n".join([*errors, *warnings]) or default,
        metadata=without_blanks(metadata),
    )


def labels_rejected(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """No label was left out because of what is wrong with it."""
    with folder.connect() as connection:
        counts = rejected_labels(connection)
    return result_of(
        rejections(counts),
        default="No label was rejected.",
        metadata={"rejected": rows_as_metadata(counts)},
    )


def judge_coverage(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """Each judge gave a usable score to most units of each question."""
    with folder.connect() as connection:
        coverage = score_coverage(connection)
    return result_of(
        uncovered(coverage),
        default=f"Every judge scored {LOWEST_COVERAGE:.0%} or more of each question.",
        metadata={"minimum": LOWEST_COVERAGE, "coverage": rows_as_metadata(coverage)},
    )


def judge_models_alive(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """No model asked has ended, or is announced to end soon."""
    evaluation = folder.evaluation()
    models: list[Judge | Generator] = [*evaluation.live_judges, *evaluation.generators]
    ended, ending = ending_models(models, on=datetime.now(tz=UTC).date())
    return result_of(
        ending,
        errors=ended,
        default="No model asked is announced to end soon.",
        metadata={"models": [str(of.model) for of in models]},
    )


def judges_answered(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """No judge was stopped early in the last run; `eval-assets run` exits with 1 otherwise."""
    with folder.connect() as connection:
        judges = read_rows(connection, "judges", order_by="position")
    stopped = [f"{of['judge_id']} is stopped: {of['stopped']}" for of in judges if of["stopped"]]
    return result_of([], errors=stopped, default="No judge was stopped early.", metadata={})


def judges_see_shown_columns(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """The prompt of each live judge shows the columns that raters are shown."""
    evaluation = folder.evaluation()
    template = declared_template(evaluation, folder)
    versions = versions_in_use(evaluation, folder, judge_fingerprints(evaluation, folder))
    prompts = prompts_in_use(versions, template)
    shown, findings = evaluation.labelling.show, []
    for judge in evaluation.live_judges:
        columns = prompts.get(judge.id, template).columns
        if unseen := [column for column in shown if column not in columns]:
            findings.append(
                f"raters are shown {listed(unseen)}, and {judge.id} is not: they answer different "
                "questions. Show the columns in judge_prompt, or run with --new-prompt if there is "
                "none"
            )
    findings += [
        f"raters read another wording of {question_id} than the judges: they answer different "
        "questions. Run with --new-prompt"
        for question_id in template.wordings
    ]
    return result_of(
        findings,
        default="The judges are shown what raters are shown.",
        metadata={"labelling.show": list(shown)},
    )


def judges_independent(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """No two judges are of one family, and none is of the family of a model that it judges."""
    evaluation = folder.evaluation()
    with folder.connect() as connection:
        judged = judged_models(connection)
    return result_of(
        dependences(evaluation, judged),
        default="No judge shares its family with another judge or with a model it judges.",
        metadata={"judges": [str(judge.model) for judge in evaluation.judges], "judged": judged},
    )


def within_budget(
    context: dg.AssetCheckExecutionContext, folder: EvaluationFolder
) -> dg.AssetCheckResult:
    """The budget reached every unit of the last run, and most of the month's is left."""
    evaluation = folder.evaluation()
    with folder.connect() as connection:
        n_stopped = int(score_coverage(connection)["n_budget_stopped"].sum())
    month_usd = 0.0
    if evaluation.month_cap_usd is not None:
        with folder.ledger(evaluation) as ledger:
            month_usd = spent_in_month(ledger, datetime.now(tz=UTC).date())
    event = context.instance.get_latest_materialization_event(folder.key("judge_scores"))
    materialization = event.asset_materialization if event else None
    last = materialization.metadata if materialization else {}
    figures = {
        name: last[name].value
        for name in ("n_calls", "spent_usd", "budget_left_usd")
        if name in last
    }
    left_usd = figures.get("budget_left_usd")
    return result_of(
        [
            *over_budget(
                n_stopped,
                cap=evaluation.budget_usd,
                left_usd=left_usd if isinstance(left_usd, int | float) else None,
            ),
            *most_of_the_month(month_usd, cap=evaluation.month_cap_usd),
        ],
        default=(
            "The budget reached every unit." if figures.get("n_calls") else "Nothing was spent."
        ),
        metadata={
            **figures,
            "budget_usd": evaluation.budget_usd,
            "budget_usd_per_month": evaluation.month_cap_usd,
            "spent_this_month_usd": month_usd,
            "n_budget_stopped": n_stopped,
        },
    )


def certificates_valid(folder: EvaluationFolder) -> dg.AssetCheckResult:
    """Each certificate still rests on present labels, scores and gates."""
    evaluation = folder.evaluation()
    sources = source_fingerprints(evaluation)
    with folder.connect() as connection, folder.ledger(evaluation) as ledger:
        checked = checked_certificates(connection, ledger, evaluation, sources=sources)
    issued = [row for row in checked.rows if row.certificate]
    return result_of(
        [
            f"certificate of {row.judge_id} {row.version} on {row.question_id}: {row.stale_because}"
            for row in issued
            if row.stale_because
        ],
        default=f"Valid: {len(issued)}." if issued else "There are no certificates.",
        metadata={"n_certificates": len(issued)},
    )


label_checks = checks(labels_rejected, of=human_labels)
judge_checks = checks(
    judges_answered,
    judge_coverage,
    judge_models_alive,
    judges_see_shown_columns,
    judges_independent,
    within_budget,
    step="judge_checks",
    of=judge_scores,
)


def uncovered(coverage: pd.DataFrame) -> list[str]:
    """Return judges and questions below the minimum, including judges without attempts.

    Args:
        coverage: judge_id, question_id, n_attempted, n_ok, share_ok and main_reason.
    """
    missing = coverage[~(coverage["share_ok"] >= LOWEST_COVERAGE - TOLERANCE)]
    findings = []
    for row in missing.to_dict("records"):
        n, n_skipped = int(row["n_attempted"]), int(row["n_attempted"] - row["n_ok"])
        share = f" ({percent_text(n_skipped / n)})" if n else ""
        responses = f"{counted(n, 'response')} on {row['question_id']}"
        text = f"{row['judge_id']} skipped {n_skipped:,} of {responses}{share}"
        reason = row["main_reason"] if n_skipped else ""
        reason = shortened(_REMEDIES.get(reason, reason), 200)
        findings.append(f"{text}: {reason}" if reason else text)
    return findings


def ending_models(models: Iterable[Judge | Generator], *, on: date) -> tuple[list[str], list[str]]:
    """Return models that have ended, and those that end soon."""
    ended, ending = [], []
    for rater in models:
        ends_on, name = end_of(rater.model or ""), f"{rater.id}: {rater.model}"
        if ends_on is not None and ends_on < on:
            ended.append(f"{name} ended on {ends_on}; put another in its place")
        elif ends_on is not None and ends_on - on <= ENDS_SOON:
            ending.append(f"{name} ends on {ends_on}; compare its replacement now")
    return ended, ending


def rejections(counts: pd.DataFrame) -> list[str]:
    """Return the number of rejected labels of each rater and question."""
    rows = counts.astype(object).where(counts.notna(), None).to_dict("records")
    return [
        f"{counted(row['n'], 'label')} of {row['rater_id'] or 'no rater'} on "
        f"{row['question_id'] or 'no question'} {'was' if row['n'] == 1 else 'were'} rejected: "
        "see the table rejected_rows"
        for row in rows
    ]


def dependences(evaluation: Evaluation, judged: Sequence[str]) -> list[str]:
    """Return judges of one family, and judges of the family of a model that they judge."""
    models = [judge.model for judge in evaluation.judges if judge.model]
    findings = [
        f"{listed(members)} are models of {family}: they may share the same mistakes"
        for family, members in shared_family(models, overrides=evaluation.capabilities).items()
    ]
    for judge in models:
        relatives: dict[str, list[str]] = {}
        for subject in judged:
            for family in shared_family([judge, subject], overrides=evaluation.capabilities):
                relatives.setdefault(family, []).append(subject)
        for family, subjects in relatives.items():
            words = listed(subjects, most=_MOST_NAMED)
            pronoun = "it" if len(subjects) == 1 else "them"
            findings.append(
                f"{judge} judges {words}, of {family} like itself: it may favour {pronoun}"
            )
    return findings


def over_budget(n_stopped: int, *, cap: float | None, left_usd: float | None) -> list[str]:
    """Return a finding if the budget did not reach every score."""
    if not n_stopped:
        return []
    money = "" if cap is None else f" of {cap:g} USD"
    rest = "" if left_usd is None else f" ({left_usd:.4f} USD are left)"
    text = f"The budget{money}{rest} did not reach {counted(n_stopped, 'score')}"
    return [f"{text}. Raise it and run again: nothing is asked twice"]


def most_of_the_month(spent_usd: float, *, cap: float | None) -> list[str]:
    """Return a finding if most of the monthly budget is spent."""
    if cap is None or spent_usd < MONTH_WARNING * cap - TOLERANCE:
        return []
    share = f" ({spent_usd / cap:.0%})" if cap else ""
    text = f"{spent_usd:.4f} of {cap:g} USD{share} of this month's budget are spent"
    return [f"{text}. Raise the monthly limit, or wait for the next month"]
