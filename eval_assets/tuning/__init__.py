"""Judge tuning: what is tuned is never measured on what it was tuned on."""

from eval_assets.tuning.calibration import calibration_rows
from eval_assets.tuning.certificate import differences, is_certificate
from eval_assets.tuning.fingerprints import (
    Fingerprints,
    fingerprints_of,
    label_fingerprints,
    rubric_hash,
)
from eval_assets.tuning.history import OPENED, Reading, Seal, accepted_version, certified_version
from eval_assets.tuning.issued import FingerprintsNow, certificate_files, certificate_rows
from eval_assets.tuning.material import Words
from eval_assets.tuning.plan import Plan, most_requests, plan_reading
from eval_assets.tuning.prompt_steps import TunedSection, tune_section
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.reading import Row
from eval_assets.tuning.sealed_test import (
    Background,
    candidates_for,
    due_reading,
    make_reading,
    sealed_units,
    unread_rows,
    why_not_read,
)
from eval_assets.tuning.splits import splits_of
from eval_assets.tuning.steps import (
    JURY,
    Scores,
    TunedJudge,
    calibrated_version,
    declared_version,
    dev_figures,
    fitted_maps,
    jury_judge,
    jury_version,
    mapped_judge,
    untested_judge,
)
from eval_assets.tuning.systems import ComparedAnswers, compare_systems
from eval_assets.tuning.targets import Target, compared_with, decisions
from eval_assets.tuning.tuned_prompts import Section, shown_in, with_sections
from eval_assets.tuning.versions import JudgeVersion, number_version, version_from_json

__all__ = [
    "JURY",
    "OPENED",
    "Background",
    "ComparedAnswers",
    "Fingerprints",
    "FingerprintsNow",
    "JudgeVersion",
    "Plan",
    "RatedUnits",
    "Reading",
    "Row",
    "Scores",
    "Seal",
    "Section",
    "Target",
    "TunedJudge",
    "TunedSection",
    "Words",
    "accepted_version",
    "calibrated_version",
    "calibration_rows",
    "candidates_for",
    "certificate_files",
    "certificate_rows",
    "certified_version",
    "compare_systems",
    "compared_with",
    "decisions",
    "declared_version",
    "dev_figures",
    "differences",
    "due_reading",
    "fingerprints_of",
    "fitted_maps",
    "is_certificate",
    "jury_judge",
    "jury_version",
    "label_fingerprints",
    "make_reading",
    "mapped_judge",
    "most_requests",
    "number_version",
    "plan_reading",
    "rubric_hash",
    "sealed_units",
    "shown_in",
    "splits_of",
    "tune_section",
    "unread_rows",
    "untested_judge",
    "version_from_json",
    "why_not_read",
    "with_sections",
]
