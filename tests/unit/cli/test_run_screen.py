"""The screen of a run says what held-out tests say, and what to do next."""

import shutil
from pathlib import Path

import pytest

from tests.unit.cli.test_run import printed_run

CODE = Path(__file__).parents[3] / "data" / "code"


@pytest.mark.slow
def test_screen_of_a_published_study_names_what_each_judge_may_do(tmp_path: Path) -> None:
    folder = shutil.copytree(CODE, tmp_path / "code", ignore=shutil.ignore_patterns("out"))

    done = printed_run(folder)

    assert done.code == 0
    screen = done.out[done.out.index("Read  12,476 ratings") :]
    text = " ".join(screen.split())
    assert "1 Can we trust our labels? PASS" in text
    assert "Can reasoning replace one of us? PASS In the held-out test it agrees" in text
    assert "PASS on 84 % Yes where it is within 1 point of reasoning" in text
    assert "people rate the rest. Use version 1.0.1." in text
    assert "Do next Let reasoning replace one rater of each response it scores." in text
    assert "That saves 2,350 of 12,476 ratings." in text
    lines = screen[: screen.index("Report")].splitlines()
    assert max(map(len, lines)) <= 80
    assert len(" ".join(lines).split()) <= 150
