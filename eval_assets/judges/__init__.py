"""LLM raters: prompts, model requests, and reading what a reply means."""

from eval_assets.judges.batching import n_ended_batches
from eval_assets.judges.calling.live_model import LiveModel
from eval_assets.judges.calling.session import RequestOptions, require_prices, warn_of_budget
from eval_assets.judges.catalogue.models import (
    KnownModel,
    known_models,
    lifecycle_of,
    price_sources,
    shared_family,
)
from eval_assets.judges.clients import import_sdks
from eval_assets.judges.credentials import api_key_name, api_keys
from eval_assets.judges.declared import live_generators, live_judges
from eval_assets.judges.generating import GeneratedResponse, GenerationSummary, generate_responses
from eval_assets.judges.judging import (
    JudgeSummary,
    JudgingSummary,
    judge_portions,
    judge_units,
    stored_scores,
)
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import PromptError, PromptTemplate
from eval_assets.judges.replicates import JudgeScore
from eval_assets.judges.replies import parse_reply

__all__ = [
    "GeneratedResponse",
    "GenerationSummary",
    "JudgeScore",
    "JudgeSummary",
    "JudgingSummary",
    "KnownModel",
    "LiveModel",
    "PromptError",
    "PromptTemplate",
    "RequestOptions",
    "Unit",
    "api_key_name",
    "api_keys",
    "generate_responses",
    "import_sdks",
    "judge_portions",
    "judge_units",
    "known_models",
    "lifecycle_of",
    "live_generators",
    "live_judges",
    "n_ended_batches",
    "parse_reply",
    "price_sources",
    "require_prices",
    "shared_family",
    "stored_scores",
    "warn_of_budget",
]
