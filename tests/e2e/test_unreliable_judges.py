"""Results on which judges are unreliable are logged, with alpha, prompt and model."""

from pathlib import Path

import pytest

from tests.e2e.conftest import AGREEING, BASE, OPPOSED, make

N_EXTREME = sum(value in {1, 5} for value in BASE)


@pytest.mark.slow
def test_unreliable_results_are_logged_and_not_printed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The worst 20 with a line each, the others with their number."""
    folder = make(tmp_path / "data", AGREEING)
    folder.judge({"clarity": (BASE, OPPOSED), "depth": (BASE, OPPOSED)})
    result = folder.call("run")

    rows = folder.rows(
        "SELECT response_id FROM judge_agreement "
        "WHERE scope = 'response' AND interpretation = 'unreliable'"
    )
    lines = [r.getMessage() for r in caplog.records if "judges are unreliable" in r.getMessage()]
    assert len(rows) >= N_EXTREME
    assert len(lines) == min(21, len(rows))
    n_more = len(rows) - 20
    assert (f"judges are unreliable on {n_more} more: " in lines[-1]) == (n_more > 0)
    assert any("alpha -" in line and "response of m1 to: Prompt " in line for line in lines)
    assert "judges are unreliable" not in result.stdout
