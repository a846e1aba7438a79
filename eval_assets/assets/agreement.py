"""Agreement between humans, between judges, and of judges with humans."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial

import dagster as dg
import pandas as pd

from eval_assets.agreement.corrected_rates import measure_corrected_rates
from eval_assets.agreement.gates.declarations import GATES
from eval_assets.agreement.humans import measure_humans
from eval_assets.agreement.judge_bias import measure_bias
from eval_assets.agreement.judges import (
    measure_judges,
    measure_judges_against_humans,
    measure_leave_one_judge_out,
)
from eval_assets.agreement.pairs import measure_pairs
from eval_assets.agreement.repeatability import measure_repeatability
from eval_assets.agreement.rounds import measure_rewordings
from eval_assets.agreement.slices import measure_slices
from eval_assets.assets.judging import judge_scores
from eval_assets.assets.labelling import adjudicated_labels
from eval_assets.assets.labels import human_labels, label_disagreements
from eval_assets.assets.metadata import (
    counts_as_metadata,
    figures_as_metadata,
    list_as_metadata,
    rows_as_metadata,
)
from eval_assets.assets.recipes import asset, tables
from eval_assets.assets.resources import (
    EvaluationFolder,
    clear_failures,
    data_version_in,
    table_metadata,
)
from eval_assets.assets.terminal import DETAIL
from eval_assets.catalogue import ALPHA
from eval_assets.config.evaluation import Evaluation, GateName
from eval_assets.figures import (
    HumanFigures,
    JudgeFigures,
    JudgeHumanFigures,
    JudgeHumanFiguresWithExcluded,
    LeaveOneJudgeOutFigures,
    RubricVersionFigures,
    SliceFigures,
)
from eval_assets.judges.catalogue.models import shared_family
from eval_assets.shown.records import HUMANS, JUDGES, JUDGES_AGAINST_HUMANS, WITHOUT_JUDGES
from eval_assets.store.connection import transaction
from eval_assets.store.data_versions import combined_fingerprint, rating_versions
from eval_assets.store.figures import append_figure_frame, replace_figure_frame, replace_figures
from eval_assets.store.inputs import check_imported
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.histories import append_history, history_of
from eval_assets.store.long_ratings import reworded_ratings
from eval_assets.store.ratings import (
    bias_attributes,
    count_excluded,
    human_ratings,
    human_ratings_outside_test,
    judge_ratings,
    judged_units,
    ratings_by_kind,
    reference_ratings,
    reference_ratings_with_excluded,
    repeated_ratings,
    scored_conversations,
    scores_of_responses,
    scores_outside_test,
    slices_in_order,
    write_pair_measures,
)
from eval_assets.store.schema import count_rows, read_table, replace_records, replace_rows
from eval_assets.store.scores import value_counts
from eval_assets.store.splits import write_held_out_units
from eval_assets.store.summaries import (
    unreliable_results,
    write_judge_human_disagreements,
    write_score_summary,
)
from eval_assets.wording import or_none, signed_text

_MOST_SHOWN = 50

logger = logging.getLogger(__name__)

NO_ROWS = pd.DataFrame()
_BIAS_COLUMNS = ("judge_id", "question_id", "attribute", "value", "relative", "p_adjusted")
"""Columns of each table that the UI shows, narrow enough for its page."""


@asset(
    group="agreement",
    kinds={"duckdb"},
    deps=[human_labels, label_disagreements, adjudicated_labels],
)
def human_agreement(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Agreement of human raters: A^HH, alpha, kappa and pairwise agreement, with intervals."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection:
            check_imported(connection, "human_labels", evaluation.folder)
            humans = human_ratings(connection, evaluation)
            reworded = reworded_ratings(connection, evaluation)
        measures = measure_humans(humans, evaluation)
        versions = measure_rewordings(reworded, evaluation, data_version=humans.data_version)
        with folder.connect() as connection:
            with transaction(connection):
                replace_figures(connection, HumanFigures, measures.agreement)
                replace_figures(connection, RubricVersionFigures, versions)
                replace_records(connection, "label_findings", measures.findings)
            table = table_metadata(connection, "human_agreement")
    overall = measures.agreement[0]
    return dg.MaterializeResult(
        data_version=data_version_in(table),
        metadata={
            **table,
            "dagster/column_lineage": _lineage(folder, table, human_labels="value"),
            **_by_question(measures.agreement, "human_a_hh", "human_alpha"),
            "exact_agreement": or_none(overall.exact_agreement.value),
            "n_raters": overall.n_raters,
            "agreement": figures_as_metadata(measures.agreement, HUMANS),
            "findings": list_as_metadata(
                f"**{f.question_id}**: {f.finding}" for f in measures.findings
            ),
        },
    )


@asset(group="agreement", kinds={"duckdb"}, deps=[judge_scores])
def judge_agreement(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Agreement of judges with one another: Krippendorff's alpha and kappa, with intervals."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection:
            ratings = judge_ratings(connection, evaluation)
            measures = measure_judges(ratings, evaluation)
            without = measure_leave_one_judge_out(
                ratings.scores, evaluation, data_version=ratings.data_version
            )
            judges = read_table(connection, "judges", order_by="judge_id")
            with transaction(connection):
                replace_figures(connection, JudgeFigures, measures.agreement)
                append_figure_frame(connection, JudgeFigures, measures.by_response)
                replace_figures(connection, LeaveOneJudgeOutFigures, without)
            table = table_metadata(connection, "judge_agreement")
            for alpha, prompt, model in unreliable_results(connection):
                logger.warning(
                    "judges are unreliable: alpha %s on the response of %s to: %s",
                    ALPHA.text(alpha),
                    model,
                    prompt,
                    extra=DETAIL,
                )
    overall = measures.agreement[0]
    return dg.MaterializeResult(
        data_version=data_version_in(table),
        metadata={
            **table,
            "dagster/column_lineage": _lineage(folder, table, judge_scores="score"),
            **_by_question(measures.agreement, "judge_alpha"),
            "kappa_micro": or_none(overall.kappa_micro),
            "judge_set_fingerprint": overall.judge_set_fingerprint,
            "agreement": figures_as_metadata(measures.agreement, JUDGES),
            "judges": rows_as_metadata(judges, ["judge_id", "model", "n_units", "n_ok"]),
            "leave_one_out": figures_as_metadata(without, WITHOUT_JUDGES),
        },
    )


@asset(group="agreement", kinds={"duckdb"}, deps=[human_labels, adjudicated_labels, judge_scores])
def judge_human_agreement(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Agreement of each judge with the humans.

    Humans count with their consensus if there is one. Responses that were left out as ambiguous
    count in judge_human_agreement_with_excluded only. A judge who scores conversations is compared
    with the mean rating of each.
    """
    with clear_failures():
        evaluation = folder.evaluation()
        hold_out_units(folder, evaluation)
        with folder.connect() as connection:
            n_excluded = count_excluded(connection)
            versions = rating_versions(connection).values()
            has_judges = bool(evaluation.judges)
            reference = reference_ratings(connection, evaluation) if has_judges else {}
            scores = scores_of_responses(connection, evaluation) if has_judges else {}
            measure = partial(
                measure_judges_against_humans,
                judges=scores,
                evaluation=evaluation,
                conversations=scored_conversations(connection, evaluation),
                data_version=" ".join(versions),
            )
            measures = measure(reference)
            rows_with_excluded = (
                measure(reference_ratings_with_excluded(connection, evaluation)).agreement
                if scores and n_excluded
                else ()
            )
            with transaction(connection):
                replace_figures(connection, JudgeHumanFigures, measures.agreement)
                replace_figures(
                    connection,
                    JudgeHumanFiguresWithExcluded,
                    [JudgeHumanFiguresWithExcluded(**vars(row)) for row in rows_with_excluded],
                )
                replace_rows(connection, "judge_confusion", measures.confusion)
                people = human_ratings_outside_test(connection, evaluation)
                attributes = bias_attributes(connection, evaluation.labelling.show)
                bias = measure_bias(people, scores, attributes, evaluation) if scores else NO_ROWS
                replace_rows(connection, "judge_bias", bias)
                rates = measure_corrected_rates(
                    people,
                    scores_outside_test(connection, evaluation),
                    attributes["system"],
                    evaluation,
                )
                replace_rows(connection, "corrected_rates", rates)
                repeatability = measure_repeatability(repeated_ratings(connection), evaluation)
                replace_rows(connection, "repeatability", repeatability)
                write_judge_human_disagreements(connection)
            for row in bias[bias["is_named"]].to_dict("records") if len(bias) else []:
                logger.warning(
                    "%s rates %s (%s) by %s points of %s differently at equal quality",
                    *(row["judge_id"], row["value"], row["attribute"]),
                    *(signed_text(row["relative"]), row["question_id"]),
                    extra=DETAIL,
                )
            n_far = count_rows(connection, "judge_human_disagreements")
            table = table_metadata(connection, "judge_human_agreement")
    return dg.MaterializeResult(
        data_version=data_version_in(table),
        metadata={
            **table,
            "dagster/column_lineage": _lineage(
                folder, table, human_labels="value", judge_scores="score"
            ),
            "agreement": figures_as_metadata(measures.agreement, JUDGES_AGAINST_HUMANS),
            "confusion": counts_as_metadata(_confusions(measures.confusion)),
            "named_biases": rows_as_metadata(
                bias[bias["is_named"]] if len(bias) else bias, _BIAS_COLUMNS
            ),
            "repeatability": rows_as_metadata(repeatability),
            "corrected_rates": rows_as_metadata(rates),
            "n_disagreements": n_far,
            "n_excluded": n_excluded,
            "agreement_with_excluded": figures_as_metadata(
                rows_with_excluded, JUDGES_AGAINST_HUMANS
            ),
        },
    )


