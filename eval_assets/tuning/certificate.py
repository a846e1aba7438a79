"""Judge certificates: the schema of their files, and the comparison of two of them."""

import re
from collections.abc import Sequence
from typing import Any, Final, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field

from eval_assets.tuning.tuned_prompts import shown_columns
from eval_assets.tuning.versions import Fingerprints, JudgeVersion, json_hash

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:eval-assets:judge-certificate:v1"

Number = int | float
"""A number that keeps its type, so that reading and writing a file does not change it."""


class _Record(BaseModel):
    """A part of a certificate. Fields of other versions of the program are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    def as_json(self) -> dict[str, Any]:
        """Return the record as the JSON object from which it was read."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class AlternativeAnnotatorFigures(_Record):
    """Result of the alternative-annotator test."""

    winning_rate: Number | None
    advantage: Number | None
    epsilon: Number


class ModelFigures(_Record):
    """Figures of the responses of one model.

    `relative` is how much higher the judge rates it than other models at equal quality, as in
    `judge_bias`; None where people do not agree within models, and in earlier certificates.
    """

    model_name: str
    n_units: int
    kappa: Number | None
    judge_minus_human: Number
    human_mean: Number | None = None
    relative: Number | None = None
    relative_low: Number | None = None
    relative_high: Number | None = None


class ConstantControl(_Record):
    """Figures of the best constant judge, which does not read the response."""

    value: Number
    a_ha: Number | None
    alternative_annotator_test: AlternativeAnnotatorFigures


class Controls(_Record):
    """Figures of controls."""

    constant: ConstantControl


class CertificateMetrics(_Record):
    """Figures on the test that do not affect verdicts.

    Args:
        people: Share of people's ratings that each value is.
    """

    a_ha: Number | None
    a_hh: Number | None
    alternative_annotator_test: AlternativeAnnotatorFigures
    people: dict[str, Number]
    by_model: tuple[ModelFigures, ...]
    controls: Controls


class Claim(_Record):
    """Verdict on one claim with its figures, as in `tuned_judge_evaluation`.

    Of a part, `kappa` is that of the judge on it with people on the rest. `ratio` decides on
    fitness: the judge's distance from 1 divided by the largest allowed one, which is that of people
    plus the margin. Certificates of earlier releases lack it.
    """

    kappa: Number | None = None
    kappa_baseline: Number | None = None
    gain: Number | None = None
    gain_low: Number | None = None
    gain_high: Number | None = None
    kappa_people: Number | None = None
    gap: Number | None = None
    gap_low: Number | None = None
    gap_high: Number | None = None
    margin: Number | None = None
    ratio: Number | None = None
    ratio_low: Number | None = None
    ratio_high: Number | None = None
    n_units: int
    n_groups: int
    level: Number
    groups_wanted: int | None = None
    verdict: str
    reason: str
    share: Number | None = None
    doubt_source: str | None = None
    doubt_threshold: Number | None = None


HeldClaim = Literal["fit", "fit_in_part", "improved"]


class CertificateClaims(_Record):
    """Claims of improvement and fitness, and of fitness in part if it holds."""

    improvement: Claim | None = None
    fitness: Claim
    fitness_in_part: Claim | None = None


class CertifiedScale(_Record):
    """Scale of the question."""

    low: Number
    high: Number
    level: str


