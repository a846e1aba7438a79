"""Contents of a question's certificate: its claims, summary, cautions and metrics."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np

from eval_assets.config.evaluation import USUAL_MINIMUMS, GateName
from eval_assets.scale import TOLERANCE
from eval_assets.stats import (
    alternative_annotator_test,
    concordance,
    human_agreement,
    judge_human_agreement,
)
from eval_assets.stats.equal_quality import (
    ValueBias,
    bias_at_equal_quality,
    without_severity,
)
from eval_assets.tuning.certificate import (
    AlternativeAnnotatorFigures,
    CertificateClaims,
    CertificateMetrics,
    CertifiedScale,
    ConstantControl,
    Controls,
    HeldClaim,
    ModelFigures,
    QuestionCertificate,
)
from eval_assets.tuning.claim_results import TOTAL_SIGNIFICANCE
from eval_assets.tuning.history import HeldOutEvaluation
from eval_assets.tuning.partial_automation import part_sentence
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.verdicts_of_test import PARTIAL, Candidate, Verdicts, verdict_row
from eval_assets.tuning.versions import fingerprints_of
from eval_assets.wording import listed, or_none

VALID_DAYS = 180
"""Models behind a fixed name change without notice: a choice."""

USUAL_MARGIN, LARGE_MARGIN = 0.10, 0.20
"""The margin of Eval Assets, and the one above which passing says little (choices)."""

LARGE_SEVERITY = 0.1
"""Distance of two raters' severities, in shares of the scale, that lowers the bar (a choice)."""

ALT_TEST_EPSILON = 0.15
"""Value of a judge's lower cost beside skilled raters, as the test's authors propose."""


@dataclass(frozen=True)
class Background:
    """Facts about a question and its judges, besides the test, that a certificate states.

    Args:
        margin: Largest distance of a fit judge's figure below that of people.
        cost_per_1000_usd: Cost of 1,000 scores, by judge and hash of its prompt; None if unknown.
        stand_in: Whether parts of the responses that a judge scores alone are tested.
        not_held_out: Why no test is held out of what is printed; empty if one is.
        favoured: Models that a judge rates differently at equal quality outside the test, with how
            much, by judge.
    """

    margin: float
    people_agree: bool
    human_agreement: Mapping[str, float | None]
    cost_per_1000_usd: Mapping[tuple[str, str], float | None]
    models_returned: Mapping[str, tuple[str, ...]]
    lowered_minimums: Mapping[GateName, float] = field(default_factory=dict)
    stand_in: bool = False
    not_held_out: str = ""
    favoured: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def question_certificate(
    verdicts: Verdicts,
    units: RatedUnits,
    candidate: Candidate,
    *,
    evaluation: HeldOutEvaluation,
    background: Background,
) -> QuestionCertificate:
    """Return the certificate of a version on one question.

    `units` are all rated units of the question that are not under an earlier test.
    """
    version, scores = candidate.version, candidate.scores
    is_test = units.is_in("test") & ~np.isnan(scores)
    test, question = units.only(is_test), units.question
    is_held: dict[HeldClaim, bool] = {
        "fit": verdicts.fitness.verdict == "fit",
        "fit_in_part": verdicts.is_fit_in_part,
        "improved": verdicts.improvement.verdict == "accepted",
    }
    rows = [verdict_row(result, is_shown=False) for result in verdicts.results]
    # The claim of a part depends on other judges too, and stands there only if it holds.
    claims = {
        str(row.pop("kind")): row
        for row in rows
        if row["kind"] != PARTIAL or verdicts.is_fit_in_part
    }
    significance, is_read = verdicts.fitness.significance, units.is_in("test")
    gain, n_changed = verdicts.improvement.compared.gain, verdicts.improvement.compared.n_changed
    detectable = gain.detectable_by(p_value=significance / 2) if n_changed else math.nan
    biases = _biases(test, scores[is_test])
    favoured = {
        **background.favoured.get(version.judge_id, {}),
        **{name: bias.relative for name, bias in biases.items() if bias.is_named},
    }
    return QuestionCertificate(
        question_id=question.id,
        question=question.question,
        scale=CertifiedScale(
            low=question.scale.low, high=question.scale.high, level=question.level
        ),
        summary=_summary(verdicts, question.id, evaluation=evaluation.number, favoured=favoured),
        holds=tuple(claim for claim, holds in is_held.items() if holds),
        claims=CertificateClaims.model_validate(claims),
        seal=evaluation.seal,
        reading=evaluation.number,
        level=significance,
        total_level=TOTAL_SIGNIFICANCE,
        rule=evaluation.rule,
        n_groups=verdicts.fitness.compared.shortfall.n_groups,
        n_units=int(is_test.sum()),
        detectable_gain=or_none(detectable),
        human_agreement=dict(background.human_agreement),
        metrics=certificate_metrics(units.part("train"), test, scores[is_test], biases),
        cost_per_1000_usd=background.cost_per_1000_usd.get((version.judge_id, version.prompt_hash)),
        limits=tuple(
            f"Do not rank {name} with it: at equal quality its scores are {abs(relative):.2f} "
            f"points {'higher' if relative > 0 else 'lower'} than those of other models."
            for name, relative in sorted(favoured.items())
        ),
        cautions=tuple(_cautions(verdicts, test, background)),
        evidence=fingerprints_of(
            version,
            units.part("test"),
            candidate.raw[is_read],
            models_returned=background.models_returned.get(version.judge_id, ()),
            doubts=candidate.doubts[is_read]
            if verdicts.is_fit_in_part and candidate.doubts is not None
            else None,
        ),
        issued_at=evaluation.read_at.isoformat(timespec="seconds"),
        valid_until=(evaluation.read_at + timedelta(days=VALID_DAYS)).date().isoformat(),
    )


