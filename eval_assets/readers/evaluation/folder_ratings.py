"""The ratings and scores of an evaluation folder, read as a run reads them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from eval_assets.config.evaluation import FILE, Evaluation
from eval_assets.errors import InputProblem, raise_all
from eval_assets.frame_columns import SCORE_COLUMNS as STORED_COLUMNS
from eval_assets.readers.evaluation.input_files import source_files
from eval_assets.readers.formats.files import named
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.problems import nearest
from eval_assets.readers.rated_items import groups_of_responses
from eval_assets.readers.rating_tables import (
    RATING_COLUMNS,
    SCORE_COLUMNS,
    RatingTables,
    ReadOptions,
)
from eval_assets.readers.responses import read_responses
from eval_assets.readers.scores import NumberInReply, read_recorded_scores
from eval_assets.wording import counted

_ROLES = {
    "item": ("response_id",),
    "rater": ("rater_id",),
    "judge": ("judge_model",),
    "rating": ("rating", "score"),
    "question": ("question_id",),
    "model": ("model_name",),
}


def ratings_of_folder(
    evaluation: Evaluation, options: ReadOptions, *, number_in_reply: NumberInReply
) -> RatingTables:
    """Return the ratings and the recorded scores of an evaluation.

    Of the options only `only` is taken: its files are declared.

    Raises:
        ExceptionGroup: Of an InputError for each bad row, for a question that it does not ask, and
            for other options.
    """
    _check_options(evaluation, options)
    responses = read_responses(evaluation)
    labels = read_labels(evaluation, responses)
    frames = read_recorded_scores(evaluation, responses, number_in_reply=number_in_reply)
    all_scores = pd.concat(frames) if frames else pd.DataFrame(columns=list(STORED_COLUMNS))
    questions = [of for of in evaluation.rubric if not options.only or of.id in options.only]
    question_ids = [question.id for question in questions]
    rated = labels.ratings[
        ~labels.ratings["skipped"] & labels.ratings["question_id"].isin(question_ids)
    ]
    scored = all_scores[
        (all_scores["status"] == "ok") & all_scores["question_id"].isin(question_ids)
    ]
    names = {"response_id": "item", "question_id": "question", "rater_id": "rater"}
    ratings = rated.rename(columns=names).assign(sheet="", column="rating")
    items = responses[["response_id", "model_name", "prompt_text", "response_text"]]
    items = items.rename(columns={"response_id": "item", "model_name": "model"})
    items["group"] = items["item"].map(groups_of_responses(responses))
    group = "group_id" if items["group"].nunique() < len(items) else ""
    sources = source_files(evaluation)
    kinds = ("responses", "human_labels", "judge_scores")
    files = dict.fromkeys(path for kind in kinds for path in sources[kind])
    return RatingTables(
        ratings=ratings[list(RATING_COLUMNS)].reset_index(drop=True),
        scores=pd.DataFrame([*_runs(scored)], columns=list(SCORE_COLUMNS)),
        items=items,
        questions=tuple(questions),
        columns={
            **_ROLES,
            "group": (group,) if group else (),
            "run": ("run",) if scored["runs"].notna().any() else (),
        },
        groups_by=group,
        files=tuple(named(path, folder=evaluation.folder) for path in files),
        notes=(*labels.notes, *_unread(all_scores)),
    )


def _check_options(evaluation: Evaluation, options: ReadOptions) -> None:
    known = [question.id for question in evaluation.rubric]
    problems = [
        (f"--only {name}: there is no such question", nearest(name, known))
        for name in options.only
        if name not in known
    ]
    if replace(options, only=()) != ReadOptions():
        message = "it declares how its files are read, which no option changes"
        problems.append((message, "Edit evaluation.yaml, or name the files to read"))
    raise_all(
        [InputProblem(FILE, None, None, *problem) for problem in problems],
        source=str(evaluation.folder),
    )


def _runs(scored: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a row for each run of a judge, in `SCORE_COLUMNS`."""
    columns = ("response_id", "question_id", "judge_id", "score", "runs")
    for item, question, judge, score, runs in scored[list(columns)].itertuples(index=False):
        for number, value in enumerate(runs or (score,), start=1):
            run = str(number) if runs else ""
            yield {"item": item, "question": question, "judge": judge, "run": run, "value": value}


def _unread(all_scores: pd.DataFrame) -> Iterator[str]:
    """Yield a note on the scores of each judge that are none of a response on its scale."""
    for judge, rows in all_scores.groupby("judge_id", sort=False):
        if n_off := int((rows["status"] == "out_of_range").sum()):
            yield f"{counted(n_off, 'score')} of {judge} off the scale not read"
        if (rows["status"] == "conversation").any():
            yield f"not read: scores of whole conversations by {judge}"
