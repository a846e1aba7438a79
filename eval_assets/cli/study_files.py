"""Responses, assignments and sessions that the labelling commands read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from eval_assets.cli.exit_codes import print_errors
from eval_assets.config.evaluation import FILE, Evaluation
from eval_assets.config.labelling import ASSIGNMENTS, SESSIONS
from eval_assets.errors import InputError, leaves
from eval_assets.labelling.adjudication import (
    Disagreement,
    disagreements,
    worst_first,
)
from eval_assets.labelling.quality import QualityFigure, quality_figures, quality_sources
from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.rubric_versions import RubricWording, wordings_in_order
from eval_assets.labelling.study import Study
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labelling_inputs import read_assignments, with_calibration
from eval_assets.readers.labels.read import read_labels
from eval_assets.readers.responses import read_responses

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection


@dataclass(frozen=True)
class StudyFiles:
    """A study with its responses and the current labels of its files."""

    study: Study
    responses: pd.DataFrame
    labels: "CurrentLabels"

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation."""
        return self.study.evaluation


def read_study(data: Path, *, database: Path | None = None) -> StudyFiles:
    """Read the study of an evaluation folder.

    The database has generated responses, and which ones a judge is certified to score; it is opened
    only if the evaluation generates any or has judges.
    """
    evaluation = read_evaluation(data)
    covered: Mapping[str, frozenset[str]] = {}
    generated = None
    if (evaluation.generators or evaluation.judges) and database and database.exists():
        # Half of what a labelling command imports, and most folders have nothing stored yet.
        from eval_assets.store.connection import connect
        from eval_assets.store.inputs import read_generated_responses
        from eval_assets.store.tuned_judges import covered_units

        with connect(database) as connection:
            covered = covered_units(connection)
            if evaluation.generators:
                generated = read_generated_responses(connection)
    responses = read_responses(evaluation, generated=generated)
    views = response_views(evaluation, responses)
    study = with_calibration(Study(evaluation, views, read_assignments(evaluation), covered))
    labels = CurrentLabels(study, responses)
    files = [path for path in evaluation.labels.files if path.parent.name != SESSIONS]
    rated = rated_units(evaluation, responses, files) if files else frozenset()
    return StudyFiles(replace(study, labels=labels.ratings, rated=rated), responses, labels)


def rated_units(
    evaluation: Evaluation, responses: pd.DataFrame, files: Sequence[Path]
) -> frozenset[tuple[str, str, str, int]]:
    """Return response, question, rater and round of each valid rating in files.

    Raises:
        ExceptionGroup: Of an InputError for each file that cannot be used at all.
    """
    labels = replace(evaluation.labels, files=tuple(dict.fromkeys(files)), on_error="reject_rows")
    ratings = read_labels(replace(evaluation, labels=labels), responses).ratings
    return frozenset(
        ratings[["response_id", "question_id", "rater_id", "round"]].itertuples(
            index=False, name=None
        )
    )


class CurrentLabels:
    """Labels that are read again when their files change.

    Labels of sessions started after the study was read are included. Damaged sessions are left out:
    the lead's page names them.
    """

    def __init__(self, study: Study, responses: pd.DataFrame) -> None:
        self._study = study
        self._responses = responses
        self._read: tuple[object, pd.DataFrame] | None = None

    def ratings(self) -> pd.DataFrame:
        """Return all labels.

        Raises:
            ExceptionGroup: Of an InputError for each bad row of all files.
        """
        evaluation = read_evaluation(self._study.evaluation.folder)
        problems = self._study.sessions.readable()[1]
        damaged = {evaluation.folder / problem.file for problem in problems}
        paths = tuple(path for path in evaluation.labels.files if path not in damaged)
        versions = paths, _versions(paths)
        if self._read is None or self._read[0] != versions:
            labels = replace(evaluation.labels, files=paths)
            ratings = read_labels(replace(evaluation, labels=labels), self._responses).ratings
            self._read = versions, ratings
        return self._read[1]


class CurrentStudy:
    """A study that is read again when its files change while a server runs.

    It is read again when evaluation.yaml, assignments.csv or the calibration changes. As long as
    the files have an error, the study stays as it was.
    """

    def __init__(self, data: Path, *, database: Path | None) -> None:
        self._data, self._database = data, database
        self._calibration = read_evaluation(data).labelling.calibration
        self._version = self._version_now()
        self._files = read_study(data, database=database)

    @property
    def files(self) -> StudyFiles:
        """The study with its responses."""
        version = self._version_now()
        if version != self._version:
            self._version = version
            try:
                self._files = read_study(self._data, database=self._database)
                self._calibration = self._files.evaluation.labelling.calibration
            except (InputError, ExceptionGroup) as error:
                lines = map(str, leaves(error))
                print_errors(["The server goes on without these changes:", *lines])
        return self._files

    def __call__(self) -> Study:
        """Return the study of the current files."""
        return self.files.study

    def _version_now(self) -> list[tuple[int, ...] | None]:
        return _versions((self._data / FILE, self._data / ASSIGNMENTS, self._calibration))


def _versions(paths: Iterable[Path | None]) -> list[tuple[int, ...] | None]:
    status = (path.stat() if path and path.exists() else None for path in paths)
    return [(of.st_ino, of.st_size, of.st_mtime_ns) if of else None for of in status]


def stored_wordings(connection: "Connection") -> list[RubricWording]:
    """Return the versions of the questions in the order in which they came into use."""
    from eval_assets.store.schema import read_rows

    return wordings_in_order(read_rows(connection, "rubric_wordings", order_by="version"))


def disagreements_now(
    files: StudyFiles, *, between_judges: Sequence[Disagreement]
) -> list[Disagreement]:
    """Return disagreements between raters in the current files, and those between judges."""
    result = disagreements(files.evaluation, files.labels.ratings())
    known_units = {item.unit for item in result}
    return worst_first(
        [*result, *(item for item in between_judges if item.unit not in known_units)]
    )


def judges_disagreements(files: StudyFiles, database: Path) -> list[Disagreement]:
    """Return disagreements between judges stored by the last run; none before the first run."""
    if not database.exists():
        return []
    from eval_assets.store.connection import connect
    from eval_assets.store.schema import read_table

    with connect(database) as connection:
        disagreements = read_table(connection, "judge_disagreements")
    result = []
    for row in disagreements[disagreements["scope"] == "response"].to_dict("records"):
        if row["question_id"] not in {question.id for question in files.evaluation.rubric}:
            continue
        scale = files.evaluation.question(row["question_id"]).scale
        ratings = {  # stored scores are on [0, 1]
            row[f"{judge}_id"]: scale.low + row[f"{judge}_score"] * (scale.high - scale.low)
            for judge in ("judge1", "judge2")
        }
        fields = row["response_id"], row["question_id"], ratings, row["largest_difference"]
        result.append(Disagreement(*fields, between="judges"))
    return result


def quality_now(files: StudyFiles) -> list[QualityFigure]:
    """Return the quality of every rater's labels in the current files."""
    from eval_assets.store.labelling import quality_of_labels

    sources = quality_sources(files.study, files.study.sessions.readable()[0])
    rubric = files.evaluation.rubric
    return quality_figures(rubric, quality_of_labels(rubric, files.labels.ratings(), sources))
