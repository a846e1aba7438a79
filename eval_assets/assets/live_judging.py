"""Live judges: their prompts and versions in use, and their scores within the run's budget."""

import asyncio
import itertools
import logging
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from types import MappingProxyType

import pandas as pd
from duckdb import DuckDBPyConnection as Connection

from eval_assets.assets.metadata import Metadata, rows_as_metadata
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.config.evaluation import FILE, Evaluation
from eval_assets.config.judges import CURRENT, Judge, Staged, judge_fingerprint
from eval_assets.errors import InputProblem, PromptError, raise_all
from eval_assets.judges.calling.live_model import LiveModel, live_models
from eval_assets.judges.calling.progress import Estimate, Progress, log_report
from eval_assets.judges.calling.session import RequestOptions, warn_of_budget
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.judging import JudgingSummary, judge_portions
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import PromptTemplate, is_shipped
from eval_assets.judges.replies import JudgeScore
from eval_assets.labelling.rater_view import cell_lines
from eval_assets.ledger import WHOLE, Shard, Status
from eval_assets.readers.evaluation.read import evaluation_problem
from eval_assets.store.connection import transaction
from eval_assets.store.ledger.attempts import mean_reply_usd
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.histories import (
    JudgeLedger,
    accept_prompt,
    accepted_prompt,
    staged_order,
)
from eval_assets.store.ledger.workers import Worker
from eval_assets.store.schema import replace_rows
from eval_assets.store.scores import (
    column_values,
    earlier_turns,
    ids_in_order,
    next_units,
    response_columns,
)
from eval_assets.tuning.history import certified_version
from eval_assets.tuning.versions import JudgeVersion
from eval_assets.wording import counted, listed, or_none

logger = logging.getLogger(__name__)

VersionsInUse = Mapping[str, JudgeVersion]
"""Version of each judge in use, without judges in their declared version."""

_UNITS_AT_ONCE = 20_000
"""Number of units in memory with their replies, about 200 MB."""


def judge_live(  # noqa: PLR0913 - the evaluation, its judges and the options of a run
    evaluation: Evaluation,
    folder: EvaluationFolder,
    *,
    in_use: VersionsInUse,
    changed: Collection[str],
    run_id: str,
    ask_again: frozenset[Status],
    shard: Shard,
    keep: Callable[[pd.DataFrame], None],
) -> JudgingSummary | None:
    """Ask every live judge about every unit of a shard, except for replies in the ledger.

    The database is open only to read the units and to copy the ledger. What the run has spent
    already, on generation, counts towards its budget. `changed` are the judges whose stored scores
    are by another model, prompt or settings; `keep` receives rows of `judge_scores`, a portion at a
    time. None without live judges.

    A part of the units only fills the ledger, and ends once the budget is used up. What is left,
    batches among it, is asked about together, which meets the same end and reports it.

    Raises:
        ExceptionGroup: Of an InputError for every key that is missing.
    """
    judges = live_models(evaluation, evaluation.live_judges)
    if not judges:
        return None
    template = declared_template(evaluation, folder)
    prompts = prompts_in_use(in_use, template)
    n_scores: Counter[tuple[str, str]] = Counter()
    is_used_up = False

    def keep_scores(scores: Sequence[JudgeScore]) -> None:
        nonlocal is_used_up
        is_used_up = any(score.status == "budget_stopped" for score in scores)
        if shard == WHOLE:
            n_scores.update((score.judge_id, score.question_id) for score in scores)
            keep(pd.DataFrame([asdict(score) for score in scores]))

    def report(news: Progress | Estimate | str) -> None:
        if isinstance(news, Estimate) and news.n_requests and news.model.id in changes:
            news = f"{changes[news.model.id]} has changed. It is asked again: {news}"
        log_report(news)

    # The first units are read at once: Ctrl-C ends a wait for the database.
    portions = _portions(evaluation, folder, [template, *prompts.values()], shard=shard)
    portions = itertools.chain([next(portions)], portions)
    with folder.ledger(evaluation) as ledger:
        changes = _changes(evaluation, ledger, changed)
        # What judges are shown first is kept, so that later changes are asked for.
        columns = template.columns
        if not is_shipped(evaluation.judge_prompt):
            columns = accepted_prompt(ledger).columns or ()
        questions = [template.wordings.get(question.id, question) for question in evaluation.rubric]
        accept_prompt(ledger, columns, questions, at=datetime.now(tz=UTC))
        if shard != WHOLE:
            judges = [judge for judge in judges if not judge.declared.batch]
            ask_again = frozenset()
            portions = itertools.takewhile(lambda _: not is_used_up, portions)
        elif evaluation.staged is not None:
            with folder.connect() as connection:
                order = staged_order(ledger, ids_in_order(connection))
            all_units = itertools.chain.from_iterable(portions)
            portions = iter([sorted(all_units, key=lambda unit: order[unit.response_id])])
        summary = ask(
            evaluation,
            ledger,
            judges,
            portions,
            template=template,
            prompts=prompts,
            asset="judge_scores",
            run_id=run_id,
            shard=shard,
            staged=evaluation.staged,
            options=RequestOptions(
                api_keys(evaluation.live_judges), ask_again=ask_again, report=report
            ),
            keep=keep_scores,
        )
        if shard != WHOLE:
            return summary
        warn_of_budget(summary.n_budget_stopped, left_usd=summary.budget_left_usd)
        _warn(evaluation, ledger, template, summary, n_scores)
        stages = [{**asdict(stage), "kappa": or_none(stage.kappa)} for stage in summary.stages]
        with folder.connect() as connection, transaction(connection):
            replace_rows(connection, "staged_mode", pd.DataFrame(stages))
            copy_ledger(ledger, connection, "judge_calls")
    return summary


