"""Evaluation folders with made-up ratings, and runs of the real assets on them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import dagster as dg
import pytest
from filelock import FileLock

from eval_assets.assets.evaluation_definitions import project_definitions
from eval_assets.cli.main import main
from eval_assets.store.connection import connect
from tests.instances import empty_instance
from tests.redis_server import redis_program, running_redis

SAMPLE = project_definitions(Path(__file__).parents[2] / "data" / "sample")
"""All definitions of an evaluation."""

N_RESPONSES = 24
BASE = [1 + k % 5 for k in range(N_RESPONSES)]
NEAR = [min(5, value + (k % 6 == 0)) for k, value in enumerate(BASE)]
"""As `BASE`, one step higher on every sixth response."""
OPPOSED = [6 - value for value in BASE]

AGREEING = (BASE, NEAR)
OPPOSING = (BASE, OPPOSED)
EQUAL = ([3] * N_RESPONSES, [3] * N_RESPONSES)
"""Ratings of two raters: alpha about .95, about -.9 and undefined."""

Ratings = Mapping[str, Sequence[Sequence[float]]]
"""By question, what each rater or judge gave to each response."""

BEHIND_THE_GATES = sorted(
    key.to_user_string()
    for key in dg.AssetSelection.groups("judge_tuning").resolve(SAMPLE.resolve_asset_graph())
)
"""Assets that a closed gate holds back."""

PLANTED = Path(__file__).parents[2] / "data" / "tuning"
"""Judges of which the truth is known."""

WITHOUT_RESULTS = shutil.ignore_patterns("out", "ledger.sqlite*")

PROGRAM = Path(sys.executable).parent / "eval-assets"


@dataclass(frozen=True)
class Evaluated:
    """An evaluation folder of two questions, two raters and two judges, unless told otherwise."""

    path: Path

    @property
    def database(self) -> Path:
        """The database that runs on this folder write."""
        return self.path / "out" / "eval.duckdb"

    def declare(
        self,
        *,
        scales: Mapping[str, str] | None = None,
        judges: Sequence[str] = ("j1", "j2"),
        gates: str = "",
    ) -> None:
        """Write evaluation.yaml; `gates` is the inside of its block."""
        questions = [
            f"  - {{id: {name}, question: Rate the {name}, scale: {scale}}}"
            for name, scale in (scales or {"clarity": "likert5", "depth": "likert5"}).items()
        ]
        lines = ["name: made-up", "rubric:", *questions]
        if judges:
            lines += ["judges:"]
            lines += [
                f"  - {{id: {judge}, provider: recorded, scores: scores.csv, model: {judge}}}"
                for judge in judges
            ]
        if gates:
            lines += [f"gates: {{{gates}}}"]
        (self.path / "evaluation.yaml").write_text("\n".join(lines) + "\n")

    def respond(self) -> None:
        """Write responses.csv: two models answer each prompt."""
        lines = ["response_id,prompt_text,response_text,model_name,group_id,topic"]
        lines += [
            f"a{k:02},Prompt {k // 2},Answer {k},m{k % 2},p{k // 2},{'tax' if k < 9 else 'law'}"
            for k in range(N_RESPONSES)
        ]
        (self.path / "responses.csv").write_text("\n".join(lines) + "\n")

    def label(self, ratings: Ratings) -> None:
        """Write labels.csv; raters are r1, r2 and so on."""
        self._write("labels.csv", "rater_id", "rating", "r", ratings)

    def judge(self, ratings: Ratings) -> None:
        """Write scores.csv; judges are j1, j2 and so on."""
        self._write("scores.csv", "judge_model", "score", "j", ratings)

    def materialize(
        self,
        *assets: str,
        checks: bool = True,
        extra: Sequence[dg.AssetsDefinition] = (),
        tags: Mapping[str, str] | None = None,
    ) -> dg.ExecuteInProcessResult:
        """Run the named assets, or all of them, in this process, without records of other runs."""
        selection = dg.AssetSelection.assets(*assets) if assets else dg.AssetSelection.all()
        definitions = project_definitions(self.path)
        checked = list(definitions.asset_checks or []) if checks else []
        return dg.materialize(
            [*(definitions.assets or []), *checked, *extra],  # type: ignore[list-item]
            selection=selection if checks else selection.without_checks(),
            resources=definitions.resources,
            instance=empty_instance(),
            tags=tags,
            raise_on_error=False,
        )

    def run(
        self,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        program: Path = PROGRAM,
    ) -> subprocess.CompletedProcess[str]:
        """`eval-assets` with these arguments on this folder, as a process of its own."""
        return subprocess.run(
            [program, *arguments],
            env=clean_environment() | {"EVAL_DATA": str(self.path)} | dict(environment or {}),
            cwd=self.path,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    def call(
        self, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """As `run`, within this process, which has imported everything already."""
        variables = {"EVAL_DATA": str(self.path)} | dict(environment or {})
        return call(self.path, *arguments, environment=variables)

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Return the rows that the database answers with."""
        with connect(self.database) as connection:
            return connection.execute(query).fetchall()

    def splits(self) -> list[tuple[object, ...]]:
        """Return the questions of `judge_splits`, with the number of responses of each."""
        return self.rows("SELECT question_id, count(*) FROM judge_splits GROUP BY ALL ORDER BY ALL")

    def _write(self, name: str, by: str, text: str, prefix: str, ratings: Ratings) -> None:
        lines = [f"response_id,{by},question_id,{text}"]
        for question, by_rater in ratings.items():
            for rater, values in enumerate(by_rater, start=1):
                lines += [
                    f"a{k:02},{prefix}{rater},{question},{value:g}"
                    for k, value in enumerate(values)
                ]
        (self.path / name).write_text("\n".join(lines) + "\n")


