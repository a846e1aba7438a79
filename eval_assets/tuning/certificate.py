"""Certificates: what was shown of a judge, by how much evidence, and until when it holds."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from importlib import resources
from typing import Any

import numpy as np

from eval_assets.tuning.certificate_metrics import figures_beside
from eval_assets.tuning.fingerprints import Fingerprints
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.reading import Verdicts, evaluation_rows
from eval_assets.tuning.seal_policy import TOTAL_SIGNIFICANCE
from eval_assets.tuning.tuned_prompts import copied_share_on
from eval_assets.tuning.versions import JudgeVersion, json_hash
from eval_assets.wording import or_none

Json = dict[str, Any]

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:eval-assets:judge-certificate:v1"
VALID_DAYS = 180
"""Models behind a fixed name change without notice: a choice."""

FEW_GROUPS = 40
RARE_SHARE = 0.1
_SAME = 1e-9
_MOST_SHOWN = 60


def is_certificate(given: object) -> bool:
    """Return whether a JSON value is a certificate whose digest is that of its definition."""
    if not isinstance(given, dict) or given.get("predicateType") != PREDICATE_TYPE:
        return False
    try:
        definition = given["predicate"]["judge"]["definition"]
        digests = [subject["digest"]["sha256"] for subject in given["subject"]]
        questions = given["predicate"]["questions"]
        has_questions = bool(questions) and all(
            {"question_id", "seal", "reading", "claims"} <= set(each) for each in questions
        )
    except (KeyError, TypeError):
        return False
    return has_questions and digests == [json_hash(definition)]


def differences(certified: Mapping[str, Any], again: Mapping[str, Any]) -> list[str]:
    """Return what two certificates of one question say differently, one line each.

    Numbers may differ by 1e-9.
    """
    return [
        f"{place}: the file says {_shown(stated)}, recomputed {_shown(found)}"
        for place, stated, found in _compared("", _plain(certified), _plain(again))
    ]


def question_certificate(  # noqa: PLR0913 - all that a reader has to know
    verdicts: Verdicts,
    units: RatedUnits,
    scores: Floats,
    *,
    reading: int,
    seal: int,
    evidence: Fingerprints,
    human_agreement: Mapping[str, float | None],
    cost_per_1000_usd: float | None,
    issued_at: datetime,
) -> Json:
    """Return what one certificate says of one question, as JSON.

    Args:
        verdicts: A certified version's verdicts.
        units: All rated units of the question that are not under an earlier seal.
        scores: The version's scores of them.
        reading: Number of the reading.
        seal: Number of the seal.
        evidence: What it rests on.
        human_agreement: A^HH and alpha with intervals, of the question, as the gates see them.
        cost_per_1000_usd: What 1,000 scores cost; None if not known.
        issued_at: When the test was read.
    """
    is_test = (units.splits == "test") & ~np.isnan(scores)
    test, question = units.only(is_test), units.question
    rows = evaluation_rows([verdicts], question_id=question.id, reading=reading)
    claims = {str(row["kind"]): _claim(row) for row in rows}
    held = {
        "fit": verdicts.fitness.verdict == "fit",
        "improved": verdicts.improvement.verdict == "accepted",
    }
    significance = verdicts.fitness.significance
    gain, n_changed = verdicts.improvement.compared.gain, verdicts.improvement.compared.n_changed
    detectable = gain.detectable(significance=significance) if n_changed else math.nan
    return {
        "question_id": question.id,
        "question": question.question,
        "scale": {"low": question.scale.low, "high": question.scale.high, "level": question.level},
        "summary": _summary(verdicts, question.id, reading=reading),
        "holds": [claim for claim, holds in held.items() if holds],
        "claims": claims,
        "seal": seal,
        "reading": reading,
        "level": significance,
        "total_level": TOTAL_SIGNIFICANCE,
        "n_groups": verdicts.fitness.compared.shortfall.n_groups,
        "n_units": int(is_test.sum()),
        "detectable_gain": or_none(detectable),
        "human_agreement": dict(human_agreement),
        "prompt_copied_share": _copied_share(verdicts.version, units),
        "beside": figures_beside(units.part("train"), test, scores[is_test]),
        "cost_per_1000_usd": cost_per_1000_usd,
        "cautions": _cautions(verdicts, test),
        "evidence": asdict(evidence),
        "issued_at": issued_at.isoformat(timespec="seconds"),
        "valid_until": (issued_at + timedelta(days=VALID_DAYS)).date().isoformat(),
    }


def statement(version: JudgeVersion, questions: Sequence[Json], *, supersedes: str | None) -> Json:
    """Return an in-toto Statement about one version of a judge.

    Args:
        version: The version.
        questions: What `question_certificate` says of each question.
        supersedes: Number of the version that was certified before; None if none was.
    """
    return {
        "_type": STATEMENT_TYPE,
        "subject": [
            {
                "name": f"{version.judge_id}@{version.version}",
                "digest": {"sha256": version.definition_hash},
            }
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "judge": {
                "judge_id": version.judge_id,
                "version": version.version,
                "step": version.step,
                "parent": version.parent,
                "prompt_sha256": version.prompt_hash,
                "sources": list(version.sources),
                "definition": version.definition,
            },
            "supersedes": supersedes,
            "questions": list(questions),
        },
    }


def certificate_schema() -> Json:
    """Return the JSON schema of a certificate file."""
    text = resources.files("eval_assets.tuning").joinpath("judge_certificate.schema.json")
    schema: Json = json.loads(text.read_text("utf-8"))
    return schema


def _claim(row: Mapping[str, object]) -> Json:
    """Return the verdict of one kind with its figures, without what names the judge."""
    named = ("judge_id", "version", "question_id", "reading", "kind")
    return {name: value for name, value in row.items() if name not in named}


def _summary(verdicts: Verdicts, question_id: str, *, reading: int) -> str:
    """Return the sentence that comes first, for somebody who decides and does not compute."""
    name = f"{verdicts.version.judge_id} {verdicts.version.version}"
    improved = verdicts.improvement.verdict == "accepted"
    if verdicts.fitness.verdict == "fit":
        says = f"{name} may stand in for a rater on {question_id}"
        if verdicts.fitness.better_than_a_person:
            says += ", and agrees with people better than they agree with each other"
        if improved:
            says += "; tuning made it better"
    else:
        says = (
            f"{name} is better than before tuning on {question_id}, but it is not shown that it "
            f"may stand in for a rater"
        )
    n_groups = verdicts.fitness.compared.shortfall.n_groups
    return (
        f"{says} (shown on {n_groups} groups of answers that tuning never saw; at most 5 % of "
        f"such tests certify a judge wrongly; reading {reading})."
    )


def _copied_share(version: JudgeVersion, units: RatedUnits) -> float | None:
    """Return the share of a tuned prompt's own words that train says too; None without any."""
    train = units.part("train")
    material = [*map(str, train.prompt_texts), *map(str, train.response_texts)]
    share = copied_share_on(version.prompt_text, units.question, material)
    return or_none(share)


