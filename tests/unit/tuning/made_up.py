"""Made-up rated units for the tests of tuning."""

from pathlib import Path

import numpy as np

import eval_assets
from eval_assets.config.rubric import RubricQuestion
from eval_assets.config.tuning import SplitShares
from eval_assets.scale import BINARY, LIKERT5, Level, Scale
from eval_assets.tuning.certificate import QuestionCertificate
from eval_assets.tuning.rated import RatedUnits, splits_of
from eval_assets.tuning.verdicts_of_test import Candidate
from eval_assets.tuning.versions import JudgeVersion

Floats = np.ndarray

SCHEMA = Path(eval_assets.__file__).parent / "tuning" / "judge_certificate.schema.json"
"""The published schema of certificate files."""

__all__ = ["BINARY", "LIKERT5", "certificate", "rated_units", "simulated"]


def rated_units(
    ratings: object,
    *,
    groups: object | None = None,
    scale: Scale = LIKERT5,
    level: Level = "ordinal",
    split: str | None = None,
) -> RatedUnits:
    """Units with these ratings; each a group of its own, split as its name says unless given."""
    matrix = np.asarray(ratings, dtype=np.float64)
    n_units = len(matrix)
    names = np.array([f"g{k}" for k in range(n_units)]) if groups is None else np.asarray(groups)
    splits = splits_of(names, SplitShares()) if split is None else np.full(n_units, split)
    return RatedUnits(
        question=RubricQuestion(id="q", question="How good?", scale=scale, level=level),
        response_ids=np.array([f"r{k}" for k in range(n_units)]),
        groups=names.astype(str),
        splits=splits,
        ratings=matrix,
        scores={},
        models=np.full(n_units, "m"),
        prompt_texts=np.array([f"Question {name}?" for name in names], dtype=object),
        response_texts=np.full(n_units, "Ten chars.", dtype=object),
    )


def certificate(question_id: str = "q", **fields: object) -> QuestionCertificate:
    """Certificate of a judge that is fit; its evidence is that of no judge."""
    claim = {"n_units": 80, "n_groups": 40, "level": 0.025, "verdict": "fit", "reason": "is fit"}
    test = {"winning_rate": None, "advantage": None, "epsilon": 0.15}
    constant = {"value": 3.0, "a_ha": 0.5, "alternative_annotator_test": test}
    return QuestionCertificate.model_validate(
        {
            "question_id": question_id,
            "question": "How good?",
            "scale": {"low": 1, "high": 5, "level": "ordinal"},
            "summary": "It can replace a rater.",
            "holds": ["fit"],
            "claims": {"fitness": claim},
            "seal": 1,
            "reading": 1,
            "level": 0.025,
            "total_level": 0.05,
            "n_groups": 40,
            "n_units": 80,
            "detectable_gain": None,
            "human_agreement": {},
            "beside": {
                "a_ha": None,
                "a_hh": None,
                "alternative_annotator_test": test,
                "people": {},
                "by_model": [],
                "controls": {"constant": constant},
            },
            "cost_per_1000_usd": None,
            "cautions": [],
            "evidence": {"fingerprint": "f", "rubric": "r", "labels": "l", "scores": "s"},
            "issued_at": "2026-11-21T12:00:00+00:00",
            "valid_until": "2027-05-20",
            **fields,
        }
    )


def simulated(
    n_groups: int, *, seed: int, per_group: int = 4, noise: float = 0.8, split: str | None = "test"
) -> tuple[RatedUnits, Floats]:
    """Units of one split rated 1 to 5 by three people, and the quality that they saw."""
    rng = np.random.default_rng(seed)
    n_units = n_groups * per_group
    prompt = np.repeat(rng.normal(0, 0.5, n_groups), per_group)
    quality = 3 + prompt + rng.normal(0, 1, n_units)
    ratings = np.clip(np.round(quality[:, None] + rng.normal(0, noise, (n_units, 3))), 1, 5)
    groups = np.repeat([f"g{k}" for k in range(n_groups)], per_group)
    return rated_units(ratings, groups=groups, split=split), quality


def judged(quality: Floats, *, seed: int, noise: float = 0.8) -> Floats:
    """Scores of a judge that sees the quality as well as a person does, unless told otherwise."""
    rng = np.random.default_rng(seed)
    return np.clip(np.round(quality + rng.normal(0, noise, len(quality))), 1, 5)


def partly_wrong(n_groups: int = 400, *, seed: int = 1) -> tuple[RatedUnits, dict[str, Floats]]:
    """Units with a judge that is wrong on a fifth of them, and one that is always right."""
    units, quality = simulated(n_groups, seed=seed, split=None)
    rng = np.random.default_rng(seed)
    right = np.clip(np.round(quality), 1, 5)
    wrong = rng.random(len(quality)) < 0.2
    broken = np.where(wrong, rng.integers(1, 6, len(quality)), judged(quality, seed=2, noise=0.4))
    return units, {"broken": broken.astype(float), "right": right}


def offered(version: JudgeVersion, scores: Floats, baseline: Floats | None = None) -> Candidate:
    """A candidate without a map, which is the judge as it stands unless there is a baseline."""
    return Candidate(
        version, scores=scores, raw=scores, baseline=scores if baseline is None else baseline
    )
