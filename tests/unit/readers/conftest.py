"""Evaluation folders written for one test, and the problems that readers report."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eval_assets.errors import InputError

Write = Callable[[dict[str, str | bytes]], Path]
Reported = Callable[[Callable[[], object]], list[str]]

EVALUATION = """\
name: test
rubric:
  - {id: helpfulness, question: How helpful is it, scale: likert5}
  - {id: safe, question: Is it safe, scale: binary}
"""

HEAD = """\
name: test
rubric:
  - {id: helpfulness, question: How helpful is it, scale: likert5}
"""
"""Start of an evaluation.yaml with one question."""

RESPONSES = """\
response_id,prompt_text,response_text,model_name
a1,Why?,Because.,m1
a2,Why?,,m2
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes files into an evaluation folder that can be read as it is, and returns the folder."""

    def _write(files: dict[str, str | bytes]) -> Path:
        folder = tmp_path / "evaluation"
        defaults = {"evaluation.yaml": EVALUATION, "responses.csv": RESPONSES}
        for name, content in {**defaults, **files}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    return _write


@pytest.fixture
def reported() -> Reported:
    """Calls a reader that must fail, and returns the line of each problem."""

    def _reported(read: Callable[[], object]) -> list[str]:
        with pytest.raises(ExceptionGroup) as raised:
            read()
        assert all(isinstance(error, InputError) for error in raised.value.exceptions)
        return [str(error) for error in raised.value.exceptions]

    return _reported
