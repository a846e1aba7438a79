import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime

import jsonschema  # type: ignore[import-untyped]
import numpy as np
import pytest

from eval_assets.cli.certificate_checks import differences
from eval_assets.stats import identity_map
from eval_assets.tuning.certificate import (
    Certificate,
    QuestionCertificate,
)
from eval_assets.tuning.certificate_contents import Background, question_certificate
from eval_assets.tuning.history import HeldOutEvaluation
from eval_assets.tuning.rated import RatedUnits
from eval_assets.tuning.verdicts_of_test import verdicts_on_test
from eval_assets.tuning.versions import JudgeVersion, canonical_json
from tests.unit.tuning.made_up import LIKERT5, SCHEMA, judged, offered, rated_units, simulated

READ_AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
VERSION = JudgeVersion(
    "gpt",
    "1.0.1",
    "calibration",
    "1.0.0",
    "f",
    prompt_text="Rate it.",
    maps={"q": identity_map([1.0, 5.0], scale=LIKERT5)},
)


READING = HeldOutEvaluation("q", 1, 1, 0.025, (VERSION,), (), "", (), {}, READ_AT)
BACKGROUND = Background(
    margin=0.1,
    people_agree=True,
    human_agreement={"a_hh": 0.83, "alpha": None},
    cost_per_1000_usd={},
    models_returned={},
)


