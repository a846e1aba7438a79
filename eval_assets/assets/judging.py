"""What LLM judges said: their scores."""

import dagster as dg
import pandas as pd

from eval_assets.assets.folder import EvaluationFolder, clear_failures, version_of
from eval_assets.assets.frames import rows_as_metadata, table_metadata
from eval_assets.assets.inputs import model_responses, rubric_questions, unchanged
from eval_assets.evaluation import Evaluation, Judge
from eval_assets.judges.verdict import parse_verdict
from eval_assets.readers.files import source_fingerprint
from eval_assets.readers.scores import read_recorded_scores
from eval_assets.records import SCORE_COLUMNS
from eval_assets.store.connection import transaction
from eval_assets.store.scores import JudgeRow, write_judge_scores
from eval_assets.store.tables import (
    import_fingerprint,
    is_imported,
    record_import,
    response_keys,
)


@dg.asset(group_name="judge_scores", kinds={"duckdb"}, deps=[model_responses, rubric_questions])
def judge_scores(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """Each judge's score of each response on each question, or the reason why there is none."""
    with clear_failures():
        evaluation = folder.evaluation()
        fingerprints = {judge.id: judge_fingerprint(judge) for judge in evaluation.judges}
        with folder.connect() as connection:
            fingerprint = version_of(
                fingerprints, import_fingerprint(connection, "responses"), evaluation.rubric
            )
            if is_imported(connection, "judge_scores", fingerprint=fingerprint):
                return unchanged(table_metadata(connection, "judge_scores"))
            responses = response_keys(connection)
        by_judge = [recorded_scores(evaluation, judge, responses) for judge in evaluation.judges]
        rows = [
            JudgeRow(
                judge_id=judge.id,
                provider=judge.provider,
                model=judge.model,
                n_units=len(scores),
                n_ok=int((scores["status"] == "ok").sum()),
                fingerprint=fingerprints[judge.id],
            )
            for judge, scores in zip(evaluation.judges, by_judge, strict=True)
        ]
        scores = pd.concat(by_judge or [pd.DataFrame(columns=list(SCORE_COLUMNS))])
        with folder.connect() as connection, transaction(connection):
            write_judge_scores(connection, rows, scores)
            record_import(connection, "judge_scores", fingerprint=fingerprint, n_rows=len(scores))
            table = table_metadata(connection, "judge_scores")
    statuses = scores.groupby(["judge_id", "status"]).size().reset_index(name="n")
    return dg.MaterializeResult(
        metadata={
            **table,
            "n_judges": len(rows),
            "n_ok": sum(row.n_ok for row in rows),
            "statuses": rows_as_metadata(statuses),
        }
    )


def judge_fingerprint(judge: Judge) -> str:
    """Who a recorded judge is: provider, model and all it is recorded to have said."""
    files = source_fingerprint([judge.scores] if judge.scores else [])
    return version_of(judge.provider, judge.model, files)[:12]


def recorded_scores(evaluation: Evaluation, judge: Judge, responses: pd.DataFrame) -> pd.DataFrame:
    """A recorded judge's scores, raw replies parsed."""
    scores = read_recorded_scores(evaluation, judge, responses)
    scales = {question.id: question.scale for question in evaluation.rubric}
    unparsed = scores.index[scores["status"] == "unparsed"]
    verdicts = [
        parse_verdict(raw, scales[question_id])
        for raw, question_id in scores.loc[unparsed, ["raw_output", "question_id"]].itertuples(
            index=False
        )
    ]
    scores.loc[unparsed, "score"] = [verdict.score for verdict in verdicts]
    scores.loc[unparsed, "raw_score"] = [verdict.raw_score for verdict in verdicts]
    scores.loc[unparsed, "status"] = [verdict.status for verdict in verdicts]
    return scores
