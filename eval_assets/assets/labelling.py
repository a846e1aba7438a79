"""Assets of human labels: labels, disagreements, sheets, adjudications and quality."""

import json
import logging
from dataclasses import replace

import dagster as dg
import pandas as pd
from duckdb import DuckDBPyConnection as Connection

from eval_assets.assets.inputs import model_responses, rubric_questions
from eval_assets.assets.metadata import (
    Metadata,
    list_as_metadata,
    rows_as_metadata,
    without_blanks,
)
from eval_assets.assets.recipes import asset
from eval_assets.assets.resources import EvaluationFolder, version_of
from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import DISCUSSION
from eval_assets.errors import InputError, StoreError
from eval_assets.labelling.adjudication import (
    Adjudication,
    decisions,
    own_rating,
    read_adjudications,
)
from eval_assets.labelling.quality import history_rows, quality_figures, quality_sources
from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.rubric_versions import by_rubric_version, wordings_in_order
from eval_assets.labelling.sessions import file_name, time_text
from eval_assets.labelling.sheets import sheet_text, write_sheet
from eval_assets.labelling.study import Study
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.readers.labelling_inputs import read_assignments, with_calibration
from eval_assets.readers.labels.read import read_labels
from eval_assets.store.connection import transaction
from eval_assets.store.inputs import (
    check_imported,
    import_fingerprint,
    is_imported,
    label_counts,
    labels_by_file,
    n_changed_labels,
    record_import,
    response_keys,
    write_labels,
)
from eval_assets.store.labelling import (
    measured_quality,
    stored_responses,
    write_adjudicated_labels,
    write_label_history,
)
from eval_assets.store.schema import read_rows, replace_records
from eval_assets.store.summaries import worst_disagreements, write_label_disagreements
from eval_assets.wording import counted

logger = logging.getLogger(__name__)


@asset(
    group="human_labels",
    kinds={"csv", "duckdb"},
    deps=[model_responses, rubric_questions, "label_files"],
)
def human_labels(folder: EvaluationFolder) -> Metadata:
    """Ratings by humans, each checked against its question's scale."""
    evaluation = folder.evaluation()
    files = source_fingerprints(evaluation)["human_labels"]
    with folder.connect() as connection:
        responses_from = import_fingerprint(connection, "responses")
        fingerprint = version_of(
            files, responses_from, evaluation.rubric, evaluation.labels.on_error
        )
        if is_imported(connection, "human_labels", fingerprint=fingerprint):
            return label_counts(connection)
        check_imported(connection, "model_responses", evaluation.folder)
        responses = response_keys(connection, further=evaluation.filter_columns)
        n_labels_by_file = labels_by_file(connection)
    if n_labels_by_file and not evaluation.labels.files and not evaluation.labels.are_named:
        n_labels = counted(sum(n_labels_by_file.values()), "label")
        raise StoreError(
            f"labels: there is no label file, but the database has {n_labels} from "
            f"{' and '.join(n_labels_by_file)}. Bring the file back, or write `labels: []` in "
            "evaluation.yaml to go on without them."
        )

    def texts() -> list[str | None]:
        with folder.connect() as connection:
            return response_keys(connection, further=["response_text"])["response_text"].tolist()

    labels = read_labels(evaluation, responses, texts=texts)
    for note in labels.notes:
        logger.info(note)
    if labels.ratings.empty and labels.n_unrated:
        logger.warning("no label has a rating: all %d are blank", labels.n_unrated)
    for file in sorted({*n_labels_by_file}.difference(labels.ratings["file"].unique())):
        logger.warning("%s: no label comes from it any more, %d did", file, n_labels_by_file[file])
    with folder.connect() as connection, transaction(connection):
        rows = read_rows(connection, "rubric_wordings", order_by="version")
        wordings = wordings_in_order(rows)
        versions = by_rubric_version(labels.ratings, evaluation.rubric, wordings)
        for note in versions.notes:
            logger.warning(note)
        if n_changed := n_changed_labels(connection, versions.ratings):
            logger.warning("labels with another value than in the last run: %d", n_changed)
        before = by_rubric_version(labels.earlier, evaluation.rubric, wordings)
        earlier = pd.concat([before.ratings, before.older, versions.older])
        write_labels(
            connection,
            versions.ratings,
            earlier=earlier,
            rejected=labels.rejected,
            unrated=labels.unrated,
        )
        record_import(connection, "human_labels", fingerprint=fingerprint, sources=files)
        counts = label_counts(connection)
    return {**counts, "n_unrated": labels.n_unrated, "n_changed": n_changed}