def hold_out_units(folder: EvaluationFolder, evaluation: Evaluation) -> None:
    """Store which responses are held out, before judges are compared with people."""
    opened = folder.ledger(evaluation) if evaluation.judges else nullcontext()
    with opened as ledger, folder.connect() as connection, transaction(connection):
        write_held_out_units(connection, evaluation, ledger)


def _combined_scores(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Human and judge scores side by side: one row per response, question and rater."""
    with clear_failures(), folder.connect() as connection:
        content = combined_fingerprint(connection)
        table = table_metadata(connection, "combined_scores", content=content)
    return dg.MaterializeResult(data_version=data_version_in(table), metadata=table)


def _score_summary(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Mean human and judge scores by question, model and slice, and who is stricter."""
    with clear_failures(), folder.connect() as connection:
        with transaction(connection):
            write_score_summary(connection)
        summary = read_table(connection, "score_summary")
        counts = value_counts(connection)
        table = table_metadata(connection, "score_summary")
    return dg.MaterializeResult(
        data_version=data_version_in(table),
        metadata={
            **table,
            "all_responses": rows_as_metadata(summary[summary["slice"] == "all"]),
            "distributions": counts_as_metadata(
                {
                    str(question): rows.pivot_table(
                        index="rater", columns="value", values="n", fill_value=0, sort=False
                    ).sort_index(axis="columns")
                    for question, rows in counts.groupby("question_id")
                }
            ),
        },
    )


def _judge_disagreements(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Responses and prompts on which two judges differ too much, worst first.

    Also stores the scores of the first two judges prompt by prompt, which the view `ground_truth`
    shows, and their agreement in this run.
    """
    with clear_failures(), folder.ledger(evaluation := folder.evaluation()) as ledger:
        with folder.connect() as connection:
            units = judged_units(connection)
        pair = [str(judge.model) for judge in evaluation.primary_judges[:2]]
        is_independent = not shared_family(pair, overrides=evaluation.capabilities)
        measures = measure_pairs(
            units, evaluation.dual_judge, is_independent=is_independent, at=datetime.now(tz=UTC)
        )
        validation = measures.validation
        if validation is not None:
            append_history(ledger, "dual_judge_validation", [asdict(validation)])
        with folder.connect() as connection:
            with transaction(connection):
                write_pair_measures(
                    connection, prompts=measures.prompts, disagreements=measures.disagreements
                )
                copy_ledger(ledger, connection, "dual_judge_validation")
            table = table_metadata(connection, "judge_disagreements")
        history = history_of(ledger, "dual_judge_validation").iloc[::-1].head(_MOST_SHOWN)
    return dg.MaterializeResult(
        data_version=data_version_in(table),
        metadata={
            **table,
            "n_prompts": len(measures.prompts),
            "status": validation.status if validation else "not_evaluable",
            "notes": validation.notes if validation else "Fewer than two judges are declared.",
            "worst": rows_as_metadata(measures.disagreements.head(_MOST_SHOWN)),
            "history": rows_as_metadata(history),
        },
    )


def _agreement_by_slice(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Agreement of humans and of judges by prompt and model, by difficulty and by attribute."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection:
            ratings = ratings_by_kind(connection, evaluation)
            slices = slices_in_order(connection)
        models = slices.pop("model_name")
        rows = pd.concat(
            [
                measure_slices(kind, [(q, values[q.id]) for q in evaluation.rubric], models, slices)
                for kind, values in ratings.items()
            ]
        )
        with folder.connect() as connection:
            with transaction(connection):
                replace_figure_frame(connection, SliceFigures, rows)
            by_prompt = read_table(connection, "results_by_prompt", order_by="mean_alpha")
            _warn_of_low_alpha(by_prompt)
            table = table_metadata(connection, "agreement_by_slice")
    return dg.MaterializeResult(
        data_version=data_version_in(table),
        metadata={**table, "lowest_prompts": rows_as_metadata(by_prompt.head(_MOST_SHOWN))},
    )


def _warn_of_low_alpha(by_prompt: pd.DataFrame) -> None:
    """Log the number of results by prompt and model on which judges do not agree reliably."""
    if n_not_reliable := int(by_prompt["n_not_reliable"].sum()):
        logger.warning(
            "judges do not agree reliably on %d of %d results by prompt and model, "
            "which results_by_prompt and results_by_model count",
            n_not_reliable,
            by_prompt["n_results"].sum(),
            extra=DETAIL,
        )


_TABLES: Mapping[str, Callable[[EvaluationFolder], dg.MaterializeResult[None]]] = {
    "combined_scores": _combined_scores,
    "score_summary": _score_summary,
    "judge_disagreements": _judge_disagreements,
    "agreement_by_slice": _agreement_by_slice,
}


@tables(_TABLES, group="agreement", deps=[human_labels, judge_scores, adjudicated_labels])
def score_tables(
    context: dg.AssetExecutionContext, folder: EvaluationFolder
) -> Iterator[dg.MaterializeResult[None]]:
    """Tables of labels and scores side by side, in one step."""
    with clear_failures():
        hold_out_units(folder, folder.evaluation())
    for key in sorted(context.selected_asset_keys):
        yield _TABLES[key.path[-1]](folder)._replace(asset_key=key)


def _lineage(
    folder: EvaluationFolder,
    table: Mapping[str, dg.TableSchema | int | str],
    **values: str,
) -> dg.TableColumnLineage:
    """Return which columns each column of a table of figures is made from.

    Args:
        folder: The evaluation.
        table: Metadata of the table, with its columns.
        values: The column with the values that are compared, by the table that it is in.
    """
    schema = table["dagster/column_schema"]
    columns = (
        [column.name for column in schema.columns] if isinstance(schema, dg.TableSchema) else []
    )
    return dg.TableColumnLineage(
        {
            name: [
                dg.TableColumnDep(folder.key(source), name if name == "question_id" else value)
                for source, value in values.items()
            ]
            for name in columns
            if name not in {"scope", "judge_id"}
        }
        | {
            name: [dg.TableColumnDep(folder.key("judge_scores"), name)]
            for name in columns
            if name == "judge_id"
        }
    )


def _by_question(
    rows: Sequence[HumanFigures] | Sequence[JudgeFigures], *names: GateName
) -> dict[str, float | None]:
    """Return figures that gates compare, by question; the UI plots them over runs."""
    return {
        f"{gate.statistic.column} of {row.question_id}": or_none(gate.figure(row).value)
        for gate in (GATES[name] for name in names)
        for row in rows
        if row.question_id
    }


def _confusions(confusion: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return, for each judge and question, people's values by row and the judge's by column."""
    return {
        f"{judge}, {question}: people by row, judge by column": rows.pivot_table(
            index="human_value", columns="judge_value", values="n_units", fill_value=0
        )
        for (judge, question), rows in confusion.groupby(["judge_id", "question_id"])
    }
