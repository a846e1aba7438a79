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
from eval_assets.stats.intervals import (
    Interval,
    bootstrap_interval,
    coefficient_interval,
    jackknife_interval,
)
from eval_assets.stats.kappa import (
    GroupedKappa,
    KappaWeights,
    cohen_kappa,
    cohen_kappa_interval,
    grouped_kappa,
)
from eval_assets.stats.overall import OverallProfile, QuestionRatings, overall_profile
from eval_assets.stats.patterns import RatingPatterns, Ratings
from eval_assets.stats.profile import AgreementProfile, agreement_profile

__all__ = [
    "AgreementProfile",
    "AgreementWeights",
    "Alpha",
    "Coefficient",
    "FleissKappa",
    "GroupedKappa",
    "GwetAC",
    "HumanAgreement",
    "Interval",
    "KappaWeights",
    "Level",
    "OverallProfile",
    "PairwiseAgreement",
    "QuestionRatings",
    "RatingPatterns",
    "Ratings",
    "agreement_profile",
    "bootstrap_interval",
    "chance_human_agreement",
    "coefficient_interval",
    "cohen_kappa",
    "cohen_kappa_interval",
    "estimate",
    "fleiss_kappa",
    "grouped_kappa",
    "gwet_ac",
    "human_agreement",
    "jackknife_interval",
    "krippendorff_alpha",
    "overall_profile",
    "pairwise_agreement",
]