def _summary(
    verdicts: Verdicts, question_id: str, *, evaluation: int, favoured: Collection[str]
) -> str:
    name = f"{verdicts.version.judge_id} {verdicts.version.version}"
    improved, margin = verdicts.improvement.verdict == "accepted", verdicts.fitness.margin
    if verdicts.fitness.verdict == "fit":
        sentence = f"{name} can replace a rater on {question_id}"
    elif (partial := verdicts.partial) and verdicts.is_fit_in_part and partial.part:
        sentence = f"{part_sentence(name, partial.part, partial.compared.share)} on {question_id}"
    else:
        sentence = (
            f"{name} is better than before tuning on {question_id}, but it is not shown that it "
            f"can replace a rater"
        )
    if abs(margin - USUAL_MARGIN) > TOLERANCE:
        sentence += f", by a declared margin of {margin:g} instead of {USUAL_MARGIN:.2f}"
    if improved and (verdicts.fitness.verdict == "fit" or verdicts.is_fit_in_part):
        sentence += "; tuning made it better"
    if favoured:
        sentence += f"; do not rank {listed(sorted(favoured))} with it"
    n_groups = verdicts.fitness.compared.shortfall.n_groups
    return (
        f"{sentence} (shown on {n_groups} groups of answers that tuning never saw; at most 5 % of "
        f"such tests certify a judge wrongly; evaluation {evaluation})."
    )


def _biases(test: RatedUnits, scores: Floats) -> dict[str, ValueBias]:
    """Return the bias towards each model; empty where people do not agree within models."""
    names, code = np.unique(test.models, return_inverse=True)
    unit, rater = np.nonzero(~np.isnan(test.ratings))
    if len(names) < 2 or not test.question.has_order:  # noqa: PLR2004 - nothing to compare with
        return {}
    biases = bias_at_equal_quality(
        unit,
        rater,
        test.ratings[unit, rater],
        scores,
        code=code,
        groups=test.group_codes,
        low=test.question.scale.low,
        high=test.question.scale.high,
    )
    return {str(names[value]): bias for value, bias in biases.items()}


