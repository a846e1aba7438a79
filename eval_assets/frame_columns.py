"""Columns of the rows that readers return and the store keeps."""

RESPONSE_COLUMNS = (
    "response_id",
    "prompt_text",
    "response_text",
    "model_name",
    "group_id",
    "indicator_id",
    "convo_id",
    "turn_index",
    "seed",
    "difficulty",
    "role",
    "timestamp",
    "attributes",
)
"""A response; `attributes` is the JSON object of the file's further columns."""

LABEL_COLUMNS = (
    "response_id",
    "question_id",
    "rater_id",
    "value",
    "labelled_at",
    "confidence",
    "notes",
    "skipped",
    "skip_reason",
    "round",
    "guideline_hash",
    "details",
    "file",
    "line",
)
"""A human rating; `value` is NaN only if `skipped`; `details` is the JSON object of whatever else a
session says of the label; `line` is the place in `file`, counted from 1."""

REJECTED_COLUMNS = ("file", "line", "column", "what", "remedy", "rater_id", "question_id", "sheet")
"""A row of a label file that is not stored as a label, and why."""

SCORE_COLUMNS = (
    "response_id",
    "question_id",
    "judge_id",
    "score",
    "status",
    "raw_score",
    "raw_output",
    "runs",
)
"""A judge's rating; `score` is NaN unless `status` is 'ok'; `raw_score` is what was read; `runs`
are the scores of several runs, of which it is the mean, else None."""
