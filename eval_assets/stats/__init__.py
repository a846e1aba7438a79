"""Agreement statistics on arrays. Undefined is NaN. Requires NumPy only.

Names are imported when they are used first.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers: what each module exports
    from eval_assets.scale import *  # noqa: F403
    from eval_assets.stats._coefficients import *  # noqa: F403
    from eval_assets.stats._numbers import *  # noqa: F403
    from eval_assets.stats._paired_scores import *  # noqa: F403
    from eval_assets.stats._patterns import *  # noqa: F403
    from eval_assets.stats.agreement import *  # noqa: F403  # noqa: F403
    from eval_assets.stats.association import *  # noqa: F403  # noqa: F403
    from eval_assets.stats.beside_people import *  # noqa: F403
    from eval_assets.stats.corrected_means import *  # noqa: F403
    from eval_assets.stats.intervals import *  # noqa: F403
    from eval_assets.stats.judge_pairs import *  # noqa: F403
    from eval_assets.stats.judge_profile import *  # noqa: F403
    from eval_assets.stats.kappa import *  # noqa: F403
    from eval_assets.stats.monotone_map import *  # noqa: F403
    from eval_assets.stats.pair_sums import *  # noqa: F403
    from eval_assets.stats.planning import *  # noqa: F403
    from eval_assets.stats.question_profile import *  # noqa: F403
    from eval_assets.stats.resampling import *  # noqa: F403
    from eval_assets.stats.rubric_profile import *  # noqa: F403

_MODULES = {
    "scale": "Level Scale",
    "_coefficients": (
        "AgreementWeights Alpha Coefficient FleissKappa GwetAC HumanAgreement PairwiseAgreement"
    ),
    "_numbers": "Column Ratings",
    "_paired_scores": "CorrelationKind",
    "_patterns": "RatingPatterns",
    "agreement": (
        "alpha_by_cluster fleiss_kappa gwet_ac human_agreement human_agreement_by_question "
        "krippendorff_alpha pairwise_agreement rating_matrices"
    ),
    "association": (
        "Correlation MeanShift kendall_tau_b least_p_value mean_shift pearson spearman "
        "wilcoxon_signed_rank"
    ),
    "beside_people": "NonInferiority non_inferiority partial_non_inferiority",
    "corrected_means": "prediction_powered_difference prediction_powered_mean rogan_gladen",
    "intervals": "Interval coefficient_interval",
    "judge_pairs": (
        "AlternativeAnnotatorTest alternative_annotator_test judge_human_agreement repeated_rater"
    ),
    "judge_profile": "JudgeHumanProfile judge_human_profile",
    "kappa": "CohenKappa KappaWeights cohen_kappa",
    "monotone_map": "MonotoneMap best_monotone_map identity_map isotonic_regression",
    "pair_sums": "AgreementGain agreement_gain concordance",
    "planning": "groups_to_detect more_to_decide probability_below",
    "question_profile": "AgreementProfile agreement_profile",
    "resampling": "Jackknife bootstrap_interval",
    "rubric_profile": "OverallProfile overall_profile",
}
"""Exported names by module."""

__all__ = list(" ".join(_MODULES.values()).split())


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever it is
    """Return an exported name from its module."""
    for module, names in _MODULES.items():
        if name in names.split():
            package = "eval_assets" if module == "scale" else __name__
            return getattr(import_module(f"{package}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
