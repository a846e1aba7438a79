"""DuckDB and all the SQL: the tables of an evaluation, written and read."""

from eval_assets.store.connection import StoreError, connect, transaction
from eval_assets.store.gates import is_current, judge_gates, write_gate_verdicts
from eval_assets.store.generated import generated_answers, record_spending, spent_in_run
from eval_assets.store.inputs import (
    import_fingerprint,
    is_imported,
    record_import,
    response_keys,
    write_labels,
    write_rubric,
)
from eval_assets.store.judge_calls import DuckDBLedger
from eval_assets.store.pairs import (
    DualJudgement,
    judged_units,
    validation_history,
    write_dual_judgement,
    write_pair_measures,
    write_staged_mode,
)
from eval_assets.store.ratings import (
    data_version,
    human_ratings,
    judge_ratings,
    slices_in_order,
)
from eval_assets.store.schema import table_names
from eval_assets.store.scores import (
    JudgeRow,
    judged_models,
    score_coverage,
    status_counts,
    units_to_judge,
    write_judge_scores,
)
from eval_assets.store.splits import rated_units
from eval_assets.store.summaries import (
    worst_disagreements,
    write_combined_scores,
    write_judge_human_disagreements,
    write_label_disagreements,
    write_score_summary,
)
from eval_assets.store.tables import (
    ExportFormat,
    columns_of,
    count_rows,
    export_table,
    read_table,
    replace_records,
    replace_rows,
    tables_that_hold,
)

__all__ = [
    "DualJudgement",
    "DuckDBLedger",
    "ExportFormat",
    "JudgeRow",
    "StoreError",
    "columns_of",
    "connect",
    "count_rows",
    "data_version",
    "export_table",
    "generated_answers",
    "human_ratings",
    "import_fingerprint",
    "is_current",
    "is_imported",
    "judge_gates",
    "judge_ratings",
    "judged_models",
    "judged_units",
    "rated_units",
    "read_table",
    "record_import",
    "record_spending",
    "replace_records",
    "replace_rows",
    "response_keys",
    "score_coverage",
    "slices_in_order",
    "spent_in_run",
    "status_counts",
    "table_names",
    "tables_that_hold",
    "transaction",
    "units_to_judge",
    "validation_history",
    "worst_disagreements",
    "write_combined_scores",
    "write_dual_judgement",
    "write_gate_verdicts",
    "write_judge_human_disagreements",
    "write_judge_scores",
    "write_label_disagreements",
    "write_labels",
    "write_pair_measures",
    "write_rubric",
    "write_score_summary",
    "write_staged_mode",
]
