"""Checks of certificate files against tables and ledger."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection as Connection

from eval_assets.config.evaluation import Evaluation
from eval_assets.errors import InputError, InputProblem
from eval_assets.readers.evaluation.input_files import source_fingerprints
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.histories import JudgeLedger
from eval_assets.store.tuned_judges import (
    background_of,
    checked_certificates,
)
from eval_assets.tuning.certificate import Certificate, QuestionCertificate
from eval_assets.tuning.held_out_test import recomputed_certificates
from eval_assets.tuning.issued import certificate_files
from eval_assets.verdicts import Verdict

_SAME = 1e-9
_MOST_SHOWN = 60
"""Numbers that differ by less are the same; longest value in a line about a difference."""


class CertificateEvidence:
    """Data that certificates are checked against."""

    def __init__(self, connection: Connection, ledger: SqlLedger, evaluation: Evaluation) -> None:
        sources = source_fingerprints(evaluation)
        checked = checked_certificates(connection, ledger, evaluation, sources=sources)
        self._connection = connection
        self._ledger = JudgeLedger(ledger)
        self._tuning = evaluation.tuning
        self._scores = checked.scores
        self._stale = {
            (row.judge_id, row.version, row.question_id): row.stale_because for row in checked.rows
        }
        self._evaluations = [of for result in checked.evaluations.values() for of in result]
        self._issued = certificate_files(self._evaluations)

    def problems(self, certificate: Certificate) -> dict[str, Verdict]:
        """Return the reasons why a certificate cannot be relied on, each with its verdict.

        A stale claim is not measured: its figures are those of the test, and not computed again.
        """
        issued = self._issued.get(certificate.name)
        if issued is None:
            return {f"the ledger has no certificate of {certificate.name}": Verdict.FAIL}
        lines = differences(certificate.head(), issued.head(), source="the ledger has")
        claimed = {claim.question_id: claim for claim in certificate.predicate.questions}
        problems: dict[str, Verdict] = {}
        for name in [claim.question_id for claim in issued.predicate.questions]:
            changes, stale = ["the file lacks it"], None
            if name in claimed:
                changes, stale = self._changes(certificate, claimed[name])
            if stale:
                problems[f"{name}: stale, because {stale}"] = Verdict.NOT_MEASURED
            lines += [f"{name}: {line}" for line in changes]
        return problems | dict.fromkeys(lines, Verdict.FAIL)

    def _changes(
        self, certificate: Certificate, claimed: QuestionCertificate
    ) -> tuple[list[str], str | None]:
        """Return where a claim differs, and why it is stale; None if it is not."""
        judge, name = certificate.predicate.judge, certificate.name
        key = claimed.question_id, claimed.seal, claimed.reading
        candidates = (
            held_out
            for held_out in self._evaluations
            if (held_out.question_id, held_out.seal, held_out.number) == key
            and name in {f"{v.judge_id}-{v.version}" for v in held_out.candidates}
            and judge.judge_id in held_out.certificates
        )
        held_out = next(candidates, None)
        if held_out is None:
            evaluation = f"evaluation {claimed.reading} of test {claimed.seal}"
            return [f"the ledger has none of {name} from {evaluation}"], None
        issued = held_out.certificates[judge.judge_id]
        stale = self._stale.get((judge.judge_id, judge.version, claimed.question_id))
        if stale := stale or held_out.earlier_rule:
            return differences(claimed.as_json(), issued.as_json(), source="the ledger has"), stale
        background = background_of(self._connection, held_out.question_id, self._tuning)
        background = replace(background, margin=issued.claims.fitness.margin or 0.0)
        certificates = recomputed_certificates(self._ledger, self._scores, held_out, background)
        recomputed = certificates.get(judge.judge_id)
        if recomputed is None:
            return ["no claim holds when the test is computed again"], None
        current = recomputed.as_of(issued).as_json()
        return differences(claimed.as_json(), current, source="recomputed"), None


def read_certificate(file: Path) -> Certificate:
    """Return the certificate in a file.

    Raises:
        InputError: If the file is not a certificate, or was changed so that its digest is wrong.
    """
    try:
        text = file.read_text("utf-8")
        json.loads(text)
    except (OSError, ValueError) as error:
        problem = f"it cannot be read as JSON ({error})"
        raise InputError(
            InputProblem(str(file), None, None, problem, "Give a certificate")
        ) from error
    try:
        return Certificate.parse(text)
    except ValueError as error:
        problem = (
            "this is not a certificate of a judge, or its digest is not that of its definition"
        )
        remedy = "Give a file from out/certificates as it was written"
        raise InputError(InputProblem(str(file), None, None, problem, remedy)) from error


def differences(
    stated: Mapping[str, Any], reference: Mapping[str, Any], *, source: str
) -> list[str]:
    """Return a line for each difference of two certificates' JSON. Numbers may differ by 1e-9.

    `source` stands before a value of the reference, such as `recomputed`.
    """
    return [
        f"{path}: the file says {_excerpt(value)}, {source} {_excerpt(expected)}"
        for path, value, expected in _compared("", stated, reference)
    ]


def _compared(
    path: str, stated: object, recomputed: object
) -> Iterator[tuple[str, object, object]]:
    if isinstance(stated, dict) and isinstance(recomputed, dict):
        for name in sorted({*stated, *recomputed}):
            inner = f"{path}.{name}" if path else name
            yield from _compared(inner, stated.get(name), recomputed.get(name))
    elif (
        isinstance(stated, list) and isinstance(recomputed, list) and len(stated) == len(recomputed)
    ):
        for k, (value, expected) in enumerate(zip(stated, recomputed, strict=True)):
            yield from _compared(f"{path}[{k}]", value, expected)
    elif isinstance(stated, float) and isinstance(recomputed, float):
        if abs(stated - recomputed) > _SAME:
            yield path, stated, recomputed
    elif stated != recomputed:
        yield path, stated, recomputed


def _excerpt(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
