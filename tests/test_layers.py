"""The layers of the package, read from its imports: who imports whom, and which libraries."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import eval_assets
from eval_assets.config.judges import VENDORS

PACKAGE = Path(eval_assets.__file__).parent
BELOW = {
    "": set[str](),
    "config": set[str](),
    "stats": set[str](),
    "agreement": {"stats"},
    "tuning": {"stats"},
    "labelling": {"stats"},
    "readers": {"agreement", "tuning", "labelling"},
    "judges": {"agreement", "tuning"},
    "store": {"stats", "agreement", "tuning"},
    "shown": {"stats", "agreement", "tuning"},
    "server": {"labelling"},
    "examples": set[str](),
}
"""Layers that each layer may import besides `GROUND`; those in `JOINING` may import all."""

GROUND = {"", "config"}
"""Root modules and the schema of evaluation.yaml, which every layer may import."""

JOINING = {"__init__", "assets", "cli", "definitions", "ratings_check"}

LIBRARIES = {
    "": {"numpy"},
    "__init__": set[str](),
    "config": {"annotated_types", "croniter"},
    "stats": {"numpy", "pandas"},  # pandas only to return a data frame when asked for one
    "agreement": {"numpy", "pandas"},
    "tuning": {"numpy", "pydantic"},
    "labelling": {"markdown_it", "nh3", "numpy", "pandas", "pydantic"},
    "readers": {
        "backports",
        "duckdb",
        "numpy",
        "pandas",
        "pydantic",
        "pydantic_core",
        "python_calamine",
        "yaml",
    },
    "store": {"duckdb", "numpy", "pandas", "sqlalchemy"},
    "judges": {
        *VENDORS,
        "genai_prices",
        "httpx2",
        "jinja2",
        "numpy",
        "pandas",
        "yaml",
    },  # SDKs are named as their vendors
    "shown": set[str](),
    "server": {"jinja2", "markupsafe", "pydantic", "starlette"},
    "examples": set[str](),
    "assets": {
        "apprise",
        "dagster",
        "celery",
        "dagster_celery",
        "duckdb",
        "kombu",
        "numpy",
        "pandas",
        "pydantic",
    },
    "cli": {
        "annotated_types",
        "croniter",
        "click",
        "dagster",
        "duckdb",
        "fastmcp",
        "pydantic",
        "filelock",
        "numpy",
        "pandas",
        "rich",
        "sqlalchemy",  # of which Dagster's records are, and their errors
        "uvicorn",
        "yaml",
    },
    "definitions": {"dagster"},
    "ratings_check": {"numpy", "pandas"},
}
"""Libraries of each layer; the empty name stands for the nouns, which every layer may import."""

PARALLEL = {
    "agreement": "measured in agreement/, materialized in assets/, coefficients in stats/",
    "certificates": "materialized, and listed by the command",
    "drift": "measured in agreement/, materialized",
    "figures": "records of figures, and how they are stored",
    "gates": "the rule, its verdicts in the store, its asset checks, its command",
    "inputs": "materialized and stored",
    "ledger": "the interface, its store, and the command",
    "judges": "declared, measured, and shown in the report",
    "judging": "the calls of judges, and their assets",
    "labelling": "declared, its assets, and its tables",
    "models": "declared, the catalogue, and the command",
    "ratings": "stored, and held as arrays",
    "read": "evaluation.yaml and label files, from file to record",
    "results": "served, and printed by the commands",
    "rubric": "declared, and drafted by the command",
    "scores": "read and stored",
    "terminal": "lines of a screen, and of a run",
    "tuning": "declared, and its assets",
}
"""Module names that several packages use, and what each of them has to do with the subject."""

SQL = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|DELETE\s+FROM|CREATE\s+TABLE|ALTER\s+TABLE"
    r"|UPDATE\s.+\sSET|GROUP\s+BY|ORDER\s+BY)\b",
    re.DOTALL,
)


@cache
def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    """Return the module's dotted name; a package is named like its folder."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def names() -> frozenset[str]:
    return frozenset(map(name_of, modules()))


def layer_of(path: Path) -> str:
    """Return the package that a module lies in; empty for a noun."""
    inside = path.relative_to(PACKAGE)
    if len(inside.parts) > 1:
        return inside.parts[0]
    return "cli" if inside.stem == "__main__" else inside.stem if inside.stem in JOINING else ""


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of a module."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imported(path: Path) -> tuple[str, ...]:
    """Return every module that `path` imports, except under TYPE_CHECKING."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    unseen = {
        inner
        for node in nodes(path)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in nodes(path):
        if node in unseen:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            module = node.module or ""
            inner = [f"{module}.{alias.name}" for alias in node.names]
            result = [name for name in inner if name in names()]
            yield from result
            if len(result) < len(inner):
                yield module


def layer_named(module: str) -> str:
    """Return the layer that an `eval_assets.…` module belongs to; empty for a noun."""
    name = module.split(".")[1] if "." in module else ""
    is_layer = name in JOINING or (name and (PACKAGE / name).is_dir())
    return name if is_layer else ""


def texts(path: Path) -> Iterator[str]:
    """Yield every string in a module that is not a docstring."""
    statements = {n.value for n in nodes(path) if isinstance(n, ast.Expr)}
    for node in nodes(path):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in statements
        ):
            yield node.value


def in_fresh_python(code: str) -> str:
    """Return what `code` prints in a new Python process."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    ).stdout.strip()