def _cautions(verdicts: Verdicts, test: RatedUnits, background: Background) -> Iterator[str]:
    yield "A judge with smaller usual and larger rare errors can pass: tests do not hold the rare."
    yield "The figure does not travel to easier or harder answers; judge minus human by model does."
    if verdicts.fitness.margin > LARGE_MARGIN + TOLERANCE:
        yield f"A margin of {verdicts.fitness.margin:g} certifies little."
    unit, rater = np.nonzero(~np.isnan(test.ratings))
    ratings = test.ratings[unit, rater]
    severity = ratings - without_severity(unit, rater, ratings)
    span = test.question.scale.high - test.question.scale.low
    if test.question.has_order and np.ptp(severity) > LARGE_SEVERITY * span:
        yield (
            f"Two raters differ in severity by {np.ptp(severity):.2g} points, so people's "
            "agreement, and with it the bar, is lower than rank order suggests."
        )
    for gate, minimum in sorted(background.lowered_minimums.items()):
        usual = USUAL_MINIMUMS[gate]
        yield f"The minimum of {gate} was lowered to {minimum:g}; {usual:g} is usual."


def certificate_metrics(
    train: RatedUnits, test: RatedUnits, scores: Floats, biases: Mapping[str, ValueBias]
) -> CertificateMetrics:
    """Return the figures of a version on the test, without verdicts; biases are by model."""
    # The constant score with the highest A^HA on train; without train, on the test.
    units = train if len(train.ratings) else test
    constants = np.unique(units.ratings[~np.isnan(units.ratings)])
    near = [_a_ha(units, np.full(len(units.ratings), value)) for value in constants]
    constant = float(constants[int(np.argmax(near))])
    constant_scores = np.full(len(scores), constant)
    ratings = test.ratings[~np.isnan(test.ratings)]
    values, counts = np.unique(ratings, return_counts=True)
    return CertificateMetrics(
        a_ha=or_none(_a_ha(test, scores)),
        a_hh=or_none(human_agreement(test.ratings, scale=test.question.scale)),
        alternative_annotator_test=_alternative_annotator_test(test, scores),
        people={f"{v:g}": float(c / len(ratings)) for v, c in zip(values, counts, strict=True)},
        by_model=tuple(_by_model(test, scores, biases)),
        controls=Controls(
            constant=ConstantControl(
                value=constant,
                a_ha=or_none(_a_ha(test, constant_scores)),
                alternative_annotator_test=_alternative_annotator_test(test, constant_scores),
            ),
        ),
    )


def _a_ha(test: RatedUnits, scores: Floats) -> float:
    return judge_human_agreement(test.ratings, scores, scale=test.question.scale)


def _alternative_annotator_test(test: RatedUnits, scores: Floats) -> AlternativeAnnotatorFigures:
    by_value = test.level != "nominal" and not test.question.scale.is_binary
    result = alternative_annotator_test(
        test.ratings,
        scores,
        scoring="rmse" if by_value else "accuracy",
        epsilon=ALT_TEST_EPSILON,
    )
    return AlternativeAnnotatorFigures(
        winning_rate=or_none(result.winning_rate),
        advantage=or_none(result.advantage),
        epsilon=ALT_TEST_EPSILON,
    )


def _by_model(
    test: RatedUnits, scores: Floats, biases: Mapping[str, ValueBias]
) -> Iterator[ModelFigures]:
    """Yield the figure within each model's responses, and judge minus mean human.

    The figure does not transfer to easier or harder responses; the difference to people does.
    """
    mean = np.nanmean(test.ratings, axis=1)
    for model in sorted(set(test.models.tolist())):
        is_of_model, bias = test.models == model, biases.get(model)
        yield ModelFigures(
            model_name=model,
            n_units=int(is_of_model.sum()),
            kappa=or_none(concordance(test.ratings[is_of_model], scores[is_of_model])),
            judge_minus_human=float((scores[is_of_model] - mean[is_of_model]).mean()),
            human_mean=float(mean[is_of_model].mean()),
            relative=None if bias is None else or_none(bias.relative),
            relative_low=None if bias is None else or_none(bias.low),
            relative_high=None if bias is None else or_none(bias.high),
        )
