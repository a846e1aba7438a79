"""Versions of a question's wording, and the labels under each."""

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.rater_view import guideline_hash
from eval_assets.wording import counted, shortened

Labels = list[tuple[str, str, int]]
"""Response, rater and round of labels."""


@dataclass(frozen=True)
class RubricWording:
    """A version of a question that came into use; a row of the table `rubric_wordings`.

    A version that is declared again after another one has a row for each time.

    Args:
        version: Its number, from 1.
        fingerprint: Hash of text, guidelines and scale, which labels carry as `guideline_hash`.
        first_seen_at: Time of the first run since it came into use, in ISO 8601.
        labels_before: Labels that were stored before it, by fingerprint, packed.
    """

    question_id: str
    version: int
    fingerprint: str
    text: str
    scale: str
    guidelines: str
    first_seen_at: str
    labels_before: str = ""


def wordings_in_order(rows: Iterable[Mapping[str, Any]]) -> list[RubricWording]:
    """Return rows of `rubric_wordings` in the order in which the versions came into use."""
    return sorted((RubricWording(**row) for row in rows), key=lambda wording: wording.first_seen_at)


@dataclass(frozen=True, eq=False)
class VersionedLabels:
    """Labels by version of their question.

    Args:
        ratings: Labels that count, with the column `rubric_version`.
        notes: Omitted labels, a sentence for each question.
    """

    ratings: pd.DataFrame
    older: pd.DataFrame
    notes: tuple[str, ...]


def new_wordings(
    evaluation: Evaluation,
    known: Sequence[RubricWording],
    labels_before: Mapping[str, Mapping[str, Labels]],
    *,
    at: datetime,
) -> list[RubricWording]:
    """Return the versions that came into use since the last run, new or used before.

    Versions that are `known` are in the order in which they came into use.
    """
    new = []
    for question in evaluation.rubric:
        fingerprint = guideline_hash(question)
        history = [wording for wording in known if wording.question_id == question.id]
        if history and history[-1].fingerprint == fingerprint:
            continue
        number = {wording.fingerprint: wording.version for wording in history}
        new.append(
            RubricWording(
                question_id=question.id,
                version=number.get(fingerprint, max(number.values(), default=0) + 1),
                fingerprint=fingerprint,
                text=question.question,
                scale=question.scale.described(),
                guidelines=question.guidelines,
                first_seen_at=at.isoformat(),
                labels_before=_packed(labels_before.get(question.id, {})) if history else "",
            )
        )
    return new


def reworded_questions(
    rubric: Iterable[RubricQuestion], known: Iterable[RubricWording]
) -> frozenset[str]:
    """Return the questions whose declared version differs from one that a run has seen."""
    current = {question.id: guideline_hash(question) for question in rubric}
    return frozenset(
        wording.question_id
        for wording in known
        if current.get(wording.question_id, wording.fingerprint) != wording.fingerprint
    )


def by_rubric_version(
    ratings: pd.DataFrame, rubric: Iterable[RubricQuestion], wordings: Sequence[RubricWording]
) -> VersionedLabels:
    """Separate the labels of the version that counts from those of others.

    It is the declared version with those declared equivalent, if it has labels, else the newest
    with labels. A label belongs to the version whose fingerprint it carries. One without belongs to
    the version that it was stored under, else to the one in use when it was given, else to the
    present one.
    """
    version = np.zeros(len(ratings), dtype=np.int64)
    is_counted = np.ones(len(ratings), dtype=bool)
    notes = []
    for question in rubric:
        of_question = [wording for wording in wordings if wording.question_id == question.id]
        rows = np.flatnonzero((ratings["question_id"] == question.id).to_numpy())
        if not len(rows):
            continue
        version[rows] = _versions(ratings.iloc[rows], question, of_question)
        is_counted[rows], note = _counted(version[rows], question, of_question)
        unknown = {*question.equivalent_versions} - {wording.version for wording in of_question}
        notes += [
            f"{question.id}: equivalent_versions names {number}, which no run has seen"
            for number in sorted(unknown)
        ]
        notes += [note] if note else []
    labelled = ratings.assign(rubric_version=version)
    return VersionedLabels(labelled[is_counted], labelled[~is_counted], tuple(notes))


