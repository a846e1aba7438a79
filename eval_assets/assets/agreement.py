"""Agreement between humans, between judges, and of judges with humans."""

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial

import pandas as pd

from eval_assets.agreement.drift import measure_repeatability
from eval_assets.agreement.gates.decision import GATES
from eval_assets.agreement.humans import measure_humans
from eval_assets.agreement.judge_bias import measure_bias, measure_corrected_rates
from eval_assets.agreement.judges import (
    measure_judges,
    measure_judges_against_humans,
    measure_leave_one_judge_out,
)
from eval_assets.agreement.pairs import measure_pairs
from eval_assets.agreement.rounds import measure_rewordings
from eval_assets.agreement.slices import measure_slices
from eval_assets.assets.judging import judge_scores
from eval_assets.assets.labelling import adjudicated_labels, human_labels, label_disagreements
from eval_assets.assets.metadata import (
    Metadata,
    figures_as_metadata,
    list_as_metadata,
    rows_as_metadata,
)
from eval_assets.assets.recipes import asset
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.terminal import DETAIL
from eval_assets.catalogue import ALPHA
from eval_assets.config.evaluation import GateName
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
from eval_assets.shown.blocks import HUMANS, JUDGES, JUDGES_AGAINST_HUMANS, WITHOUT_JUDGES
from eval_assets.store.connection import transaction
from eval_assets.store.data_versions import rating_versions
from eval_assets.store.figures import append_figure_frame, replace_figure_frame, replace_figures
from eval_assets.store.inputs import check_imported
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.histories import append_history
from eval_assets.store.long_ratings import reworded_ratings
from eval_assets.store.ratings import (
    bias_attributes,
    count_excluded,
    human_ratings,
    judge_ratings,
    judged_units,
    ratings_by_kind,
    ratings_of_people,
    repeated_ratings,
    scored_conversations,
    scores_of_responses,
    slices_in_order,
    write_pair_measures,
)
from eval_assets.store.schema import count_rows, read_table, replace_records, replace_rows
from eval_assets.store.splits import write_held_out_units
from eval_assets.store.summaries import (
    unreliable_results,
    write_judge_human_disagreements,
    write_score_summary,
)
from eval_assets.wording import or_none, signed_text

_MOST_SHOWN, _MOST_LOGGED = 50, 20

logger = logging.getLogger(__name__)

_RATED = (human_labels, judge_scores, adjudicated_labels)

NO_BIAS = pd.DataFrame({"is_named": pd.Series(dtype=bool)})
_BIAS_COLUMNS = ("judge_id", "question_id", "attribute", "value", "relative", "p_adjusted")
"""Columns of `judge_bias` that the UI shows, narrow enough for its page."""


@asset(
    group="agreement",
    kinds={"duckdb"},
    deps=[human_labels, label_disagreements, adjudicated_labels],
)
def human_agreement(folder: EvaluationFolder) -> Metadata:
    """Agreement of human raters: A^HH, alpha, kappa and pairwise agreement, with intervals."""
    evaluation = folder.evaluation()
    with folder.connect() as connection:
        check_imported(connection, "human_labels", evaluation.folder)
        humans = human_ratings(connection, evaluation)
        reworded = reworded_ratings(connection, evaluation)
    measures = measure_humans(humans, evaluation)
    versions = measure_rewordings(reworded, evaluation, data_version=humans.data_version)
    with folder.connect() as connection, transaction(connection):
        replace_figures(connection, HumanFigures, measures.agreement)
        replace_figures(connection, RubricVersionFigures, versions)
        replace_records(connection, "label_findings", measures.findings)
    overall = measures.agreement[0]
    return {
        **_by_question(measures.agreement, "human_a_hh", "human_alpha"),
        "exact_agreement": or_none(overall.exact_agreement.value),
        "n_raters": overall.n_raters,
        "agreement": figures_as_metadata(measures.agreement, HUMANS),
        "findings": list_as_metadata(
            f"**{f.question_id}**: {f.finding}" for f in measures.findings
        ),
    }


@asset(group="agreement", kinds={"duckdb"}, deps=[judge_scores])
def judge_agreement(folder: EvaluationFolder) -> Metadata:
    """Agreement of judges with one another: Krippendorff's alpha and kappa, with intervals."""
    evaluation = folder.evaluation()
    with folder.connect() as connection:
        ratings = judge_ratings(connection, evaluation)
        measures = measure_judges(ratings, evaluation)
        without = measure_leave_one_judge_out(
            ratings.scores, evaluation, data_version=ratings.data_version
        )
        with transaction(connection):
            replace_figures(connection, JudgeFigures, measures.agreement)
            append_figure_frame(connection, JudgeFigures, measures.by_response)
            replace_figures(connection, LeaveOneJudgeOutFigures, without)
        unreliable = unreliable_results(connection)
    for alpha, prompt, model in unreliable[:_MOST_LOGGED]:
        line = "judges are unreliable: alpha %s on the response of %s to: %s"
        logger.warning(line, ALPHA.text(alpha), model, prompt, extra=DETAIL)
    if (n := len(unreliable) - _MOST_LOGGED) > 0:
        logger.warning("judges are unreliable on %d more: see judge_agreement", n, extra=DETAIL)
    overall = measures.agreement[0]
    return {
        **_by_question(measures.agreement, "judge_alpha"),
        "kappa_micro": or_none(overall.kappa_micro),
        "judge_set_fingerprint": overall.judge_set_fingerprint,
        "agreement": figures_as_metadata(measures.agreement, JUDGES),
        "leave_one_out": figures_as_metadata(without, WITHOUT_JUDGES),
    }


