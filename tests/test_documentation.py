"""The documentation is true: its blocks run and print what it shows, its links lead somewhere."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from itertools import pairwise
from pathlib import Path

import click
import pytest

from eval_assets.assets.evaluation_definitions import project_definitions
from eval_assets.cli.main import program
from eval_assets.store.connection import connect
from tests.postgres import Postgres

TOP = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(TOP).as_posix()
    for pattern in ("*.md", "*/*.md", "docs/*/*.md", "benchmarks/*/*.md")
    for path in TOP.glob(pattern)
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PORT_SHOWN = "8765"
"""The port of the stand-in for vendors in the documentation; tests take a free one."""


def text_of(page: str) -> str:
    return (TOP / page).read_text("utf-8")


def blocks_of(page: str, language: str) -> list[str]:
    return [content for result, content in BLOCK.findall(text_of(page)) if result == language]


def pages_with(language: str) -> list[str]:
    return [page for page in PAGES if blocks_of(page, language)]


@pytest.fixture
def clone(tmp_path: Path, program_folder: Path) -> Path:
    """A copy of the repository, in which everything is installed."""
    clone = tmp_path / "clone"
    ignored = shutil.ignore_patterns(".*", "out", "__pycache__", "build", "dist", "*.egg-info")
    shutil.copytree(TOP, clone, ignore=ignored)
    bin_folder = clone / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    for name in ("eval-assets", "celery"):
        (bin_folder / name).symlink_to(program_folder / name)
    (bin_folder / "python").touch()
    activate = Path(sys.prefix, "bin", "activate").read_text("utf-8")
    (bin_folder / "activate").write_text(activate.replace(sys.prefix, str(clone / ".venv")))
    for stamp in ("installed", "installed-dev"):
        (clone / ".venv" / stamp).touch()
    return clone


def run_as_written(
    script: str,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    codes: Collection[int] = (0,),
) -> str:
    """Run a script and return what it prints; end what it leaves running."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
    programs = f"{folder / '.venv' / 'bin'}:{Path(sys.executable).parent}"
    variables = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder.parent)}
    output = folder.parent / "printed"
    with output.open("w", encoding="utf-8") as printed:
        shell = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", script.replace(PORT_SHOWN, port)],
            cwd=folder,
            env=variables | dict(environment or {}),
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = shell.wait(timeout=500)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGTERM)
    assert code in codes, output.read_text("utf-8")
    return output.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("sh"))
def test_the_shell_blocks_of_a_page_run_one_after_the_other(page: str, clone: Path) -> None:
    run_as_written("\n".join(blocks_of(page, "sh")), clone)


@pytest.mark.slow
def test_the_steps_past_one_machine_print_the_figures_of_one_process(
    clone: Path, postgres: Postgres
) -> None:
    [script] = blocks_of("docs/scale-out.md", "bash")
    with socket.create_server(("127.0.0.1", 0)) as server:
        script = script.replace("6380", str(server.getsockname()[1]))
    server_of_ledger = {"PGHOST": "127.0.0.1", "PGPORT": str(postgres.port), "PGUSER": "eval"}

    printed = run_as_written(script, clone, server_of_ledger)

    in_one_process, _, after_workers = re.findall(
        r"^Read  .*?(?=^Do next )", printed, re.MULTILINE | re.DOTALL
    )
    assert "haiku" in in_one_process
    assert after_workers == in_one_process


_VERDICTS = {0, 3, 4}


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("console"))
def test_a_command_prints_what_the_page_shows(page: str, clone: Path) -> None:
    for block in blocks_of(page, "console"):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            printed = run_as_written(command, clone, codes=_VERDICTS)
            matches = OutputChecker().check_output(shown, printed, ELLIPSIS | NORMALIZE_WHITESPACE)
            assert matches, printed


@pytest.mark.parametrize("page", pages_with("python"))
def test_the_python_blocks_of_a_page_print_what_their_comments_say(
    page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "\n".join(blocks_of(page, "python"))
    shown = re.findall(r"^print\(.*\)  # (.*)$", script, re.MULTILINE)
    exec(script, {"__name__": "__main__"})  # noqa: S102 - as a reader would

    assert shown
    assert capsys.readouterr().out.splitlines() == shown


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_that_exist(page: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", text_of(page))

    assert [link for link in links if not ((TOP / page).parent / link).exists()] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page != "CHANGELOG.md"])
def test_every_command_that_is_mentioned_exists(page: str) -> None:
    mentioned = set(re.findall(r"eval-assets ([a-z][a-z-]+)", text_of(page)))

    assert mentioned <= set(program.list_commands(click.Context(program)))


def test_every_page_is_linked_from_an_index() -> None:
    indexes = "README.md", "docs/README.md", "docs/python.md", "benchmarks/README.md"
    linked = {
        ((TOP / index).parent / path).resolve()
        for index in indexes
        for path in re.findall(r"\]\((?!https?:)([^)#]+)", text_of(index))
    }

    assert {(TOP / page).resolve() for page in PAGES} - {TOP / "README.md"} <= linked


def test_the_graph_in_the_documentation_is_that_of_the_assets() -> None:
    graph = project_definitions(Path("data/sample")).resolve_asset_graph()
    parents = {
        key.to_user_string(): {parent.to_user_string() for parent in graph.get(key).parent_keys}
        for key in graph.materializable_asset_keys
    }
    [drawn] = blocks_of("docs/README.md", "mermaid")
    chains = [
        re.split(r" [-=]{2}>(?:\|[^|]*\|)? ", line.strip()) for line in drawn.splitlines()[1:]
    ]
    edges = {edge for chain in chains for edge in pairwise(chain)}

    assert {name for edge in edges for name in edge} == set(parents)
    assert [edge for edge in edges if edge[0] not in parents[edge[1]]] == []


def test_every_table_is_described(tmp_path: Path) -> None:
    with connect(tmp_path / "eval.duckdb") as connection:
        tables = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()

    described = re.findall(r"^\| `(\w+)`", text_of("docs/tables.md"), re.MULTILINE)
    assert sorted(described) == sorted(name for (name,) in tables)


def test_every_path_that_contributors_are_sent_to_exists() -> None:
    named = re.findall(r"`([\w/]+/[\w./*]*)`", text_of("CONTRIBUTING.md"))

    assert len(named) > 20
    assert [path for path in named if not any(TOP.glob(path.rstrip("/")))] == []


def test_every_folder_of_the_package_is_in_the_map_of_contributors() -> None:
    folders = {f"eval_assets/{p.parent.name}/" for p in TOP.glob("eval_assets/*/__init__.py")}
    named = set(re.findall(r"^\| `(\w+/\w+/)`", text_of("CONTRIBUTING.md"), re.MULTILINE))

    assert folders - named == {"eval_assets/examples/"}
