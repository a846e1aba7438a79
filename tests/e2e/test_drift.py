"""The same answers, judged again, tell a judge that moved from answers that are others."""

import shutil
from pathlib import Path

import dagster as dg
import pytest

from tests.e2e.conftest import Evaluated
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.planted import Planted
from tests.fake_provider.server import running

pytestmark = pytest.mark.slow

ASSETS = ("model_responses", "rubric_questions", "judge_scores", "judge_drift")
MODEL = "{id: gpt, provider: openai, model: gpt-6-luna}"


def answers(n: int) -> str:
    rows = "".join(f"a{k},Prompt {k},Answer {k},m,g{k}\n" for k in range(n))
    return f"response_id,prompt_text,response_text,model_name,group_id\n{rows}"


def declare(folder: Evaluated, *, every_days: float, anchors: int = 20) -> None:
    (folder.path / "evaluation.yaml").write_text(
        "name: watched\n"
        "rubric: [{id: clarity, question: How clear is it?, scale: likert5}]\n"
        f"judges: [{MODEL}]\n"
        f"drift: {{anchors: {anchors}, every_days: {every_days:.9f}, max_usd: 0.5}}\n"
    )


def check_of(result: dg.ExecuteInProcessResult) -> dg.AssetCheckEvaluation:
    """Return what `judge_stable` said."""
    [actual] = [e for e in result.get_asset_check_evaluations() if e.check_name == "judge_stable"]
    return actual


def test_a_judge_that_moved_is_found_and_other_answers_are_not_a_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Evaluated(tmp_path)
    declare(folder, every_days=1e-8)
    (tmp_path / "responses.csv").write_text(answers(24))
    scores = {f"Answer {k}": (3.0 + k % 3, 3.0) for k in range(30)}
    with running(Behaviour(planted=Planted(scores=scores))) as provider:
        for name, value in provider.environment.items():
            monkeypatch.setenv(name, value)

        def run() -> tuple[dg.AssetCheckEvaluation, int]:
            before = provider.log.n_received
            result = folder.materialize(*ASSETS)
            assert result.success
            return check_of(result), provider.log.n_received - before

        frozen, _ = run()
        assert frozen.passed
        assert folder.rows("SELECT count(*) FROM drift_anchors") == [(20,)]
        stable, n_asked = run()
        assert (stable.passed, n_asked) == (True, 20)

        (tmp_path / "responses.csv").write_text(answers(30))
        scores.update({text: (score - 1, 3.0) for text, (score, _) in scores.items()})
        shifted, n_asked = run()
        assert (shifted.passed, n_asked) == (False, 6 + 20)
        assert shifted.description == (
            "gpt on clarity: the same 20 answers are scored -1.00 [-1.00, -1.00] from what they "
            "were"
        )
        verdicts = "SELECT round, verdict, shift FROM judge_drift ORDER BY round"
        assert folder.rows(verdicts) == [(1, "stable", 0.0), (2, "moved", -1.0)]

        # Rounds are in the ledger, and a run between two of them asks nothing.
        declare(folder, every_days=7, anchors=9)
        shutil.rmtree(tmp_path / "out")
        repeat, n_asked = run()
        assert (repeat.passed, n_asked) == (False, 0)
        assert len(folder.rows(verdicts)) == 2
        assert folder.rows("SELECT count(*) FROM drift_anchors") == [(20,)]


def test_without_a_declaration_nobody_is_asked_again(open_once: Evaluated) -> None:
    assert open_once.rows("SELECT count(*) FROM judge_drift") == [(0,)]
