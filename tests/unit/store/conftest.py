"""A database of its own for each test, and rows to put into it."""

import resource
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from eval_assets.config.rubric import RubricQuestion
from eval_assets.frame_columns import LABEL_COLUMNS, RESPONSE_COLUMNS, SCORE_COLUMNS
from eval_assets.scale import BINARY, LIKERT5
from eval_assets.store.connection import connect
from eval_assets.store.inputs import write_rubric
from eval_assets.store.schema import replace_records, replace_rows
from eval_assets.store.scores import write_judge_scores

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
SAFETY = RubricQuestion("safety", "Is it safe?", BINARY, "nominal")


@dataclass(frozen=True)
class JudgeRow:
    """A row of the table `judges`."""

    judge_id: str
    provider: str
    model: str | None
    n_units: int
    n_ok: int
    fingerprint: str
    position: int
    version: str | None = None
    version_hash: str | None = None
    is_backup: bool = False


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a database may be made."""
    return tmp_path / "out" / "eval.duckdb"


@pytest.fixture(scope="session")
def stored_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the two questions and four responses to two prompts: not to be written."""
    path = tmp_path_factory.mktemp("stored") / "eval.duckdb"
    with connect(path) as connection:
        write_rubric(connection, [CLARITY, SAFETY])
        replace_rows(connection, "responses", responses("a1", "a2", "b1", "b2"))
    return path


@pytest.fixture
def connection(path: Path, stored_once: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """An open copy of that database."""
    path.parent.mkdir()
    shutil.copy(stored_once, path)
    with connect(path) as connection:
        yield connection


def responses(*response_ids: str, **columns: object) -> pd.DataFrame:
    """Responses; the prompt is named by the id's first letter, the model by the rest."""
    rows = [
        {
            "response_id": response_id,
            "prompt_text": f"Prompt {response_id[0]}",
            "response_text": f"Answer {response_id}",
            "model_name": f"m{response_id[1:]}",
            **columns,
        }
        for response_id in response_ids
    ]
    return pd.DataFrame(rows).reindex(columns=list(RESPONSE_COLUMNS)).astype(object)


def labels(*value: tuple[str, str, str, float]) -> pd.DataFrame:
    """Labels (response, question, rater, value), none of them skipped."""
    named = ["response_id", "question_id", "rater_id", "value"]
    rows = pd.DataFrame(value, columns=named)
    rows = rows.assign(file="labels.csv", line=2, skipped=False, round=1)
    return rows.reindex(columns=list(LABEL_COLUMNS))


def write_scored(
    connection: duckdb.DuckDBPyConnection, judges: Sequence[JudgeRow], rows: pd.DataFrame
) -> None:
    """Replace judges and their scores."""
    write_judge_scores(connection, [rows])
    replace_records(connection, "judges", judges)


def scores(*value: tuple[str, str, str, float | None, str]) -> pd.DataFrame:
    """Judge scores (response, question, judge, score, status)."""
    named = ["response_id", "question_id", "judge_id", "score", "status"]
    rows = pd.DataFrame(value, columns=named)
    rows["score"] = rows["score"].astype(float)
    return rows.assign(raw_score=rows["score"]).reindex(columns=list(SCORE_COLUMNS))


@contextmanager
def largest_file(n_bytes: int) -> Iterator[None]:
    """No file grows beyond so many bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