def _changes(evaluation: Evaluation, ledger: SqlLedger, changed: Collection[str]) -> dict[str, str]:
    """Return what makes judges score again, by judge: its declaration, or scales of questions."""
    earlier = accepted_prompt(ledger).wordings
    rescaled = [
        question.id
        for question in evaluation.rubric
        if question.id in earlier and earlier[question.id]["scale"] != question.scale.described()
    ]
    if rescaled:
        scales = f"the scale of {listed(rescaled)}"
        return {judge.id: scales for judge in evaluation.live_judges}
    return {judge_id: f"the declaration of {judge_id}" for judge_id in changed}


def _warn(
    evaluation: Evaluation,
    ledger: SqlLedger,
    template: PromptTemplate,
    summary: JudgingSummary,
    n_scores: Mapping[tuple[str, str], int],
) -> None:
    """Warn of unknown costs, and of what raters are shown and judges are not, with its cost."""
    for of in summary.models:
        if of.estimated_usd:
            logger.warning(
                "%s: the cost of some attempts is not known; %.4f USD are charged for them, "
                "of at most %.4f USD",
                *(of.model_id, of.estimated_usd, of.estimated_usd + of.uncertain_usd),
            )
    shown = evaluation.labelling.show if is_shipped(evaluation.judge_prompt) else ()
    hidden = [name for name in shown if name not in template.columns]
    if not (hidden or template.wordings):
        return
    n_requests = {
        judge.id: judge.replicates
        * sum(
            n
            for (judge_id, question_id), n in n_scores.items()
            if judge_id == judge.id and (hidden or question_id in template.wordings)
        )
        for judge in evaluation.live_judges
    }
    means = {judge_id: mean_reply_usd(ledger, judge_id) for judge_id in n_requests}
    cost = "cost unknown"
    if None not in means.values():
        cost_usd = math.fsum(n * (means[judge_id] or 0.0) for judge_id, n in n_requests.items())
        cost = f"about {cost_usd:.4f} USD"
    changes = [f"without {listed(hidden)}"] if hidden else []
    if template.wordings:
        changes.append(f"with the earlier wording of {listed(sorted(template.wordings))}")
    logger.warning(
        "the judges keep the prompt that they replied to, %s. To ask again as raters are "
        "shown it: eval-assets run --new-prompt (%s, %s)",
        *(listed(changes), counted(sum(n_requests.values()), "request"), cost),
    )


def ask(  # noqa: PLR0913 - the units, the judges, the prompts, the budget and the storage
    evaluation: Evaluation,
    ledger: SqlLedger,
    judges: Sequence[LiveModel[Judge]],
    portions: Iterable[Sequence[Unit]],
    *,
    template: PromptTemplate,
    prompts: Mapping[str, PromptTemplate] = MappingProxyType({}),
    asset: str,
    run_id: str,
    shard: Shard = WHOLE,
    staged: Staged | None = None,
    options: RequestOptions,
    keep: Callable[[Sequence[JudgeScore]], None] | None = None,
) -> JudgingSummary:
    """Ask judges about units, within the evaluation's caps; see `judge_portions`.

    `asset` is what spends, in the run `run_id`.
    """
    with Worker(
        ledger,
        asset=asset,
        run_id=run_id,
        caps=evaluation,
        judge_ids=[judge.id for judge in judges],
        shard=shard,
    ) as worker:
        return asyncio.run(
            judge_portions(
                portions,
                judges,
                worker,
                keep=keep,
                template=template,
                options=options,
                prompts=prompts,
                staged=staged,
            )
        )


