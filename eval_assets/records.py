"""What readers hand over: columns of each kind of row, and what was wrong with a file."""

from dataclasses import dataclass

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
    "source",
)
"""A human rating; `value` is NaN only where `skipped`; `source` is `file:line`."""

SCORE_COLUMNS = (
    "response_id",
    "question_id",
    "judge_id",
    "score",
    "status",
    "raw_score",
    "raw_output",
)
"""A judge's rating; `score` is NaN unless `status` is 'ok'; `raw_score` is what was read."""


@dataclass(frozen=True)
class InputProblem:
    """One thing wrong with a given file, and what to do about it.

    Args:
        file: File, as the user would name it.
        line: Line counted from 1; of Parquet and JSON, the row; None for the file as a whole.
        column: Column or key; None where the whole line is meant.
        what: What was found, without a full stop.
        remedy: What to do, without a full stop.

    Examples:
        >>> print(InputProblem("labels.csv", 17, "rating", "6 is not on the scale", "Use 1 to 5"))
        labels.csv:17:rating: 6 is not on the scale. Use 1 to 5.
    """

    file: str
    line: int | None
    column: str | None
    what: str
    remedy: str

    def __str__(self) -> str:
        where = [self.file, *(str(part) for part in (self.line, self.column) if part is not None)]
        return f"{':'.join(where)}: {self.what}. {self.remedy}."


class InputError(ValueError):
    """One bad place in a given file; readers raise all they found in one ExceptionGroup."""

    def __init__(self, problem: InputProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def raise_all(problems: list[InputProblem], *, source: str) -> None:
    """Raise every problem found in `source` at once; do nothing where there is none.

    Raises:
        ExceptionGroup: Of one InputError a problem.
    """
    if problems:
        raise ExceptionGroup(f"{source} cannot be used", [InputError(p) for p in problems])
