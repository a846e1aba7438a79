"""Events that cannot be computed again are kept, and read back as they were."""

import math
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import BINARY
from eval_assets.store.ledger.engine import SqlLedger
from eval_assets.store.ledger.histories import (
    AcceptedPrompt,
    accept_prompt,
    accepted_prompt,
    append_history,
    history_of,
)
from eval_assets.store.ledger.workers import Worker
from tests.unit.store.ledger.conftest import NOW, attempt


def test_rows_of_a_history_are_kept_in_order(ledger: SqlLedger) -> None:
    for kappa in (0.8, 0.9):
        append_history(ledger, "dual_judge_validation", [{"timestamp": NOW, "kappa_macro": kappa}])
    append_history(ledger, "agreement_history", [{"scope": "overall"}])

    result = history_of(ledger, "dual_judge_validation")

    assert result["kappa_macro"].tolist() == [0.8, 0.9]
    assert result["timestamp"].tolist() == ["2026-11-21T05:00:00.250000+00:00"] * 2
    assert history_of(ledger, "dual_judgements").empty


@pytest.mark.parametrize("undefined", [math.nan, pd.NA, None, np.float64("nan")])
def test_what_is_undefined_in_a_history_is_null(ledger: SqlLedger, undefined: object) -> None:
    row = {"a_hh": np.float64(0.9), "alpha": undefined, "n": np.int64(3), "ids": [1, None]}
    append_history(ledger, "agreement_history", [row])

    [result] = history_of(ledger, "agreement_history").to_dict("records")
    assert result == {"a_hh": 0.9, "alpha": None, "n": 3, "ids": [1, None]}


def test_a_prompt_without_acceptance_is_the_one_that_was_last_replied_to(
    ledger: SqlLedger, worker: Worker
) -> None:
    """Ledgers of earlier versions have replies and wordings, and nothing that was accepted."""
    assert accepted_prompt(ledger) == AcceptedPrompt(None, {})
    wordings = [
        {
            "question_id": "q",
            "text": f"Version {number}?",
            "guidelines": "",
            "scale": "0 or 1",
            "first_seen_at": NOW + timedelta(hours=hours),
        }
        for number, hours in ((1, -2), (2, -1), (3, 1))
    ]
    append_history(ledger, "rubric_wordings", wordings)
    assert accepted_prompt(ledger) == AcceptedPrompt(None, {})

    worker.record([attempt("a", started_at=NOW)])
    wording = {"question": "Version 2?", "guidelines": "", "scale": "0 or 1"}
    assert accepted_prompt(ledger) == AcceptedPrompt((), {"q": wording})


def test_an_accepted_prompt_holds_for_questions_with_replies(
    ledger: SqlLedger, worker: Worker
) -> None:
    questions = [RubricQuestion(name, "Is it?", BINARY, "nominal") for name in ("q", "other")]
    worker.record([attempt("a", started_at=NOW)])
    for _ in range(2):
        accept_prompt(ledger, ["expected"], questions, at=NOW)

    accepted = accepted_prompt(ledger)
    assert (accepted.columns, list(accepted.wordings)) == (("expected",), ["q"])
    assert len(history_of(ledger, "prompt_columns")) == 1
