"""What is evaluated: the rubric and the model responses."""

import dagster as dg

from eval_assets.assets.folder import EvaluationFolder, clear_failures, version_of
from eval_assets.readers.files import source_fingerprint
from eval_assets.readers.responses import read_responses
from eval_assets.store.connection import transaction
from eval_assets.store.tables import (
    count_rows,
    is_imported,
    record_import,
    replace_rows,
    write_rubric,
)


@dg.asset(group_name="inputs", kinds={"yaml", "duckdb"})
def rubric_questions(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """What raters and judges are asked of each response, with the scale of each question."""
    with clear_failures():
        evaluation = folder.evaluation()
        with folder.connect() as connection, transaction(connection):
            write_rubric(connection, evaluation.rubric)
    questions = [
        dg.TableRecord(
            {
                "question_id": question.id,
                "question": question.question,
                "scale": question.scale.described(),
                "level": question.level,
                "scale_guessed": question.scale_guessed,
            }
        )
        for question in evaluation.rubric
    ]
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": len(questions),
            "questions": dg.MetadataValue.table(questions),
            "n_scales_guessed": sum(q.scale_guessed for q in evaluation.rubric),
        }
    )


@dg.asset(group_name="inputs", kinds={"csv", "duckdb"})
def model_responses(folder: EvaluationFolder) -> dg.MaterializeResult[None]:
    """What each model answered, merged from the response files."""
    with clear_failures():
        evaluation = folder.evaluation()
        fingerprint = version_of(source_fingerprint(evaluation.responses))
        with folder.connect() as connection:
            if is_imported(connection, "responses", fingerprint=fingerprint):
                return unchanged(count_rows(connection, "responses"))
        responses = read_responses(evaluation)
        with folder.connect() as connection, transaction(connection):
            replace_rows(connection, "responses", responses)
            record_import(connection, "responses", fingerprint=fingerprint, n_rows=len(responses))
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": len(responses),
            "n_models": responses["model_name"].nunique(),
            "n_empty_responses": int((responses["response_text"] == "").sum()),
            "files": [path.name for path in evaluation.responses],
        }
    )


def unchanged(n_rows: int) -> dg.MaterializeResult[None]:
    """Report of an import whose files and settings are those of the rows already stored."""
    return dg.MaterializeResult(
        metadata={"dagster/row_count": n_rows, "import": "files unchanged, nothing rewritten"}
    )
