"""Agreement of one run, as the history of an evaluation keeps it."""

from collections.abc import Mapping
from datetime import datetime

import pandas as pd

_OF_HUMANS = ("a_hh", "alpha")
_OF_JUDGES = {"alpha": "judge_alpha"}


def history_rows(
    humans: pd.DataFrame, judges: pd.DataFrame, *, run_id: str, at: datetime
) -> list[Mapping[str, object]]:
    """Return a row of `agreement_history` for each question that a run measured, and one over all.

    Args:
        humans: Rows of `human_agreement`.
        judges: Rows of `judge_agreement`; those of single responses are left out.
        run_id: Id of the run.
        at: When it measured.
    """
    of_judges = {
        _place(row): row for row in judges.to_dict("records") if row["scope"] != "response"
    }
    rows: list[Mapping[str, object]] = []
    for row in humans.to_dict("records"):
        judged = of_judges.get(_place(row), {})
        rows.append(
            {
                "run_id": run_id,
                "measured_at": at,
                "scope": row["scope"],
                "question_id": None if row["scope"] == "overall" else row["question_id"],
                **_figures(row, {name: name for name in _OF_HUMANS}),
                **_figures(judged, _OF_JUDGES),
                "data_version": " ".join(
                    str(each["data_version"]) for each in (row, judged) if "data_version" in each
                ),
                "judge_set_fingerprint": judged.get("judge_set_fingerprint"),
            }
        )
    return rows


def _place(row: Mapping[object, object]) -> tuple[object, object]:
    """Return what a row is about; over all questions there is no question."""
    scope = row["scope"]
    return scope, None if scope == "overall" else row["question_id"]


def _figures(row: Mapping[object, object], names: Mapping[str, str]) -> dict[str, object]:
    """Return figures with the ends of their intervals, under their names in the history."""
    return {
        f"{name}{end}": row.get(f"{column}{end}")
        for column, name in names.items()
        for end in ("", "_low", "_high")
    }
