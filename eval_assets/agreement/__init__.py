"""Agreement measured on stored ratings: of humans, of judges, of both, as gates judge it."""

from eval_assets.agreement.advice import Finding, suggestions
from eval_assets.agreement.anchors import ANCHOR_KEY, due_anchors, new_anchors
from eval_assets.agreement.drift import TOTAL_SIGNIFICANCE, MeanScores, drift_row, moved_judges
from eval_assets.agreement.evidence import judge_gates, measures_version
from eval_assets.agreement.humans import HumanMeasures, measure_humans
from eval_assets.agreement.irr import irr_result
from eval_assets.agreement.judge_verdicts import JudgeVerdict, judge_verdict, why_not_judged
from eval_assets.agreement.judges import measure_judges, measure_judges_against_humans
from eval_assets.agreement.left_out import measure_left_out
from eval_assets.agreement.pairs import measure_pairs
from eval_assets.agreement.ratings import (
    HumanRatings,
    JudgedUnits,
    JudgeRatings,
    LongRatings,
    RaterKind,
)
from eval_assets.agreement.rounds import measure_rounds
from eval_assets.agreement.run_figures import history_rows
from eval_assets.agreement.slices import Coded, measure_slices
from eval_assets.agreement.split_kappa import MIDDLE, pair_kappa
from eval_assets.agreement.staged import Stage, StageChange, next_stage, spot_checks

__all__ = [
    "ANCHOR_KEY",
    "MIDDLE",
    "TOTAL_SIGNIFICANCE",
    "Coded",
    "Finding",
    "HumanMeasures",
    "HumanRatings",
    "JudgeRatings",
    "JudgeVerdict",
    "JudgedUnits",
    "LongRatings",
    "MeanScores",
    "RaterKind",
    "Stage",
    "StageChange",
    "drift_row",
    "due_anchors",
    "history_rows",
    "irr_result",
    "judge_gates",
    "judge_verdict",
    "measure_humans",
    "measure_judges",
    "measure_judges_against_humans",
    "measure_left_out",
    "measure_pairs",
    "measure_rounds",
    "measure_slices",
    "measures_version",
    "moved_judges",
    "new_anchors",
    "next_stage",
    "pair_kappa",
    "spot_checks",
    "suggestions",
    "why_not_judged",
]