@asset(group="agreement", kinds={"duckdb"}, deps=[human_labels, adjudicated_labels, judge_scores])
def judge_human_agreement(folder: EvaluationFolder) -> Metadata:
    """Agreement of each judge with the humans.

    Humans count with their consensus if there is one. Responses that were left out as ambiguous
    count in judge_human_agreement_with_excluded only. A judge who scores conversations is compared
    with the mean rating of each.
    """
    evaluation = folder.evaluation()
    hold_out_units(folder)
    with folder.connect() as connection:
        n_excluded = count_excluded(connection)
        versions = rating_versions(connection).values()
        has_judges = bool(evaluation.judges)
        reference = (
            ratings_of_people(connection, evaluation, "reference_outside_test")
            if has_judges
            else {}
        )
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
            measure(
                ratings_of_people(connection, evaluation, "reference_outside_test_with_excluded")
            ).agreement
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
            people = ratings_of_people(connection, evaluation, "human_outside_test")
            attributes = bias_attributes(connection, evaluation.labelling.show)
            bias = measure_bias(people, scores, attributes, evaluation) if scores else NO_BIAS
            replace_rows(connection, "judge_bias", bias)
            rates = measure_corrected_rates(
                people,
                scores_of_responses(connection, evaluation, "judge_outside_test"),
                attributes["system"],
                evaluation,
            )
            replace_rows(connection, "corrected_rates", rates)
            repeatability = measure_repeatability(repeated_ratings(connection), evaluation)
            replace_rows(connection, "repeatability", repeatability)
            write_judge_human_disagreements(connection)
        n_far = count_rows(connection, "judge_human_disagreements")
    named = bias[bias["is_named"]] if len(bias) else NO_BIAS
    for row in named.to_dict("records"):
        logger.warning(
            "%s rates %s (%s) by %s points of %s differently at equal quality",
            *(row["judge_id"], row["value"], row["attribute"]),
            *(signed_text(row["relative"]), row["question_id"]),
            extra=DETAIL,
        )
    return {
        "agreement": figures_as_metadata(measures.agreement, JUDGES_AGAINST_HUMANS),
        "named_biases": rows_as_metadata(named, _BIAS_COLUMNS),
        "repeatability": rows_as_metadata(repeatability),
        "corrected_rates": rows_as_metadata(rates),
        "n_disagreements": n_far,
        "n_excluded": n_excluded,
        "agreement_with_excluded": figures_as_metadata(rows_with_excluded, JUDGES_AGAINST_HUMANS),
    }


def hold_out_units(folder: EvaluationFolder) -> None:
    """Store which responses are held out, before judges are compared with people."""
    evaluation = folder.evaluation()
    opened = folder.ledger(evaluation) if evaluation.judges else nullcontext()
    with opened as ledger, folder.connect() as connection, transaction(connection):
        write_held_out_units(connection, evaluation, ledger)


@asset(group="agreement", kinds={"duckdb"}, deps=_RATED)
def combined_scores(folder: EvaluationFolder) -> Metadata:  # noqa: ARG001 - it is a view
    """Human and judge scores side by side: one row per response, question and rater."""
    return {}


@asset(group="agreement", kinds={"duckdb"}, deps=_RATED)
def score_summary(folder: EvaluationFolder) -> Metadata:
    """Mean human and judge scores by question, model and slice, and who is stricter."""
    hold_out_units(folder)
    with folder.connect() as connection:
        with transaction(connection):
            write_score_summary(connection)
        summary = read_table(connection, "score_summary")
    return {"all_responses": rows_as_metadata(summary[summary["slice"] == "all"])}


@asset(group="agreement", kinds={"duckdb"}, deps=_RATED)
def judge_disagreements(folder: EvaluationFolder) -> Metadata:
    """Responses and prompts on which two judges differ too much, worst first.

    Also stores the scores of the first two judges prompt by prompt, which the view `ground_truth`
    shows, and their agreement in this run.
    """
    evaluation = folder.evaluation()
    with folder.connect() as connection:
        units = judged_units(connection)
    pair = [str(judge.model) for judge in evaluation.primary_judges[:2]]
    is_independent = not shared_family(pair, overrides=evaluation.capabilities)
    measures = measure_pairs(
        units, evaluation.dual_judge, is_independent=is_independent, at=datetime.now(tz=UTC)
    )
    validation = measures.validation
    with folder.ledger(evaluation) as ledger:
        if validation is not None:
            append_history(ledger, "dual_judge_validation", [asdict(validation)])
        with folder.connect() as connection, transaction(connection):
            write_pair_measures(
                connection, prompts=measures.prompts, disagreements=measures.disagreements
            )
            copy_ledger(ledger, connection, "dual_judge_validation")
    return {
        "n_prompts": len(measures.prompts),
        "status": validation.status if validation else "not_evaluable",
        "notes": validation.notes if validation else "Fewer than two judges are declared.",
        "worst": rows_as_metadata(measures.disagreements.head(_MOST_SHOWN)),
    }


@asset(group="agreement", kinds={"duckdb"}, deps=_RATED)
def agreement_by_slice(folder: EvaluationFolder) -> Metadata:
    """Agreement of humans and of judges by prompt and model, by difficulty and by attribute."""
    evaluation = folder.evaluation()
    hold_out_units(folder)
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
    if n_not_reliable := int(by_prompt["n_not_reliable"].sum()):
        logger.warning(
            "judges do not agree reliably on %d of %d results by prompt and model, "
            "which results_by_prompt and results_by_model count",
            n_not_reliable,
            by_prompt["n_results"].sum(),
            extra=DETAIL,
        )
    return {"lowest_prompts": rows_as_metadata(by_prompt.head(_MOST_SHOWN))}


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
