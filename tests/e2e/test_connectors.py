"""Ratings of running tools arrive once, follow their edits, and the verdict goes back.

MLflow and Label Studio are real servers. Langfuse, LangSmith and Argilla are served on loopback
from the API models of their own clients, because their servers are no Python packages.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.tools import (
    TOP,
    ended,
    environment,
    label_studio_server,
    mlflow_server,
    recorded_server,
)

CLIENTS = "argilla,label-studio,langfuse,langsmith,mlflow,run"
LONG = "Because it is so. " * 100
"""Longer than the previews of MLflow."""

CONTENT: dict[str, list[Any]] = {
    "responses": [[f"t{k}", f"Why {k}?", f"{LONG}{k}."] for k in range(12)],
    "ratings": [
        [f"t{k}", "helpful", rater, 1 + (k + (rater == "ben" and k == 2)) % 4, rater == "gpt"]
        for k in range(12)
        for rater in ("anna", "ben", "gpt")
    ],
}
"""Responses, and ratings by two people and a judge."""

pytestmark = pytest.mark.tools


@dataclass
class Tool:
    """A running tool with the content above.

    Args:
        name: Name of the tool.
        server: Its address.
        folder: Folder for files.
        programs: Programs of an environment with the clients.
    """

    name: str
    server: str
    folder: Path
    programs: Path

    @property
    def is_real(self) -> bool:
        """Return whether the server is that of the tool itself."""
        return self.name in ("mlflow", "label-studio")

    def act(self, action: str, *files: Path) -> Any:
        """Change or read the content with the tool's client."""
        script = TOP / "tests" / "real_tools.py"
        command = (self.programs / "python", script, self.name, self.server, action)
        done = ended(*command, *files, folder=self.folder)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def put(self, content: dict[str, list[Any]]) -> None:
        """Write what a recorded server answers with."""
        (self.folder / "ratings.json").write_text(json.dumps(content))

    def change(self) -> None:
        """Edit a rating, delete one, and add a response with two."""
        if self.is_real:
            self.act("change")
            return
        edited, _, _, _, deleted, *_ = CONTENT["ratings"]
        unchanged_ratings = [
            rating for rating in CONTENT["ratings"] if rating not in (edited, deleted)
        ]
        added = [["t99", "helpful", rater, 4, False] for rater in ("anna", "ben")]
        responses = [*CONTENT["responses"], ["t99", "Why 99?", "Because 99."]]
        self.put(
            {
                "responses": responses,
                "ratings": [[*edited[:3], 5, False], *unchanged_ratings, *added],
            }
        )

    def verdicts(self) -> str:
        """Return what was written."""
        if self.is_real:
            return str(self.act("verdicts"))
        return (self.folder / "written.json").read_text()

    def eval_assets(self, *arguments: str | Path) -> str:
        """Run the program with the clients, and return what it prints."""
        done = ended(self.programs / "eval-assets", *arguments, folder=self.folder)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def read(self, *options: str) -> str:
        """Import from the server."""
        source = ("import", self.name, "--from", self.server, "--project", "support")
        return self.eval_assets(*source, "--data", "folder", *options)

    def path(self, table: str) -> Path:
        """Return the only file of an imported table."""
        (path,) = (self.folder / "folder" / table).glob(f"{self.name}-support-*.csv")
        return path

    def rows(self, table: str) -> list[dict[str, str]]:
        """Return the rows of an imported table."""
        return list(csv.DictReader(self.path(table).read_text().splitlines()))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs of an environment with this package and the clients of all tools."""
    return environment(tmp_path_factory.mktemp("clients"), f"{TOP}[{CLIENTS}]", "inspect-ai")


@pytest.fixture
def tool(request: pytest.FixtureRequest, programs: Path, tmp_path: Path) -> Iterator[Tool]:
    name = request.param
    servers: dict[str, Callable[..., Any]] = {
        "mlflow": mlflow_server,
        "label-studio": label_studio_server,
    }
    with ExitStack() as stack:
        running = Tool(name, "", tmp_path, programs)
        running.put(CONTENT)
        if name in servers:
            installed = environment(tmp_path / "server", name)
            running.server = stack.enter_context(servers[name](installed, tmp_path))
            running.act("seed", tmp_path / "ratings.json")
        else:
            running.server = stack.enter_context(recorded_server(name, programs, tmp_path))
        yield running


def check_an_export(tool: Tool) -> None:
    """Read an export that the tool's package writes as the server is read."""
    tool.act("export", tool.folder / "export.json")
    account = tool.eval_assets("import", "export.json", "--data", "exported")

    exported = (tool.folder / "exported" / "labels.csv").read_text().splitlines()
    assert sorted(exported[1:]) == sorted(tool.path("labels").read_text().splitlines()[1:])
    assert f"{tool.name}: 12 records read\nstored: 12 responses, 24 ratings by 2 raters" in account
    if tool.name == "label-studio":  # whose snapshots leave predictions out
        assert "not used: 12 predictions are counted, but not in the export" in account


