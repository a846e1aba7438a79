"""Agreement statistics on arrays. Undefined is NaN. Requires NumPy only.

Names are imported when they are used first.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_assets.scale import Level, Scale
    from eval_assets.stats._coefficients import (
        AgreementWeights,
        Alpha,
        Coefficient,
        FleissKappa,
        GwetAC,
        HumanAgreement,
        PairwiseAgreement,
    )
    from eval_assets.stats._numbers import Column, Ratings
    from eval_assets.stats._paired_scores import CorrelationKind
    from eval_assets.stats._patterns import RatingPatterns
    from eval_assets.stats.agreement import (
        chance_human_agreement,
        fleiss_kappa,
        gwet_ac,
        human_agreement,
        krippendorff_alpha,
        pairwise_agreement,
    )
    from eval_assets.stats.alternative_annotator import (
        AlternativeAnnotatorTest,
        alternative_annotator_test,
    )
    from eval_assets.stats.association import (
        Correlation,
        bias,
        confusion_matrix,
        kendall_tau_b,
        mean_absolute_error,
        pearson,
        spearman,
        wilcoxon_signed_rank,
    )
    from eval_assets.stats.beside_people import (
        NonInferiority,
        non_inferiority,
        partial_non_inferiority,
    )
    from eval_assets.stats.bootstrap import bootstrap_interval
    from eval_assets.stats.clusters import alpha_by_cluster
    from eval_assets.stats.comparison import difference_interval
    from eval_assets.stats.intervals import Interval, coefficient_interval
    from eval_assets.stats.jackknife import Jackknife, detectable_gain, groups_to_detect
    from eval_assets.stats.judge_pairs import judge_human_agreement, judge_pairwise_agreement
    from eval_assets.stats.judge_profile import JudgeHumanProfile, judge_human_profile
    from eval_assets.stats.kappa import (
        CohenKappa,
        GroupedKappa,
        KappaWeights,
        cohen_kappa,
        grouped_kappa,
    )
    from eval_assets.stats.monotone_map import (
        MonotoneMap,
        best_monotone_map,
        identity_map,
        isotonic_regression,
    )
    from eval_assets.stats.multiple_tests import holm_p_values
    from eval_assets.stats.pair_sums import AgreementGain, agreement_gain, concordance
    from eval_assets.stats.prediction_powered import (
        prediction_powered_difference,
        prediction_powered_mean,
    )
    from eval_assets.stats.prevalence import rogan_gladen
    from eval_assets.stats.question_profile import AgreementProfile, agreement_profile
    from eval_assets.stats.records import human_agreement_by_question, rating_matrices
    from eval_assets.stats.repeated_ratings import repeated_rater
    from eval_assets.stats.retrieval import precision_at_k, recall_at_k
    from eval_assets.stats.rubric_profile import OverallProfile, overall_profile
    from eval_assets.stats.selection import (
        SelectionShift,
        SelectionWeights,
        rank_components,
        selection_shift,
        selection_weights,
        weighted_interval,
    )
    from eval_assets.stats.sign_flips import MeanShift, least_p_value, mean_shift

_MODULES = {
    "scale": "Level Scale",
    "_coefficients": (
        "AgreementWeights Alpha Coefficient FleissKappa GwetAC HumanAgreement PairwiseAgreement"
    ),
    "_numbers": "Column Ratings",
    "_paired_scores": "CorrelationKind",
    "_patterns": "RatingPatterns",
    "agreement": (
        "chance_human_agreement fleiss_kappa gwet_ac human_agreement krippendorff_alpha "
        "pairwise_agreement"
    ),
    "alternative_annotator": "AlternativeAnnotatorTest alternative_annotator_test",
    "association": (
        "Correlation bias confusion_matrix kendall_tau_b mean_absolute_error pearson "
        "spearman wilcoxon_signed_rank"
    ),
    "beside_people": "NonInferiority non_inferiority partial_non_inferiority",
    "bootstrap": "bootstrap_interval",
    "clusters": "alpha_by_cluster",
    "comparison": "difference_interval",
    "intervals": "Interval coefficient_interval",
    "jackknife": "Jackknife detectable_gain groups_to_detect",
    "judge_pairs": "judge_human_agreement judge_pairwise_agreement",
    "judge_profile": "JudgeHumanProfile judge_human_profile",
    "kappa": "CohenKappa GroupedKappa KappaWeights cohen_kappa grouped_kappa",
    "monotone_map": "MonotoneMap best_monotone_map identity_map isotonic_regression",
    "multiple_tests": "holm_p_values",
    "pair_sums": "AgreementGain agreement_gain concordance",
    "prediction_powered": "prediction_powered_difference prediction_powered_mean",
    "prevalence": "rogan_gladen",
    "question_profile": "AgreementProfile agreement_profile",
    "rubric_profile": "OverallProfile overall_profile",
    "repeated_ratings": "repeated_rater",
    "records": "human_agreement_by_question rating_matrices",
    "retrieval": "precision_at_k recall_at_k",
    "selection": (
        "SelectionShift SelectionWeights rank_components selection_shift selection_weights "
        "weighted_interval"
    ),
    "sign_flips": "MeanShift least_p_value mean_shift",
}
"""Exported names by module."""

__all__ = [
    "AgreementGain",
    "AgreementProfile",
    "AgreementWeights",
    "Alpha",
    "AlternativeAnnotatorTest",
    "Coefficient",
    "CohenKappa",
    "Column",
    "Correlation",
    "CorrelationKind",
    "FleissKappa",
    "GroupedKappa",
    "GwetAC",
    "HumanAgreement",
    "Interval",
    "Jackknife",
    "JudgeHumanProfile",
    "KappaWeights",
    "Level",
    "MeanShift",
    "MonotoneMap",
    "NonInferiority",
    "OverallProfile",
    "PairwiseAgreement",
    "RatingPatterns",
    "Ratings",
    "Scale",
    "SelectionShift",
    "SelectionWeights",
    "agreement_gain",
    "agreement_profile",
    "alpha_by_cluster",
    "alternative_annotator_test",
    "best_monotone_map",
    "bias",
    "bootstrap_interval",
    "chance_human_agreement",
    "coefficient_interval",
    "cohen_kappa",
    "concordance",
    "confusion_matrix",
    "detectable_gain",
    "difference_interval",
    "fleiss_kappa",
    "grouped_kappa",
    "groups_to_detect",
    "gwet_ac",
    "holm_p_values",
    "human_agreement",
    "human_agreement_by_question",
    "identity_map",
    "isotonic_regression",
    "judge_human_agreement",
    "judge_human_profile",
    "judge_pairwise_agreement",
    "kendall_tau_b",
    "krippendorff_alpha",
    "least_p_value",
    "mean_absolute_error",
    "mean_shift",
    "non_inferiority",
    "overall_profile",
    "pairwise_agreement",
    "partial_non_inferiority",
    "pearson",
    "precision_at_k",
    "prediction_powered_difference",
    "prediction_powered_mean",
    "rank_components",
    "rating_matrices",
    "recall_at_k",
    "repeated_rater",
    "rogan_gladen",
    "selection_shift",
    "selection_weights",
    "spearman",
    "weighted_interval",
    "wilcoxon_signed_rank",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever it is
    """Return an exported name from its module."""
    for module, names in _MODULES.items():
        if name in names.split():
            package = "eval_assets" if module == "scale" else __name__
            return getattr(import_module(f"{package}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
