"""LLM raters: prompts, calls, and what a reply means."""

from eval_assets.judges.batching import n_ended_batches
from eval_assets.judges.generating import (
    GeneratedResponse,
    GenerationSummary,
    generate_responses,
    live_generators,
)
from eval_assets.judges.judging import JudgingSummary, live_judges, score_units
from eval_assets.judges.live import api_key_name, api_keys, import_sdks
from eval_assets.judges.models import lifecycle_of, shared_family
from eval_assets.judges.prompt import PromptError, PromptTemplate
from eval_assets.judges.rater import JudgeSummary, LiveJudge, Unit
from eval_assets.judges.run import RunOptions, budget_for, warn_of_budget
from eval_assets.judges.scores import JudgeScore
from eval_assets.judges.staging import StagedJudging, judge_in_stages
from eval_assets.judges.verdict import parse_verdict

__all__ = [
    "GeneratedResponse",
    "GenerationSummary",
    "JudgeScore",
    "JudgeSummary",
    "JudgingSummary",
    "LiveJudge",
    "PromptError",
    "PromptTemplate",
    "RunOptions",
    "StagedJudging",
    "Unit",
    "api_key_name",
    "api_keys",
    "budget_for",
    "generate_responses",
    "import_sdks",
    "judge_in_stages",
    "lifecycle_of",
    "live_generators",
    "live_judges",
    "n_ended_batches",
    "parse_verdict",
    "score_units",
    "shared_family",
    "warn_of_budget",
]