def _versions(
    labels: pd.DataFrame, question: RubricQuestion, wordings: Sequence[RubricWording]
) -> NDArray[np.int64]:
    """Return the version of each label; 0 is one that no run has seen."""
    number = {wording.fingerprint: wording.version for wording in wordings}
    current = number[guideline_hash(question)]
    carried = labels["guideline_hash"]
    versions = np.array(carried.map(number).fillna(0), dtype=np.int64)
    is_bare = carried.isna().to_numpy()
    versions[is_bare] = current
    if not is_bare.any() or len(wordings) == 1:
        return versions
    version_of_label: dict[tuple[str, str, int], int] = {}
    for wording in sorted(wordings, key=lambda wording: wording.first_seen_at):
        for fingerprint, known_labels in _unpacked(wording.labels_before).items():
            for response, rater, round_ in known_labels:
                version_of_label.setdefault((response, rater, round_), number.get(fingerprint, 0))
    starts = sorted((pd.Timestamp(wording.first_seen_at), wording.version) for wording in wordings)
    bare = labels[is_bare]
    times = pd.to_datetime(bare["labelled_at"], utc=True, errors="coerce", format="ISO8601")
    keys = bare[["response_id", "rater_id", "round"]].itertuples(index=False, name=None)
    for index, key, time in zip(np.flatnonzero(is_bare), keys, times, strict=True):
        in_use = [version for start, version in starts if start <= time]
        at_that_time = in_use[-1] if in_use else starts[0][1]
        versions[index] = version_of_label.get(key, current if pd.isna(time) else at_that_time)
    return versions


def _counted(
    versions: NDArray[np.int64], question: RubricQuestion, wordings: Sequence[RubricWording]
) -> tuple[NDArray[np.bool_], str]:
    number = {wording.fingerprint: wording.version for wording in wordings}
    current = number[guideline_hash(question)]
    is_same = np.isin(versions, [current, *question.equivalent_versions])
    older_versions = sorted(set(versions[~is_same].tolist()))
    if not older_versions:
        return is_same, ""
    n_others = int((~is_same).sum())
    write = (
        f"If both mean the same, write equivalent_versions: [{', '.join(map(str, older_versions))}]"
    )
    if is_same.any():
        return is_same, (
            f"{question.id}: left out: {counted(n_others, 'label')} given under another version; "
            f"version {current} has {is_same.sum():,}. {write}"
        )
    newest = versions == older_versions[-1]
    return newest, (
        f"{question.id}: version {current}, which is declared now, has no labels: those of version "
        f"{older_versions[-1]} count until it has. {write}"
    )


def _packed(labels: Mapping[str, Labels]) -> str:
    text = json.dumps(labels, separators=(",", ":"), ensure_ascii=False)
    return base64.b85encode(zlib.compress(text.encode(), 9)).decode("ascii")


def _unpacked(text: str) -> dict[str, Labels]:
    if not text:
        return {}
    labels: dict[str, Labels] = json.loads(zlib.decompress(base64.b85decode(text)))
    return labels


_MOST_CHARACTERS = 300
_MOST_VALUES = 12
"""Values of a scale up to which each gets an example; of a longer one, those that were given."""


@dataclass(frozen=True)
class RubricExample:
    """A response that shows a value of the scale, or on which raters disagree.

    `value` is None if raters disagree.
    """

    response_id: str
    text: str
    value: float | None
    source: str


def draft_guidelines(
    question: RubricQuestion,
    anchors: Mapping[float, RubricExample],
    *,
    to_decide: Sequence[str],
    disputed: Sequence[RubricExample],
    wording: str = "",
) -> str:
    """Return guidelines in Markdown, for people to edit before raters see them.

    `to_decide` says what raters disagree about, `disputed` responses show it, and `wording` holds
    definitions that a model proposed; empty for the present guidelines.
    """
    lines = [wording or question.guidelines.strip() or question.question, "", "Examples:", ""]
    values = question.scale.values
    for value in values if values and len(values) <= _MOST_VALUES else sorted(anchors):
        text = "TODO no response is known to deserve it; write an example"
        if example := anchors.get(value):
            text = _quoted(example)
        lines.append(f"- {question.scale.shown(value)}: {text}")
    if to_decide:
        lines += ["", "TODO decide, write it above, and remove this part before raters see it:", ""]
        lines += [f"- {sentence}" for sentence in to_decide]
        lines += ["", "Disputed responses:", "", *(f"- {_quoted(of)}" for of in disputed)]
    return "\n".join(lines) + "\n"


def drafting_prompt(question: RubricQuestion, draft: str) -> str:
    """Return the request for definitions of the values, given a draft made from the data."""
    return (
        "Raters disagree on a question. Write a definition of each value of its scale, one line "
        "each, that decides the disputed cases below. Use the examples; add no others. Do not "
        "change the question or its scale. Reply with the definitions alone, as lines "
        f'"- VALUE: definition".\n\nQuestion: {question.question}\n'
        f"Scale: {question.scale.described()}\n\n{draft}"
    )


def _quoted(example: RubricExample) -> str:
    text = shortened(" ".join(example.text.split()), most=_MOST_CHARACTERS)
    return f'"{text}" ({example.response_id}; {example.source})'