class QuestionCertificate(_Record):
    """Certificate of a version of a judge on one question.

    Args:
        level: Two-sided level of each test of the evaluation.
        rule: Name of the rule that issued it; empty in certificates of earlier releases.
        limits: What the judge may not be used for, such as ranking a model that it favours.
    """

    question_id: str
    question: str
    scale: CertifiedScale
    summary: str
    holds: tuple[HeldClaim, ...]
    claims: CertificateClaims
    seal: int
    reading: int
    level: Number
    total_level: Number
    rule: str = ""
    n_groups: int
    n_units: int
    detectable_gain: Number | None
    human_agreement: dict[str, Number | None]
    metrics: CertificateMetrics = Field(validation_alias="beside", serialization_alias="beside")
    cost_per_1000_usd: Number | None
    limits: tuple[str, ...] = ()
    cautions: tuple[str, ...]
    evidence: Fingerprints
    issued_at: str
    valid_until: str

    def as_of(self, issued: "QuestionCertificate") -> "QuestionCertificate":
        """Return the certificate with the issued values of everything outside the test.

        Labels, the gates' minimums and the cost of scores may change later.
        """
        fields = (
            *("cost_per_1000_usd", "human_agreement", "cautions"),
            *("summary", "limits"),  # which name biases outside the test
        )
        claims = {}
        for name in CertificateClaims.model_fields:
            claim, before = getattr(self.claims, name), getattr(issued.claims, name)
            if claim is not None and before is not None and claim.verdict == before.verdict:
                claims[name] = claim.model_copy(update={"reason": before.reason})  # in its words
        return self.model_copy(
            update={name: getattr(issued, name) for name in fields}
            | {"claims": self.claims.model_copy(update=claims)}
        )

    @property
    def claim(self) -> HeldClaim:
        """The strongest claim: fit, fit in part, or improved alone."""
        return min(self.holds, key=get_args(HeldClaim).index)


class CertifiedJudge(_Record):
    """The version that a certificate is about. Its definition determines its scores.

    Args:
        shown_columns: Columns of the responses that its prompt shows beside prompt and response.
    """

    judge_id: str
    version: str
    step: str
    parent: str | None
    prompt_sha256: str
    sources: tuple[str, ...]
    definition: dict[str, Any]
    shown_columns: tuple[str, ...] = ()


class Predicate(_Record):
    """Content of the statement. `supersedes` is the version that was certified before."""

    judge: CertifiedJudge
    supersedes: str | None
    questions: tuple[QuestionCertificate, ...] = Field(min_length=1)


class Digest(_Record):
    """Digest of the judge's definition."""

    sha256: str


class CertificateSubject(_Record):
    """Name and digest of the version."""

    name: str
    digest: Digest


class Certificate(_Record):
    """A certificate file: an in-toto Statement about one version of a judge."""

    type_: str = Field(validation_alias="_type", serialization_alias="_type")
    subject: tuple[CertificateSubject]
    predicate_type: Literal["urn:eval-assets:judge-certificate:v1"] = Field(
        validation_alias="predicateType", serialization_alias="predicateType"
    )
    predicate: Predicate

    @classmethod
    def of(
        cls,
        version: JudgeVersion,
        questions: Sequence[QuestionCertificate],
        *,
        supersedes: str | None,
    ) -> Self:
        """Return the certificate of a version on some questions."""
        judge = CertifiedJudge(
            judge_id=version.judge_id,
            version=version.version,
            step=version.step,
            parent=version.parent,
            prompt_sha256=version.prompt_hash,
            sources=version.sources,
            definition=version.definition,
            shown_columns=shown_columns(version.prompt_text),
        )
        digest = Digest(sha256=version.definition_hash)
        return cls(
            type_=STATEMENT_TYPE,
            subject=(
                CertificateSubject(name=f"{version.judge_id}@{version.version}", digest=digest),
            ),
            predicate_type=PREDICATE_TYPE,
            predicate=Predicate(judge=judge, supersedes=supersedes, questions=tuple(questions)),
        )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the certificate in a file.

        Raises:
            ValueError: If it is not a certificate, or the digest is not that of its definition.
        """
        certificate = cls.model_validate_json(text)
        [subject] = certificate.subject
        if subject.digest.sha256 != json_hash(certificate.predicate.judge.definition):
            raise ValueError("the digest is not that of the definition")
        return certificate

    @property
    def name(self) -> str:
        """Name of the judge with its version."""
        return f"{self.predicate.judge.judge_id}-{self.predicate.judge.version}"

    @property
    def file_name(self) -> str:
        """Name of the certificate's file."""
        return f"{re.sub(r'[^A-Za-z0-9._-]', '_', self.name)}.json"

    def head(self) -> dict[str, Any]:
        """Return the JSON of all parts except the questions."""
        statement = self.as_json()
        return {**statement, "predicate": {**statement["predicate"], "questions": []}}
