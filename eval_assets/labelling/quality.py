"""Label quality: figures by question and rater, with advice, and answers that do not count."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from typing import Any

import pandas as pd

from eval_assets.config.rubric import RubricQuestion
from eval_assets.labelling.sessions import Label, Session, time_text
from eval_assets.labelling.study import Study

FEWEST_LABELS = 10
"""Labels of a rater below which figures get no advice: one label moves a share by a tenth."""

_FEWEST_IDENTICAL = 20
_MANY_SKIPPED = 0.2
_ONE_VALUE = 0.95
_WIDE_GAP = 0.25
_OPPOSITE_ENDS = 0.1
_IDENTICAL = 0.98
_FAST_SECONDS = 2
"""Limits from which figures get advice (choices): a quarter of the scale is a point of 1 to 5."""

MEASURES: Mapping[str, str] = {
    "completeness": "share of the assigned responses that were rated or skipped",
    "skipped_share": "share of the answers that say that the response is unclear",
    "most_frequent_share": "share of the ratings that are equal to the most frequent one",
    "severity": "how much higher the rater rates than the others, in share of the scale",
    "opposite_ends": "share of the responses that another rater put at the other end",
    "identical_share": "share of the responses rated like the rater who is most alike",
    "seconds": "median time between seeing a response and answering",
    "calibration": "share of answers that match gold answers, in the latest calibration round",
}
"""Figures in the order in which they are shown, with their meanings."""


@dataclass(frozen=True)
class QualityFigure:
    """One figure of one rater on one question; a row of the table `label_quality`.

    `n` is the number of labels, or of shared responses, behind the figure. `advice` is empty if no
    action is needed.
    """

    question_id: str
    rater_id: str
    measure: str
    value: float
    n: int
    advice: str = ""


def quality_figures(
    rubric: Iterable[RubricQuestion], rows: Iterable[Mapping[str, Any]]
) -> list[QualityFigure]:
    """Return figures in the order of the rubric, the raters and `MEASURES`, with advice.

    A rater with fewer than ten labels on a question has no other advice there than that these are
    too few to check.

    `rows` are as `measured_quality` of the store returns them.
    """
    figures: list[QualityFigure] = []
    by_rater: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        by_rater.setdefault((row["question_id"], row["rater_id"]), {})[row["measure"]] = row
    for question in rubric:
        raters = sorted(key for key in by_rater if key[0] == question.id)
        # Each pair at opposite ends counts for both raters: one sentence a question is enough.
        most_opposite = max(
            (by_rater[key]["opposite_ends"] for key in raters if "opposite_ends" in by_rater[key]),
            key=itemgetter("value"),
            default=None,
        )
        for name, rater in raters:
            measures = by_rater[name, rater]
            answered = measures.get("skipped_share")
            n_labels = answered["n"] if answered else 0
            for measure in MEASURES:
                if measure not in measures:
                    continue
                row = measures[measure]
                advice = ""
                if n_labels >= FEWEST_LABELS:
                    is_told = measure != "opposite_ends" or row is most_opposite
                    advice = _advice(rater, row, question) if is_told else ""
                elif row is (answered or measures.get("completeness")):
                    required = f"{n_labels} of {FEWEST_LABELS} needed"
                    advice = f"{rater} has too few labels to check, {required}."
                figures.append(QualityFigure(name, rater, measure, row["value"], row["n"], advice))
    return figures


def _advice(rater: str, row: Mapping[str, Any], question: RubricQuestion) -> str:  # noqa: PLR0911
    """Return advice on a figure; `other` and `compared` of its row depend on the measure."""
    value, n, other, compared = row["value"], row["n"], row["other"], row["compared"]
    match row["measure"]:
        case "skipped_share" if value >= _MANY_SKIPPED:
            reason = "read the reasons, the guidelines may not cover a case"
            return f"{rater} skipped {value:.0%}: {reason}."
        # Where most responses deserve one value, the others give it as often.
        case "most_frequent_share" if (
            n >= FEWEST_LABELS and value >= _ONE_VALUE and compared <= value - _WIDE_GAP
        ):
            return (
                f"{rater} gave one and the same value in {value:.0%} of the labels, others in "
                f"{compared:.0%}: go through a few of these responses together."
            )
        # Of two values and few labels a quarter of the scale is within three standard errors.
        case "severity" if (
            n >= FEWEST_LABELS and abs(value) >= _WIDE_GAP and abs(value) >= 3 * compared
        ):
            return (
                f"{rater} rates {abs(value):.0%} of the scale {'higher' if value > 0 else 'lower'} "
                "than the others do: agree on an example response for each value."
            )
        # Of two values all who differ are at opposite ends.
        case "opposite_ends" if (
            n >= FEWEST_LABELS and value >= _OPPOSITE_ENDS and not question.scale.is_binary
        ):
            return (
                f"{rater} and other raters put {round(value * n)} responses at opposite ends: "
                "adjudicate these first, and see whether the scale is read the wrong way round."
            )
        # Two careful raters may never differ on yes and no: `compared` is the number of values.
        case "identical_share" if n >= _FEWEST_IDENTICAL and value >= _IDENTICAL and compared > 2:  # noqa: PLR2004
            return (
                f"{rater} and {other} rate {value:.0%} of {n} responses alike: ask whether each of "
                "them labels alone."
            )
        case "seconds" if n >= FEWEST_LABELS and value < _FAST_SECONDS:
            return f"{rater} takes {value:.1f} seconds a label: ask whether responses are read."
    return ""


def quality_sources(study: Study, sessions: Iterable[Session]) -> dict[str, pd.DataFrame]:
    """Return what the quality of labels is measured on besides the labels, by name.

    `assigned_units` is the number of responses of each rater, `calibration_answers` the answers to
    the latest round, and `label_seconds` the time of each label of a session.
    """
    seconds = {
        (label.response_id, session.key.question_id, session.key.rater_id): label.seconds
        for session in sorted(sessions, key=lambda session: session.key.round)
        for label in session.by_unit.values()
        if not label.is_repeat
    }
    return {
        "assigned_units": pd.DataFrame(
            [(*key, n) for key, n in study.n_assigned.items()],
            columns=["rater_id", "question_id", "n"],
        ),
        "calibration_answers": pd.DataFrame(
            [
                (*key, result.n_right, result.n_answered)
                for key, result in study.calibration_results().items()
            ],
            columns=["rater_id", "question_id", "n_right", "n_answered"],
        ),
        "label_seconds": pd.DataFrame(
            [(*key, math.nan if time is None else time) for key, time in seconds.items()],
            columns=["response_id", "question_id", "rater_id", "seconds"],
        ),
    }


HISTORY_COLUMNS = (
    "response_id",
    "question_id",
    "rater_id",
    "round",
    "kind",
    "before",
    "after",
    "changed_at",
)
"""An answer that does not count: a 'change' of a label, a 'repeat' of a response, or a rating after
a 'discussion'."""


def history_rows(sessions: Iterable[Session]) -> pd.DataFrame:
    """Return all answers in sessions that do not count, in `HISTORY_COLUMNS`.

    `before` is the value that the answer changed, or of a repeat the value of the first time; it
    and `after` are NaN if the response was skipped.
    """
    rows: list[dict[str, object]] = []
    by_key = {session.key: session for session in sessions}
    for session in by_key.values():
        if session.key.kind:
            regular = by_key.get(replace(session.key, kind=""))
            for label in session.labels:
                before = regular.by_unit.get(label.unit) if regular else None
                rows.append(_row(session, "discussion", before.rating if before else None, label))
            continue
        first = {label.response_id: label for label in session.labels if not label.is_repeat}
        for label in session.labels:
            if label.is_repeat and label.response_id in first:
                before = first[label.response_id]
                rows.append(_row(session, "repeat", before.rating, label))
            events = label.events
            rows += [
                _row(session, "change", earlier.rating, later)
                for earlier, later in pairwise(events)
                if not label.is_repeat and earlier.rating != later.rating
            ]
    return pd.DataFrame(rows, columns=list(HISTORY_COLUMNS)).astype(
        {"before": float, "after": float}
    )


def _row(session: Session, kind: str, before: float | None, after: Label) -> dict[str, object]:
    return {
        "response_id": after.response_id,
        "question_id": session.key.question_id,
        "rater_id": session.key.rater_id,
        "round": session.key.round,
        "kind": kind,
        "before": before,
        "after": after.rating,
        "changed_at": time_text(after.labelled_at) if after.is_time_known else None,
    }
