"""What the report is made from."""

from dataclasses import dataclass
from datetime import datetime

import pandas as pd

from eval_assets.evaluation import Evaluation
from eval_assets.gates import GateOutcome


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything the report tells, as measured; the frames have the columns of their tables.

    Args:
        evaluation: What was evaluated.
        gates: What every gate that applies says, on the data as it is now.
        tunable: Ids of the questions that tuning may cover; empty while a gate is closed.
        n_responses: Responses that there are.
        n_labels: Ratings by humans.
        n_raters: Humans who rated.
        human_agreement: All rows of `human_agreement`.
        judge_agreement: Rows of `judge_agreement` of the scopes `question` and `overall`.
        judge_human_agreement: All rows of `judge_human_agreement`.
        judge_confusion: All rows of `judge_confusion`.
        judge_statuses: Columns `judge_id`, `status` and `n`, the units of that status.
        label_findings: All rows of `label_findings`.
        label_disagreements: Rows of `label_disagreements`, worst first, with `model_name`,
            `prompt_text` and `response_text` of the response.
        n_disagreements: How many rows that table has; `label_disagreements` may hold fewer.
        score_summary: All rows of `score_summary`.
        generated_at: When the report is made, with a time zone.
    """

    evaluation: Evaluation
    gates: tuple[GateOutcome, ...]
    tunable: tuple[str, ...]
    n_responses: int
    n_labels: int
    n_raters: int
    human_agreement: pd.DataFrame
    judge_agreement: pd.DataFrame
    judge_human_agreement: pd.DataFrame
    judge_confusion: pd.DataFrame
    judge_statuses: pd.DataFrame
    label_findings: pd.DataFrame
    label_disagreements: pd.DataFrame
    n_disagreements: int
    score_summary: pd.DataFrame
    generated_at: datetime
