"""A run opens, parses, copies and renders everything once."""

import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_assets.assets import reports
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.cli.materialize import materialize
from eval_assets.readers.evaluation import validation
from eval_assets.store import connection
from eval_assets.store.ledger import copies
from tests.e2e.conftest import Evaluated, clean_environment


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts of calls, by function; copies of the ledger by table."""
    counts: Counter[str] = Counter()

    def count(module: Any, name: str, label: Callable[..., str] | None = None) -> None:
        function = getattr(module, name)

        def counted(*arguments: Any, **options: Any) -> Any:
            counts[label(*arguments) if label else name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, counted)

    count(connection, "_open")
    validation.read_yaml.cache_clear()
    count(validation, "_check_depth")
    for name in ("report_page", "report_markdown", "report_json"):
        count(reports, name)
    count(copies, "replace_rows", lambda _connection, table, _rows: f"copy of {table}")
    return counts


@pytest.mark.slow
def test_a_run_opens_parses_and_renders_once(
    new_folder: Evaluated, calls: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.chdir(new_folder.path)
    folder = EvaluationFolder.at(new_folder.path)

    code = materialize(folder, select=None, verbose=False, output="quiet")

    assert code == 0
    assert (calls["_open"], calls["_check_depth"]) == (1, 1), "evaluation.yaml is parsed once"
    rendered = ("report_page", "report_markdown", "report_json")
    assert {name: calls[name] for name in rendered} == dict.fromkeys(rendered, 1)
    assert "were not evaluated" in (new_folder.path / "out" / "report.html").read_text("utf-8")
    # All tables at first; then those that the run wrote.
    assert max(n for name, n in calls.items() if name.startswith("copy of")) <= 2

    assert materialize(folder, select="judge_certificates", verbose=False, output="quiet") == 0
    assert calls["report_page"] == 1, "agreement_report alone writes the report"


def code_of_unread_run(program: Path, folder: Evaluated, last_line: str, *options: str) -> int:
    """Return the exit code of a run whose output is read up to a line."""
    with subprocess.Popen(
        [program, "run", *options],
        env=clean_environment() | {"EVAL_DATA": str(folder.path)},
        cwd=folder.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert any(line.startswith(last_line) for line in process.stdout)
        process.stdout.close()
        assert process.stderr.read() == ""
        return process.wait()


@pytest.mark.slow
def test_a_run_completes_when_its_reader_ends(new_folder: Evaluated, program_folder: Path) -> None:
    """As in `run | head`, which closes the pipe during the run."""
    program = program_folder / "eval-assets"
    options = ("--select", "+human_agreement")

    assert code_of_unread_run(program, new_folder, "Evaluating", *options) == 0

    assert new_folder.rows("SELECT count(*) > 0 FROM human_agreement") == [(True,)]


@pytest.mark.slow
def test_a_run_whose_reader_ends_has_the_code_of_its_verdict(
    closed_folder: Evaluated, program_folder: Path
) -> None:
    program = program_folder / "eval-assets"
    assert code_of_unread_run(program, closed_folder, "1  Can we trust our labels?") == 3
