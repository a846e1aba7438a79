"""The database, the ledger and all the SQL: what is stored of an evaluation, and read back."""

from eval_assets.store.connection import (
    DamagedError,
    StoreError,
    connect,
    set_aside,
    transaction,
)
from eval_assets.store.gates import is_current, judge_gates, write_gate_verdicts
from eval_assets.store.generated import generated_answers
from eval_assets.store.inputs import (
    import_fingerprint,
    is_imported,
    record_import,
    response_keys,
    write_labels,
    write_rubric,
)
from eval_assets.store.ledger import (
    DualJudgement,
    SqlLedger,
    Worker,
    append_history,
    copy_ledger,
    history_of,
    open_ledger,
    readings_of,
    record_reading,
    release_reading,
    spent_in_month,
    spent_in_run,
    write_staged_mode,
)
from eval_assets.store.pairs import judged_units, write_pair_measures
from eval_assets.store.ratings import (
    data_version,
    human_ratings,
    judge_ratings,
    slices_in_order,
)
from eval_assets.store.report_tables import read_report_tables
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
    "DamagedError",
    "DualJudgement",
    "ExportFormat",
    "JudgeRow",
    "SqlLedger",
    "StoreError",
    "Worker",
    "append_history",
    "columns_of",
    "connect",
    "copy_ledger",
    "count_rows",
    "data_version",
    "export_table",
    "generated_answers",
    "history_of",
    "human_ratings",
    "import_fingerprint",
    "is_current",
    "is_imported",
    "judge_gates",
    "judge_ratings",
    "judged_models",
    "judged_units",
    "open_ledger",
    "rated_units",
    "read_report_tables",
    "read_table",
    "readings_of",
    "record_import",
    "record_reading",
    "release_reading",
    "replace_records",
    "replace_rows",
    "response_keys",
    "score_coverage",
    "set_aside",
    "slices_in_order",
    "spent_in_month",
    "spent_in_run",
    "status_counts",
    "table_names",
    "tables_that_hold",
    "transaction",
    "units_to_judge",
    "worst_disagreements",
    "write_combined_scores",
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
