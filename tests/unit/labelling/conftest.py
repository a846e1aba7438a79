"""A small evaluation, its responses, and answers of made-up raters."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.labelling import Labelling
from eval_assets.config.rubric import RubricQuestion
from eval_assets.frame_columns import RESPONSE_COLUMNS
from eval_assets.labelling.assignments import Assignment
from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.sessions import Label, Session, SessionKey, TextHashes
from eval_assets.labelling.study import Study
from eval_assets.scale import BINARY, LIKERT5

START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
KEY = SessionKey(rater_id="anna", question_id="clarity")
HASHES = TextHashes(prompt="p" * 12, response="r" * 12, guidelines="g" * 12)
CLARITY = RubricQuestion("clarity", "How clear is it?", LIKERT5, "ordinal", "5 clear, 1 unclear")
CORRECT = RubricQuestion("correct", "Is it correct?", BINARY, "nominal")


def after(seconds: float) -> datetime:
    """That many seconds after the session began."""
    return START + timedelta(seconds=seconds)


def label(
    response_id: str = "a", rating: float | None = 3, *, at: float = 0, repeat: bool = False
) -> Label:
    return Label(
        response_id=response_id,
        rating=rating,
        labelled_at=after(at),
        is_repeat=repeat,
        hashes=HASHES,
    )


def session(*labels: Label) -> Session:
    begun = Session(
        key=KEY, started_at=START, updated_at=START, n_units=10, guideline_hash="g" * 12
    )
    return begun.after(labels)


def response_rows(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    """Responses in RESPONSE_COLUMNS; further keys become attributes."""
    complete = []
    for number, row in enumerate(rows):
        base = {
            "response_id": f"a{number}",
            "prompt_text": f"Prompt {number}",
            "response_text": f"Answer {number}",
            "model_name": "m1",
        } | row
        attributes = {k: v for k, v in base.items() if k not in RESPONSE_COLUMNS}
        complete.append({**base, "attributes": json.dumps(attributes)})
    frame = pd.DataFrame(complete, columns=list(RESPONSE_COLUMNS)).astype(object)
    frame = frame.where(frame.notna(), None)
    return frame.assign(turn_index=frame["turn_index"].astype("Int64"))


def evaluation_of(
    tmp_path: Path,
    *,
    labelling: Labelling | None = None,
    rubric: tuple[RubricQuestion, ...] = (CLARITY, CORRECT),
) -> Evaluation:
    return Evaluation(
        name="made-up",
        folder=tmp_path,
        rubric=rubric,
        labelling=labelling or Labelling(),
    )


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    return evaluation_of(tmp_path)


def study_of(
    folder: Path,
    rows: Sequence[dict[str, object]] = ({}, {}, {}),
    *,
    rubric: tuple[RubricQuestion, ...] = (CLARITY, CORRECT),
    assignments: Sequence[Assignment] | None = None,
    **settings: object,
) -> Study:
    """A study of made-up responses whose raters are anna and ben."""
    labelling = Labelling(raters=("anna", "ben"), **settings)  # type: ignore[arg-type]
    evaluation = evaluation_of(folder, labelling=labelling, rubric=rubric)
    return Study(evaluation, response_views(evaluation, response_rows(rows)), assignments)
