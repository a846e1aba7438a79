"""Judge tuning: what is tuned is never measured on what it was tuned on."""

from eval_assets.tuning.beside import figures_beside
from eval_assets.tuning.calibration import (
    Calibration,
    CalibrationVerdict,
    calibrate,
    calibration_rows,
    other_maps,
)
from eval_assets.tuning.candidates import Search, Tried, search_instructions, worst_disagreements
from eval_assets.tuning.certificate import (
    Evidence,
    certificate_schema,
    differences,
    evidence_of,
    is_certificate,
    labels_hash,
    question_certificate,
    rubric_hash,
    stale_because,
    statement,
)
from eval_assets.tuning.exemplars import few_shot_examples
from eval_assets.tuning.fitness import Fitness, FitnessVerdict, judge_fitness
from eval_assets.tuning.history import (
    OPENED,
    Reading,
    Seal,
    accepted_version,
    certified_version,
    content_hash,
)
from eval_assets.tuning.improvement import Improvement, ImprovementVerdict, judge_improvement
from eval_assets.tuning.issued import EvidenceNow, certificate_files, certificate_rows
from eval_assets.tuning.jury import jury_scores, jury_weights
from eval_assets.tuning.plan import Plan, most_requests, plan_reading
from eval_assets.tuning.prompt_steps import TunedSection, Words, tune_section
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.reading import Candidate, Row, Verdicts, evaluation_rows, read_test
from eval_assets.tuning.seal import MOST_READINGS, coarse_gain, reading_significance
from eval_assets.tuning.sealed_test import (
    Background,
    candidates_for,
    due_reading,
    evidence_now,
    make_reading,
    sealed_units,
    unread_rows,
    why_not_read,
)
from eval_assets.tuning.splits import Split, split_of, splits_of
from eval_assets.tuning.steps import (
    JURY,
    Scores,
    TunedJudge,
    calibrated_version,
    declared_version,
    fitted_maps,
    jury_judge,
    jury_version,
    mapped_judge,
)
from eval_assets.tuning.systems import ComparedAnswers, compare_systems
from eval_assets.tuning.targets import Target, compared_with, decisions
from eval_assets.tuning.tuned_prompts import Example, Rule, Section, copied_share, with_sections
from eval_assets.tuning.versions import (
    JudgeVersion,
    canonical_json,
    number_version,
    version_as_json,
    version_from_json,
)
from eval_assets.tuning.writer import (
    Disagreement,
    Remark,
    guidelines_request,
    instructions_request,
    read_instructions,
    read_rules,
)

__all__ = [
    "JURY",
    "MOST_READINGS",
    "OPENED",
    "Background",
    "Calibration",
    "CalibrationVerdict",
    "Candidate",
    "ComparedAnswers",
    "Disagreement",
    "Evidence",
    "EvidenceNow",
    "Example",
    "Fitness",
    "FitnessVerdict",
    "Improvement",
    "ImprovementVerdict",
    "JudgeVersion",
    "Plan",
    "RatedUnits",
    "Reading",
    "Remark",
    "Row",
    "Rule",
    "Scores",
    "Seal",
    "Search",
    "Section",
    "Split",
    "Target",
    "Tried",
    "TunedJudge",
    "TunedSection",
    "Verdicts",
    "Words",
    "accepted_version",
    "calibrate",
    "calibrated_version",
    "calibration_rows",
    "candidates_for",
    "canonical_json",
    "certificate_files",
    "certificate_rows",
    "certificate_schema",
    "certified_version",
    "coarse_gain",
    "compare_systems",
    "compared_with",
    "content_hash",
    "copied_share",
    "decisions",
    "declared_version",
    "differences",
    "due_reading",
    "evaluation_rows",
    "evidence_now",
    "evidence_of",
    "few_shot_examples",
    "figures_beside",
    "fitted_maps",
    "guidelines_request",
    "instructions_request",
    "is_certificate",
    "judge_fitness",
    "judge_improvement",
    "jury_judge",
    "jury_scores",
    "jury_version",
    "jury_weights",
    "labels_hash",
    "make_reading",
    "mapped_judge",
    "most_requests",
    "number_version",
    "other_maps",
    "plan_reading",
    "question_certificate",
    "read_instructions",
    "read_rules",
    "read_test",
    "reading_significance",
    "rubric_hash",
    "sealed_units",
    "search_instructions",
    "split_of",
    "splits_of",
    "stale_because",
    "statement",
    "tune_section",
    "unread_rows",
    "version_as_json",
    "version_from_json",
    "why_not_read",
    "with_sections",
    "worst_disagreements",
]
