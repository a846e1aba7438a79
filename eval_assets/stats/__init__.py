"""Agreement statistics: arrays in, numbers out; undefined is NaN."""

from eval_assets.scale import Level
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
    bias,
    confusion_matrix,
    kendall_tau_b,
    mean_absolute_error,
    pearson,
    spearman,
    wilcoxon_signed_rank,
)
from eval_assets.stats.beside_people import NonInferiority, non_inferiority
from eval_assets.stats.clusters import alpha_by_cluster
from eval_assets.stats.coefficients import (
    AgreementWeights,
    Alpha,
    Coefficient,
    FleissKappa,
    GwetAC,
    HumanAgreement,
    PairwiseAgreement,
    estimate,
)
from eval_assets.stats.comparison import difference_interval
from eval_assets.stats.intervals import (
    Interval,
    bootstrap_interval,
    coefficient_interval,
    jackknife_interval,
)
from eval_assets.stats.jackknife import Jackknife, detectable_gain, groups_to_detect
from eval_assets.stats.judge_human import JudgeHumanProfile, judge_human_profile
from eval_assets.stats.judge_pairs import judge_human_agreement, judge_pairwise_agreement
from eval_assets.stats.kappa import (
    GroupedKappa,
    KappaWeights,
    cohen_kappa,
    cohen_kappa_interval,
    grouped_kappa,
)
from eval_assets.stats.monotone_map import (
    MonotoneMap,
    best_monotone_map,
    identity_map,
    isotonic_regression,
)
from eval_assets.stats.overall import OverallProfile, QuestionRatings, overall_profile
from eval_assets.stats.pair_sums import AgreementGain, agreement_gain, concordance
from eval_assets.stats.patterns import RatingPatterns, Ratings
from eval_assets.stats.prediction_powered import (
    prediction_powered_difference,
    prediction_powered_mean,
)
from eval_assets.stats.prevalence import rogan_gladen
from eval_assets.stats.profile import AgreementProfile, agreement_profile

__all__ = [
    "AgreementGain",
    "AgreementProfile",
    "AgreementWeights",
    "Alpha",
    "AlternativeAnnotatorTest",
    "Coefficient",
    "FleissKappa",
    "GroupedKappa",
    "GwetAC",
    "HumanAgreement",
    "Interval",
    "Jackknife",
    "JudgeHumanProfile",
    "KappaWeights",
    "Level",
    "MonotoneMap",
    "NonInferiority",
    "OverallProfile",
    "PairwiseAgreement",
    "QuestionRatings",
    "RatingPatterns",
    "Ratings",
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
    "cohen_kappa_interval",
    "concordance",
    "confusion_matrix",
    "detectable_gain",
    "difference_interval",
    "estimate",
    "fleiss_kappa",
    "grouped_kappa",
    "groups_to_detect",
    "gwet_ac",
    "human_agreement",
    "identity_map",
    "isotonic_regression",
    "jackknife_interval",
    "judge_human_agreement",
    "judge_human_profile",
    "judge_pairwise_agreement",
    "kendall_tau_b",
    "krippendorff_alpha",
    "mean_absolute_error",
    "non_inferiority",
    "overall_profile",
    "pairwise_agreement",
    "pearson",
    "prediction_powered_difference",
    "prediction_powered_mean",
    "rogan_gladen",
    "spearman",
    "wilcoxon_signed_rank",
]