@asset(group="human_labels", kinds={"duckdb"}, deps=[human_labels])
def label_disagreements(folder: EvaluationFolder) -> Metadata:
    """Responses on which raters lie far apart, worst first."""
    with folder.connect() as connection, transaction(connection):
        write_label_disagreements(connection)
        worst = worst_disagreements(connection, most=10)
    return {"worst": rows_as_metadata(worst)}


@asset(group="human_labels", kinds={"csv"}, deps=[model_responses, rubric_questions])
def annotation_sheets(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """A sheet for each rater with the units to rate, for spreadsheet programs, in out/sheets.

    If no raters are declared, one sheet without a rater, unless there are label files.
    """
    evaluation = folder.evaluation()
    paths, refusals = [], []
    with folder.connect() as connection:
        study = _study(evaluation, connection)
        raters = study.raters or (() if evaluation.labels.files else ("",))
        responses = stored_responses(connection) if raters else pd.DataFrame()
    for rater in raters:
        path = folder.out / "sheets" / f"{file_name(rater) or 'sheet'}.csv"
        units = study.sheet_units(rater)
        try:
            hide, codes = evaluation.labelling.hide, study.codes
            write_sheet(path, sheet_text(responses, units, hide=hide, codes=codes))
        except InputError as error:
            refusals.append(str(error))
        else:
            paths.append(str(path))
    return dg.MaterializeResult(
        metadata=without_blanks({"written": paths, "kept": refusals, "raters": list(study.raters)})
    )


@asset(
    group="human_labels",
    kinds={"json", "duckdb"},
    deps=[human_labels, "adjudication_file"],
)
def adjudicated_labels(folder: EvaluationFolder) -> Metadata:
    """Disagreements that were settled: a consensus, or the response left out as ambiguous."""
    evaluation = folder.evaluation()
    files = source_fingerprints(evaluation)["adjudicated_labels"]
    steps = read_adjudications(evaluation)
    rows = [_settled_row(decision, steps) for decision in decisions(steps).values()]
    with folder.connect() as connection, transaction(connection):
        n_unknown = write_adjudicated_labels(connection, rows)
        record_import(connection, "adjudicated_labels", fingerprint=files, sources=files)
    return {
        "n_consensus": sum(not row["excluded"] for row in rows),
        "n_excluded": sum(bool(row["excluded"]) for row in rows),
        "n_of_unknown_responses": n_unknown,
    }


@asset(group="human_labels", kinds={"duckdb"}, deps=[human_labels])
def label_quality(folder: EvaluationFolder) -> Metadata:
    """Figures of each rater's labels with advice, and labels that do not count."""
    evaluation = folder.evaluation()
    with folder.connect() as connection:
        study = _study(evaluation, connection)
    sessions = study.sessions.all()
    history = history_rows([*sessions, *study.sessions.readable(DISCUSSION)[0]])
    sources = quality_sources(study, sessions)
    with folder.connect() as connection, transaction(connection):
        figures = quality_figures(evaluation.rubric, measured_quality(connection, sources))
        replace_records(connection, "label_quality", figures)
        write_label_history(connection, history)
    advice = [figure for figure in figures if figure.advice]
    return {
        "n_changes": int((history["kind"] == "change").sum()),
        "n_repeats": int((history["kind"] == "repeat").sum()),
        "advice": list_as_metadata(f"**{one.question_id}**: {one.advice}" for one in advice),
        "figures": rows_as_metadata(pd.DataFrame([vars(figure) for figure in figures])),
    }


def _study(evaluation: Evaluation, connection: Connection) -> Study:
    """Return the evaluation as raters label it; without responses if all labels come in files."""
    study = with_calibration(Study(evaluation, {}, read_assignments(evaluation)))
    if evaluation.labels.files and not study.raters and not study.sessions.files():
        return study
    return replace(study, responses=response_views(evaluation, stored_responses(connection)))


def _settled_row(decision: Adjudication, steps: list[Adjudication]) -> dict[str, object]:
    rating = own_rating(steps, decision.unit, decision.by)
    return {
        "response_id": decision.response_id,
        "question_id": decision.question_id,
        "value": decision.value,
        "source": "consensus",
        "excluded": decision.step == "excluded",
        "reason": decision.reason,
        "decided_by": decision.by,
        "decided_at": time_text(decision.at),
        "own_rating": rating.value if rating else None,
        "ratings": json.dumps(dict(decision.ratings)),
        "is_override": decision.between == "judges",
    }