def declared_template(evaluation: Evaluation, folder: EvaluationFolder) -> PromptTemplate:
    """Return the declared prompt of the judges, as they replied to it.

    The columns of one that ships, and questions, are what raters are shown, as far as that was
    accepted: see `accepted_prompt`.
    """
    if not evaluation.live_judges:
        return PromptTemplate.load(evaluation.judge_prompt)
    with folder.ledger(evaluation) as ledger:
        accepted = accepted_prompt(ledger)
    shown = evaluation.labelling.show if accepted.columns is None else accepted.columns
    template = PromptTemplate.load(evaluation.judge_prompt, columns=shown)
    wordings = {}
    for question in evaluation.rubric:
        wording = accepted.wordings.get(question.id)
        # Scores on another scale do not count any more.
        if wording is not None and wording["scale"] == question.scale.described():
            replied_to = replace(
                question, question=wording["question"], guidelines=wording["guidelines"]
            )
            first, second = (
                template.render(version, prompt_text="?", response_text="?")
                for version in (replied_to, question)
            )
            if first != second:
                wordings[question.id] = replied_to
    template.wordings = wordings
    return template


def shown_texts(
    connection: Connection,
    columns: Iterable[str],
    *,
    of: Collection[str] | None = None,
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the texts of columns that templates show, by response; `of` are ids, None for all."""
    values = column_values(connection, sorted(set(columns)), of=of)
    return {
        response_id: tuple((name, "\n".join(cell_lines(value))) for name, value in row.items())
        for response_id, row in values.items()
    }


def _require_columns(
    connection: Connection,
    evaluation: Evaluation,
    templates: Iterable[PromptTemplate],
) -> None:
    """Raise PromptError if judges or raters are shown a column that the responses do not have."""
    shown = {"evaluation.yaml:labelling.show": evaluation.labelling.show}
    shown |= {template.name: template.columns for template in templates}
    known_columns = response_columns(connection) if any(shown.values()) else frozenset()
    for place, columns in shown.items() if known_columns else ():
        for column in columns:
            if column not in known_columns:
                raise PromptError(
                    f"{place}: the responses have no column {column}. "
                    f"Show one of {', '.join(sorted(known_columns))}."
                )


def judge_fingerprints(evaluation: Evaluation, folder: EvaluationFolder) -> dict[str, str]:
    """Return the fingerprint of every judge as declared: provider, model, prompt and settings."""
    prompt = declared_template(evaluation, folder).source
    live = live_models(evaluation, evaluation.live_judges)
    settings = {judge.id: judge.settings for judge in live}
    return {
        judge.id: judge_fingerprint(
            judge,
            settings=settings.get(judge.id, {}),
            prompt=prompt if judge.id in settings else "",
        )
        for judge in evaluation.judges
    }


def _portions(
    evaluation: Evaluation,
    folder: EvaluationFolder,
    templates: Sequence[PromptTemplate],
    *,
    shard: Shard,
) -> Iterator[list[Unit]]:
    """Yield the units of a shard in portions that fit into memory, with all that templates show.

    At least one portion is yielded, which may be empty.
    """
    after, n_before, is_last = None, 0, False
    columns = {column for template in templates for column in template.columns}
    while not is_last:
        with folder.connect() as connection:
            _require_columns(connection, evaluation, templates)
            rows = next_units(connection, after=after, n=_UNITS_AT_ONCE, shard=shard)
            response_ids = {response_id for response_id, *_ in rows}
            history = earlier_turns(connection, of=response_ids)
            shown = shown_texts(connection, columns, of=response_ids)
        if n_before and not rows:
            return
        is_last = len(rows) < _UNITS_AT_ONCE
        if n_before or not is_last:
            logger.info("units %d to %d", n_before + 1, n_before + len(rows))
        yield [
            Unit(
                response_id,
                evaluation.question(question_id),
                prompt_text,
                response_text,
                history.get(response_id, ()),
                shown.get(response_id, ()),
            )
            for response_id, question_id, prompt_text, response_text in rows
        ]
        after, n_before = rows[-1][:2] if rows else None, n_before + len(rows)


def live_metadata(summary: JudgingSummary | None) -> Metadata:
    """Return the metadata of a run of live judges, with the final stage of a pair."""
    if summary is None:
        return {}
    calls = [
        {
            "judge_id": judge.model_id,
            "n_calls": judge.n_attempts,
            "n_from_ledger": judge.n_from_ledger,
            "spent_usd": judge.spent_usd,
            "expected": str(judge.estimate),
            "stopped": judge.stopped,
        }
        for judge in summary.models
    ]
    metadata: Metadata = {
        "spent_usd": summary.spent_usd,
        "budget_left_usd": summary.budget_left_usd,
        "estimated_usd": math.fsum(judge.estimated_usd for judge in summary.models),
        "uncertain_usd": math.fsum(judge.uncertain_usd for judge in summary.models),
        "n_calls": summary.n_attempts,
        "n_from_ledger": summary.n_from_ledger,
        "n_budget_stopped": summary.n_budget_stopped,
        "calls": rows_as_metadata(pd.DataFrame(calls)),
    }
    if not summary.stages:
        return metadata
    latest = summary.stages[-1]
    return {
        **metadata,
        "staged_mode": latest.mode,
        "staged_reason": f"{latest.reason} (from unit {latest.position + 1} on)",
        "staged_kappa": or_none(latest.kappa),
    }


def versions_in_use(
    evaluation: Evaluation, folder: EvaluationFolder, fingerprints: Mapping[str, str]
) -> VersionsInUse:
    """Return the versions in use, by judge.

    A judge that follows its last certified version uses its declared version until there is one.
    `fingerprints` are of the judges as declared.

    Raises:
        ExceptionGroup: Of an InputError for every version that a judge does not have.
    """
    if all(judge.version is None for judge in evaluation.judges):
        return {}
    with folder.ledger(evaluation) as ledger:
        judges = JudgeLedger(ledger)
        known_versions = judges.versions()
        evaluations = [held_out for q in evaluation.rubric for held_out in judges.evaluations(q.id)]
    in_use: dict[str, JudgeVersion] = {}
    problems: list[InputProblem] = []
    for index, judge in enumerate(evaluation.judges):
        fingerprint = fingerprints[judge.id]
        history = [version for version in known_versions if version.judge_id == judge.id]
        current = {item.version: item for item in history if item.fingerprint == fingerprint}
        if judge.version == CURRENT:
            version = certified_version(evaluations, judge.id, fingerprint=fingerprint)
        else:
            version = current.get(judge.version or "")
        if version is not None:
            in_use[judge.id] = version
        elif judge.version not in (None, CURRENT):
            message = f"{judge.id} has no version {judge.version}"
            if any(item.version == judge.version for item in history):
                message = (
                    f"version {judge.version} of {judge.id} is of another model, other settings or "
                    "another judge_prompt"
                )
            remedy = f"Use {', '.join([*current, CURRENT])}, or remove the key"
            path = ("judges", index, "version")
            problems.append(evaluation_problem(evaluation.folder, path, message, remedy))
    raise_all(problems, source=FILE)
    return in_use


def prompts_in_use(in_use: VersionsInUse, template: PromptTemplate) -> dict[str, PromptTemplate]:
    """Return the prompts that replace the declared one, by judge."""
    return {
        judge_id: PromptTemplate(
            version.prompt_text,
            name=f"{judge_id} {version.version}",
            wordings=template.wordings,
        )
        for judge_id, version in in_use.items()
        if version.prompt_text
    }


def mapped_scores(scores: pd.DataFrame, in_use: VersionsInUse) -> pd.DataFrame:
    """Return rows of `judge_scores` with the maps of the versions applied."""
    mapped = scores.reset_index(drop=True)
    for judge_id, version in in_use.items():
        for question_id in version.maps:
            rows = mapped.index[
                (mapped["judge_id"] == judge_id)
                & (mapped["question_id"] == question_id)
                & (mapped["status"] == "ok")
            ]
            raw = mapped.loc[rows, "raw_score"].to_numpy(dtype=float)
            mapped.loc[rows, "score"] = version.mapped(question_id, raw)
    return mapped