@pytest.mark.parametrize(
    "tool", ["mlflow", "label-studio", "langfuse", "langsmith", "argilla"], indirect=True
)
def test_ratings_arrive_once_and_the_verdict_goes_back(tool: Tool) -> None:
    first = tool.read()

    assert "stored: 12 responses, 24 ratings by 2 raters, 12 scores by 1 judge" in first
    assert {row["response_text"] for row in tool.rows("responses")} == {
        text for _, _, text in CONTENT["responses"]
    }
    assert sorted(row["rating"] for row in tool.rows("labels")) == sorted(
        str(value) for _, _, _, value, is_judge in CONTENT["ratings"] if not is_judge
    )
    repeat = tool.read()
    assert repeat.count(": nothing new\n") == 3
    assert "wrote" not in repeat

    program = tool.programs / "eval-assets"
    evaluated = ended(program, "run", "--data", "folder", folder=tool.folder)
    assert evaluated.returncode in (0, 3), evaluated.stderr
    publish = ("export", tool.name, "--to", tool.server, "--project", "support")
    trial = tool.eval_assets(*publish, "--data", "folder", "--dry-run")
    assert re.search(r"eval_assets\.labels\.\w+: PASS\. Krippendorff's alpha", trial)
    printed = tool.eval_assets(*publish, "--data", "folder")
    assert trial.split("\n\n")[0] == printed.split("\n\n")[0]
    for _ in range(2):  # the second time in place of the first
        assert "eval_assets.labels." in tool.verdicts()
        assert "Krippendorff's alpha" in tool.verdicts()
        tool.eval_assets(*publish, "--data", "folder")

    if tool.is_real:
        check_an_export(tool)
    tool.change()
    changed = tool.read()
    assert f"responses/{tool.path('responses').name}: 1 new\n" in changed
    assert f": 2 new, 1 changed, 1 deleted in {tool.name} and kept here (" in changed
    assert len(tool.rows("labels")) == 26
    tool.read("--drop-deleted")
    assert len(tool.rows("labels")) == 25
    assert [row["rating"] for row in tool.rows("labels")].count("5") == 1
    assert len(tool.rows("judge_scores")) == 12


def test_a_log_of_inspect_ai_is_read_whole(programs: Path, tmp_path: Path) -> None:
    script = """
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import includes, match
from inspect_ai.solver import solver

@solver
def answers():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("mockllm/model", f"It is {len(state.input_text)}")
        return state
    return solve

samples = [Sample(input=f"What is {k} and {k}?", target=str(2 * k)) for k in range(8)]
eval(Task(dataset=samples, solver=answers(), scorer=[includes(), match()]),
     model="mockllm/model", display="none", log_dir="logs")
"""
    done = ended(programs / "python", "-c", script, folder=tmp_path)
    assert done.returncode == 0, done.stderr

    done = ended(programs / "eval-assets", "import", "logs", "--data", "folder", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "stored: 8 responses, 16 scores by 2 judges" in done.stdout