def call(
    folder: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `eval-assets` in a folder within this process, which has imported everything already."""
    stdout, stderr = StringIO(), StringIO()
    variables = clean_environment() | dict(environment or {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "environ", os.environ.copy())
        os.environ.clear()
        os.environ.update(variables)
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["eval-assets", *arguments])
        with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as end:
            main()
    code = end.value.code
    assert isinstance(code, int)
    return subprocess.CompletedProcess(arguments, code, stdout.getvalue(), stderr.getvalue())


def clean_environment() -> dict[str, str]:
    """This process's environment without what names folders, databases and records."""
    named = {"EVAL_DATA", "EVAL_DATABASE", "DAGSTER_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in named}
    return environment | {"DAGSTER_DISABLE_TELEMETRY": "1", "PYTHONWARNINGS": ""}


def make(path: Path, humans: Sequence[Sequence[float]]) -> Evaluated:
    """A folder on whose two questions two humans rate so, and two judges agree."""
    path.mkdir()
    folder = Evaluated(path)
    folder.declare()
    folder.respond()
    folder.label({"clarity": humans, "depth": humans})
    folder.judge({"clarity": AGREEING, "depth": AGREEING})
    return folder


def materialized(result: dg.ExecuteInProcessResult, asset: str) -> dg.AssetMaterialization:
    """Return what a run stored of an asset."""
    [event] = [
        event
        for event in result.get_asset_materialization_events()
        if event.asset_key == dg.AssetKey(asset)
    ]
    return event.step_materialization_data.materialization


def failures(result: dg.ExecuteInProcessResult) -> dict[str, str]:
    """Return the message of each step that failed by a `dagster.Failure`, by its asset."""
    return {
        str(event.step_key).rpartition("__")[
            2
        ]: event.step_failure_data.user_failure_data.description or ""
        for event in result.all_events
        if event.is_step_failure and event.step_failure_data.user_failure_data
    }


RunOnce = Callable[[str, Callable[[Path], object]], Evaluated]


@pytest.fixture(scope="session")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> RunOnce:
    """Return a folder after a run that one of the test workers makes for all of them."""

    def run(name: str, make_and_run: Callable[[Path], object]) -> Evaluated:
        base = tmp_path_factory.getbasetemp()
        # Without workers, the folder above has earlier tests too.
        shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"{name}-shared"
        with FileLock(f"{shared}.lock"):
            if not shared.exists():
                path = tmp_path_factory.mktemp(name) / "made"
                make_and_run(path)
                path.rename(shared)
        folder = Evaluated(shutil.copytree(shared, tmp_path_factory.mktemp(name) / "data"))
        with connect(folder.database, folder=folder.path):
            pass  # it records where the copy lies
        return folder

    return run


@pytest.fixture(scope="session")
def open_once(run_once: RunOnce) -> Evaluated:
    """A folder whose raters agree, after one run of everything: not to be written."""

    def make_and_run(path: Path) -> None:
        assert make(path, AGREEING).materialize().success

    return run_once("open", make_and_run)


@pytest.fixture(scope="session")
def closed_once(run_once: RunOnce) -> Evaluated:
    """A folder whose raters contradict one another, after one run of everything: likewise."""

    def make_and_run(path: Path) -> None:
        assert not make(path, OPPOSING).materialize().success

    return run_once("closed", make_and_run)


@pytest.fixture(scope="session")
def planted_once(run_once: RunOnce) -> Evaluated:
    """The made-up judges of data/tuning after one run of everything: likewise."""

    def make_and_run(path: Path) -> None:
        folder = Evaluated(shutil.copytree(PLANTED, path, ignore=WITHOUT_RESULTS))
        assert folder.materialize().success

    return run_once("planted", make_and_run)


@pytest.fixture
def open_folder(open_once: Evaluated, tmp_path: Path) -> Evaluated:
    """A copy of its own of the evaluated folder whose gates are open."""
    return Evaluated(shutil.copytree(open_once.path, tmp_path / "data"))


@pytest.fixture
def closed_folder(closed_once: Evaluated, tmp_path: Path) -> Evaluated:
    """A copy of its own of the evaluated folder whose human gates are closed."""
    return Evaluated(shutil.copytree(closed_once.path, tmp_path / "data"))


@pytest.fixture
def planted(planted_once: Evaluated, tmp_path: Path) -> Evaluated:
    """A copy of its own of the evaluated judges."""
    return Evaluated(shutil.copytree(planted_once.path, tmp_path / "data"))


@pytest.fixture
def new_folder(tmp_path: Path) -> Evaluated:
    """A folder whose raters agree, on which nothing ran yet."""
    return make(tmp_path / "data", AGREEING)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[str]:
    """The URL of a Redis server; the test is skipped if none is installed, unless in CI."""
    program = redis_program()
    if program is None and "EVAL_ASSETS_NO_SKIPS" in os.environ:
        pytest.fail("EVAL_ASSETS_NO_SKIPS is set, and Redis is not installed")
    if program is None:
        pytest.skip("Redis is not installed (Debian: apt-get install redis-server)")
    with running_redis(program, tmp_path) as url:
        yield url