def _cautions(verdicts: Verdicts, test: RatedUnits) -> list[str]:
    """Return what no test of this size can exclude, and where its promise is weaker."""
    cautions = [
        "A judge with smaller usual and larger rare errors can pass: tests do not hold the rare.",
        "The figure does not travel to easier or harder answers; judge minus human by model does.",
    ]
    given = test.ratings[~np.isnan(test.ratings)]
    rarest = min(
        np.mean(given == test.question.scale.high), np.mean(given == test.question.scale.low)
    )
    n_groups = verdicts.fitness.compared.shortfall.n_groups
    if n_groups < FEW_GROUPS:
        cautions.append(
            f"{n_groups} groups are few: fitness exactly at the margin is certified up to four "
            f"times as often as the level says."
        )
    if test.question.scale.is_binary and rarest < RARE_SHARE:
        cautions.append(
            f"One value makes up only {100 * rarest:.0f} % of the ratings: fitness exactly at the "
            f"margin is certified up to eight times as often as the level says."
        )
    return cautions


def _plain(value: Mapping[str, Any]) -> Json:
    """Return a certificate as JSON has it: tuples are lists."""
    plain: Json = json.loads(json.dumps(value))
    return plain


def _compared(place: str, stated: object, found: object) -> Iterator[tuple[str, object, object]]:
    """Yield every place at which two JSON values differ."""
    if isinstance(stated, dict) and isinstance(found, dict):
        for name in sorted({*stated, *found}):
            inner = f"{place}.{name}" if place else name
            yield from _compared(inner, stated.get(name), found.get(name))
    elif isinstance(stated, list) and isinstance(found, list) and len(stated) == len(found):
        for k, (one, other) in enumerate(zip(stated, found, strict=True)):
            yield from _compared(f"{place}[{k}]", one, other)
    elif isinstance(stated, float) and isinstance(found, float):
        if abs(stated - found) > _SAME:
            yield place, stated, found
    elif stated != found:
        yield place, stated, found


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