def certified(
    n_groups: int = 120, *, version: JudgeVersion = VERSION
) -> tuple[QuestionCertificate, RatedUnits, np.ndarray]:
    """A certificate's part for one question, with the units and the scores that it rests on."""
    units, quality = simulated(n_groups, seed=1)
    units = replace(
        units, splits=np.where(np.arange(len(quality)) < len(quality) // 2, "train", "test")
    )
    scores = np.clip(np.round(quality), 1, 5)
    candidate = offered(version, scores, judged(quality, seed=2, noise=3))
    [verdicts] = verdicts_on_test(
        units, [candidate], significance=0.025, margin=0.1, people_agree=True
    )
    result = question_certificate(
        verdicts, units, candidate, evaluation=READING, background=BACKGROUND
    )
    return result, units, scores


def test_a_certificate_file_is_valid_json_by_its_published_schema() -> None:
    result, _, _ = certified()
    certificate = Certificate.of(VERSION, [result], supersedes=None)

    shown = replace(VERSION, prompt_text="{% block user %}{{ shown.expected }}{% endblock %}")
    judge = Certificate.of(shown, [result], supersedes=None).predicate.judge
    assert judge.shown_columns == ("expected",)
    schema = json.loads(SCHEMA.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(json.dumps(certificate.as_json(), allow_nan=False)), schema)


def test_a_certificate_file_is_read_as_it_was_written() -> None:
    result, _, _ = certified()
    text = json.dumps(Certificate.of(VERSION, [result], supersedes=None).as_json())

    assert json.dumps(Certificate.parse(text).as_json()) == text
    with pytest.raises(ValueError, match="digest"):
        Certificate.parse(text.replace("Rate it.", "Rate it well."))


def test_the_schema_refuses_a_certificate_without_a_claim() -> None:
    result, _, _ = certified()
    certificate = Certificate.of(
        VERSION, [result.model_copy(update={"holds": ()})], supersedes=None
    )

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(certificate.as_json(), json.loads(SCHEMA.read_text("utf-8")))


def test_the_subject_is_the_digest_of_the_definition_inside() -> None:
    result, _, _ = certified()
    certificate = Certificate.of(VERSION, [result], supersedes="1.0.0")
    definition = certificate.predicate.judge.definition

    [subject] = certificate.subject
    assert subject.name == "gpt@1.0.1"
    assert subject.digest.sha256 == hashlib.sha256(canonical_json(definition).encode()).hexdigest()


def test_the_first_sentence_says_what_was_shown() -> None:
    result, _, _ = certified()

    assert result.holds == ("fit", "improved")
    assert result.summary.startswith(
        "gpt 1.0.1 can replace a rater on q; tuning made it better (shown on 60 groups"
    )
    assert result.valid_until == "2027-05-20"


def certified_by(
    *, margin: float = 0.1, favoured: str = "", severity: float = 0.0, background: Background
) -> QuestionCertificate:
    """A certificate of a judge that favours a model by a point, or of raters who differ."""
    units, quality = simulated(240, seed=3)
    models = np.array(["ada", "bee", "cat", "dog"])[np.arange(len(quality)) % 4]
    ratings = units.ratings.copy()
    ratings[:, 0] += severity
    units = replace(units, models=models, ratings=np.clip(ratings, 1, 5))
    scores = np.clip(np.round(quality + (models == favoured)), 1, 5)
    candidate = offered(VERSION, scores, judged(quality, seed=2, noise=3))
    [verdicts] = verdicts_on_test(
        units, [candidate], significance=0.025, margin=margin, people_agree=True
    )
    return question_certificate(
        verdicts, units, candidate, evaluation=READING, background=background
    )


def test_a_model_that_the_judge_favours_on_the_test_is_a_limit() -> None:
    result = certified_by(favoured="cat", background=BACKGROUND)
    [cat] = [of for of in result.metrics.by_model if of.model_name == "cat"]

    assert "; do not rank cat with it (shown on" in result.summary
    start = "Do not rank cat with it: at equal quality its scores are 0."
    assert result.limits[0].startswith(start)
    assert result.limits[0].endswith(" points higher than those of other models.")
    assert cat.relative_low is not None
    assert cat.relative_low > 0


def test_a_bias_outside_the_test_is_a_limit_and_without_one_there_is_none() -> None:
    named = replace(BACKGROUND, favoured={"gpt": {"bee": -0.4}, "other": {"ada": 0.6}})

    assert certified_by(background=BACKGROUND).limits == ()
    assert certified_by(background=named).limits[0] == (
        "Do not rank bee with it: at equal quality its scores are 0.40 points lower than those of "
        "other models."
    )


def test_an_unusual_margin_stands_in_the_first_sentence() -> None:
    result = certified_by(margin=0.6, background=BACKGROUND)

    assert ", by a declared margin of 0.6 instead of 0.10" in result.summary
    assert "A margin of 0.6 certifies little." in result.cautions
    assert "margin" not in certified_by(background=BACKGROUND).summary


def test_raters_of_different_severity_are_a_caution() -> None:
    severe = certified_by(severity=-1, background=BACKGROUND).cautions

    assert any("differ in severity by 0.9" in caution for caution in severe)
    assert not any("severity" in text for text in certified_by(background=BACKGROUND).cautions)


def test_a_lowered_minimum_is_a_caution() -> None:
    units = rated_units(np.tile([[1.0, 2.0], [3.0, 3.0]], (20, 1)), split="test")
    candidate = offered(VERSION, units.ratings[:, 0])
    [verdicts] = verdicts_on_test(
        units, [candidate], significance=0.025, margin=0.1, people_agree=True
    )
    background = replace(BACKGROUND, lowered_minimums={"human_alpha": -1.0})
    result = question_certificate(
        verdicts, units, candidate, evaluation=READING, background=background
    )

    assert result.cautions[-1] == "The minimum of human_alpha was lowered to -1; 0.667 is usual."


def test_a_certificate_that_says_the_same_has_no_differences() -> None:
    result, _, _ = certified()
    repeat = json.loads(json.dumps(result.as_json()))
    repeat["beside"]["a_ha"] += 1e-10

    assert differences(repeat, result.as_json(), source="recomputed") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, None),
        (1.0, 2),
        (1.0, "1.0"),
        (1.0, [1.0]),
        ({"b": 1}, None),
        ([1], "1"),
        ([1], [1, 2]),
    ],
)
def test_values_of_different_kinds_differ(one: object, other: object) -> None:
    for stated, recomputed in ((one, other), (other, one)):
        assert len(differences({"a": stated}, {"a": recomputed}, source="recomputed")) == 1


def test_whatever_differs_is_named_with_its_place() -> None:
    result, _, _ = certified()
    changed = json.loads(json.dumps(result.as_json()))
    changed["claims"]["fitness"]["kappa"] = 0.99
    changed["beside"]["by_model"] = changed["beside"]["by_model"][1:]
    changed["cautions"][0] = "No risk at all."
    lines = differences(changed, result.as_json(), source="recomputed")

    assert len(lines) == 3
    assert any(line.startswith("claims.fitness.kappa: the file says 0.99, rec") for line in lines)
    assert any(line.startswith("beside.by_model: the file says [") for line in lines)
    assert any("cautions[0]" in line for line in lines)