@pytest.mark.parametrize("layer", sorted(LIBRARIES))
def test_a_layer_imports_only_lower_layers_and_its_own_libraries(layer: str) -> None:
    for path in modules():
        if layer_of(path) == layer:
            ours = {m for m in imported(path) if m.split(".")[0] == "eval_assets"}
            libraries = {m.split(".")[0] for m in imported(path)} - {"eval_assets"}
            if layer not in JOINING:
                assert {layer_named(m) for m in ours} <= {layer, *GROUND, *BELOW[layer]}, path
            assert libraries - sys.stdlib_module_names <= LIBRARIES[layer], path


def test_the_layers_named_here_are_those_that_exist() -> None:
    """Keeps the other tests from passing because they look at nothing."""
    assert {layer_of(path) for path in modules()} == set(LIBRARIES) == {*BELOW, *JOINING}
    store = set(imported(PACKAGE / "store" / "gates.py"))
    assert {"duckdb", "eval_assets.store.data_versions"} <= store


def test_private_modules_are_imported_within_their_package_only() -> None:
    for path in modules():
        for module in imported(path):
            package, private, _ = module.partition("._")
            if private and module.startswith("eval_assets."):
                assert name_of(path).startswith(package), f"{path} imports {module}"


def test_no_module_imports_itself_through_others() -> None:
    TopologicalSorter({name_of(path): set(imported(path)) for path in modules()}).prepare()


def test_modules_share_a_name_only_if_they_share_a_subject() -> None:
    packages = defaultdict(set)
    for path in modules():
        if path.name != "__init__.py":
            packages[name_of(path).rsplit(".", 1)[1]].add(path.parent)

    assert {name for name, folders in packages.items() if len(folders) > 1} == set(PARALLEL)


def test_only_the_store_contains_sql() -> None:
    result = {layer_of(path) for path in modules() if any(map(SQL.search, texts(path)))}

    assert result == {"store"}


def test_database_file_is_opened_in_one_place() -> None:
    opening = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        for node in nodes(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "duckdb.connect"
    }

    assert opening - {"readers/formats/contents.py"} == {"store/connection.py"}


def test_the_command_line_imports_dagster_only_in_the_module_that_runs_assets() -> None:
    touching = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        if "dagster" in {module.split(".")[0] for module in imported(path)}
        and layer_of(path) not in {"assets", "definitions"}
    }

    assert touching <= {"cli/materialize.py"}


def test_nothing_catches_every_exception() -> None:
    for path in modules():
        for node in nodes(path):
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None
                assert "Exception" not in ast.unparse(node.type).split("."), path.name


def test_the_statistics_run_with_numpy_alone() -> None:
    """Neither on import nor when figures and intervals are computed is another library needed."""
    result = in_fresh_python(
        """
import sys
class NothingElse:
    def find_spec(self, name, path=None, target=None):
        library = name.split(".")[0]
        if library not in {"eval_assets", "numpy"} | sys.stdlib_module_names:
            raise ImportError(f"{library} is needed")
sys.meta_path.insert(0, NothingElse())
import numpy as np
from eval_assets import stats
from eval_assets.scale import LIKERT5
ratings = np.random.default_rng(1).integers(1, 6, (40, 3))
kept = {"confidence": 0.95, "groups": np.arange(40) // 2}
profiles = [
    stats.agreement_profile(ratings, scale=LIKERT5, level="ordinal", **kept),
    stats.overall_profile([(ratings, LIKERT5)], **kept),
    stats.judge_human_profile(
        ratings[:, 1:], ratings[:, 0], scale=LIKERT5, level="ordinal", **kept
    ),
]
intervals = [
    stats.bootstrap_interval(
        ratings, np.mean, n_resamples=50, rng=np.random.default_rng(1), **kept
    ),
    stats.coefficient_interval(ratings, stats.Alpha("ordinal"), **kept),
]
print(len(profiles), len(intervals), stats.wilcoxon_signed_rank(*ratings.T[:2]) <= 1)
"""
    )

    assert result == "3 2 True"


@pytest.mark.slow
def test_dagster_loads_the_assets_without_the_vendors_sdks() -> None:
    """Both take seconds to import, and every step of every run would pay for them."""
    assert in_fresh_python(
        "import os, sys; os.environ['EVAL_DATA'] = 'data/sample'; import eval_assets.definitions; "
        "print({'openai', 'anthropic'} & set(sys.modules))"
    ) == ("set()")
