"""Assets of held-out tests and of judge certificates."""

import json

import dagster as dg
import pandas as pd

from eval_assets.assets.agreement import judge_human_agreement
from eval_assets.assets.checks import certificates_valid
from eval_assets.assets.drift import judge_drift
from eval_assets.assets.gates import questions_past_the_gates
from eval_assets.assets.judging import judge_scores
from eval_assets.assets.labelling import human_labels
from eval_assets.assets.metadata import Metadata, rows_as_metadata
from eval_assets.assets.recipes import asset, checks
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.assets.tuning import judge_versions, units_past_the_gates
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.store.connection import transaction
from eval_assets.store.ledger.copies import copy_ledger
from eval_assets.store.ledger.histories import JudgeLedger
from eval_assets.store.schema import replace_records, replace_rows
from eval_assets.store.scores import unevaluated_tests
from eval_assets.store.splits import questions_where_people_agree
from eval_assets.store.tuned_judges import (
    background_of,
    certificate_table,
    checked_certificates,
    current_judges,
    evaluation_table,
    has_prompts,
    write_stand_in_scores,
)
from eval_assets.tuning.held_out_test import evaluate_if_due, next_plans
from eval_assets.tuning.issued import certificate_files, certified_parts
from eval_assets.tuning.power import Plan
from eval_assets.tuning.verdicts_of_test import Row

READ_TESTS_TAG = "eval_assets/read_tests"
"""Tag of a run that evaluates tests after any change, and not only when they are due."""


@asset(
    group="judge_tuning",
    kinds={"duckdb"},
    deps=[judge_versions, judge_human_agreement],  # the latter names biases for certificates
)
def tuned_judge_evaluation(context: dg.AssetExecutionContext, folder: EvaluationFolder) -> Metadata:
    """Verdicts of the held-out test on each tuned judge; each evaluation of the test counts."""
    evaluation = folder.evaluation()
    with folder.connect() as connection, folder.ledger(evaluation) as ledger:
        units = units_past_the_gates(connection, evaluation, texts=has_prompts(ledger))
        judges = current_judges(connection, ledger, units)
        rows = list[Row]()
        plans = list[Plan]()
        n_new = 0
        for question_id, rated in units.items():
            background = background_of(connection, question_id, evaluation.tuning)
            records, is_new = evaluate_if_due(
                JudgeLedger(ledger),
                rated,
                judges,
                background,
                on_request=READ_TESTS_TAG in context.run.tags,
                policy=evaluation.tuning.evaluate,
            )
            rows += records
            plans += next_plans(JudgeLedger(ledger), rated, judges, background)
            n_new += is_new
        agreed = questions_where_people_agree(connection)
        table_rows = pd.DataFrame(evaluation_table(rows, agreed=agreed))
        with transaction(connection):
            replace_rows(connection, "tuned_judge_evaluation", table_rows)
            replace_records(connection, "sealed_test_plans", plans)
            copy_ledger(ledger, connection, "test_set_uses")
    return {
        "n_new_evaluations": n_new,
        "verdicts": rows_as_metadata(table_rows, _VERDICT),
    }


@asset(group="judge_tuning", kinds={"duckdb", "json"}, deps=[tuned_judge_evaluation, judge_drift])
def judge_certificates(folder: EvaluationFolder) -> Metadata:
    """Judge certificates with their evidence and validity."""
    evaluation = folder.evaluation()
    sources = source_fingerprints(evaluation)
    with folder.connect() as connection, folder.ledger(evaluation) as ledger:
        questions_past_the_gates(connection, evaluation)
        checked = checked_certificates(connection, ledger, evaluation, sources=sources)
        rows, evaluations = checked.rows, checked.evaluations
        with transaction(connection):
            as_table = certificate_table(rows, agreed=questions_where_people_agree(connection))
            replace_rows(connection, "judge_certificates", pd.DataFrame(as_table))
            parts = [
                part for result in evaluations.values() for part in certified_parts(result, rows)
            ]
            write_stand_in_scores(connection, parts, evaluation.rubric)
        unevaluated = unevaluated_tests(connection)
    issued = certificate_files([item for result in evaluations.values() for item in result])
    files = {
        certificate.file_name: json.dumps(certificate.as_json(), indent=2, ensure_ascii=False)
        for certificate in issued.values()
    }
    out = folder.out / "certificates"
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (out / name).write_text(f"{text}\n", encoding="utf-8")
    for path in out.glob("*.json"):
        if path.name not in files:
            path.unlink()
    displayed_columns = [*_VERDICT[:3], "claim", "state", "reason", "stale_because"]
    return {
        "not_evaluated": rows_as_metadata(
            pd.DataFrame(unevaluated.items(), columns=["question_id", "reason"])
        ),
        "n_valid": sum(bool(row.certificate) and not row.stale_because for row in rows),
        "certificates": rows_as_metadata(pd.DataFrame(as_table, columns=displayed_columns)),
        "folder": dg.MetadataValue.path(str(out.resolve())),
    }


certificate_checks = checks(
    certificates_valid, of=judge_certificates, also_of=[human_labels, judge_scores]
)


_VERDICT = (
    *("judge_id", "version", "question_id", "kind", "state", "gain", "gap"),
    *("n_groups", "groups_wanted", "reading", "level"),
)
"""Columns for the page of the asset; the page of the certificates has the reason."""
