"""The layers of the package, read from its imports: who knows whom, and whose a library is."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import eval_assets

PACKAGE = Path(eval_assets.__file__).parent
BELOW = {
    "": set[str](),
    "stats": set[str](),
    "agreement": {"stats"},
    "tuning": {"stats"},
    "readers": {"agreement", "tuning"},
    "judges": {"agreement"},
    "store": {"stats", "agreement", "tuning"},
    "report": {"agreement"},
    "fake_provider": set[str](),
    "starter": set[str](),
}
"""Layers that each layer may import beside the nouns; `JOINING` may import them all."""

JOINING = {"assets", "cli", "definitions"}

LIBRARIES = {
    "": {"numpy"},
    "stats": {"numpy", "scipy"},
    "agreement": {"numpy", "pandas"},
    "tuning": {"numpy"},
    "readers": {"duckdb", "numpy", "pandas", "pydantic", "pydantic_core", "yaml"},
    "store": {"duckdb", "numpy", "pandas"},
    "judges": {"anthropic", "httpx2", "jinja2", "numpy", "openai", "pandas", "yaml"},
    "report": {"jinja2", "markupsafe", "numpy", "pandas"},
    "fake_provider": {"httptools"},
    "starter": set[str](),
    "assets": {"dagster", "duckdb", "numpy", "pandas"},
    "cli": {"click", "dagster", "duckdb", "pandas"},
    "definitions": {"dagster"},
}
"""Libraries of each layer; the empty name stands for the nouns, which every layer may know."""

SQL = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|DELETE\s+FROM|CREATE\s+TABLE|ALTER\s+TABLE"
    r"|UPDATE\s.+\sSET|GROUP\s+BY|ORDER\s+BY)\b",
    re.DOTALL,
)


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def layer_of(path: Path) -> str:
    """The package a module lies in; nouns, which lie in none, have the empty name."""
    inside = path.relative_to(PACKAGE)
    if len(inside.parts) > 1:
        return inside.parts[0]
    return "definitions" if inside.stem == "definitions" else ""


def imported(path: Path) -> Iterator[str]:
    """Every module that is imported in it, wherever: not where only type checkers look."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unseen = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in unseen:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            module = node.module or ""
            yield module
            if module == "eval_assets":
                yield from (f"eval_assets.{alias.name}" for alias in node.names)


def layer_named(module: str) -> str:
    """The layer that an `eval_assets.…` module belongs to."""
    name = module.split(".")[1] if "." in module else ""
    is_layer = name == "definitions" or (name and (PACKAGE / name).is_dir())
    return name if is_layer else ""


def texts(path: Path) -> Iterator[str]:
    """Every piece of text in a module that is no docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = {n.value for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in statements
        ):
            yield node.value


def in_fresh_python(code: str) -> str:
    """What `code` prints in a Python of its own, where nothing was imported before."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    ).stdout.strip()


@pytest.mark.parametrize("layer", sorted(LIBRARIES))
def test_a_layer_knows_itself_and_the_nouns_and_only_its_libraries(layer: str) -> None:
    for path in modules():
        if layer_of(path) == layer:
            ours = {m for m in imported(path) if m.split(".")[0] == "eval_assets"}
            theirs = {m.split(".")[0] for m in imported(path)} - {"eval_assets"}
            if layer not in JOINING:
                assert {layer_named(m) for m in ours} <= {layer, "", *BELOW[layer]}, path
            assert theirs - sys.stdlib_module_names <= LIBRARIES[layer], path


def test_every_layer_is_there_and_imports_are_read() -> None:
    """Keeps the tests above from passing because they look at nothing."""
    assert {layer_of(path) for path in modules()} == set(LIBRARIES) == {*BELOW, *JOINING}
    store = set(imported(PACKAGE / "store" / "gates.py"))
    assert {"duckdb", "eval_assets.gates", "eval_assets.store.ratings"} <= store


def test_a_layer_is_imported_through_its_public_face() -> None:
    for path in modules():
        for module in imported(path):
            layer = layer_named(module)
            if layer and layer != layer_of(path) and layer not in JOINING:
                assert module == f"eval_assets.{layer}", f"{path} imports {module}"


def test_only_the_store_speaks_sql() -> None:
    spoken = {layer_of(path) for path in modules() if any(map(SQL.search, texts(path)))}

    assert spoken == {"store"}


def test_the_database_is_opened_in_one_place() -> None:
    opening = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "duckdb.connect"
    }

    assert opening - {"readers/tables.py"} == {"store/connection.py"}


def test_the_command_line_touches_dagster_in_the_one_module_that_runs_assets() -> None:
    touching = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        if "dagster" in {module.split(".")[0] for module in imported(path)}
        and layer_of(path) not in {"assets", "definitions"}
    }

    assert touching <= {"cli/materialize.py"}


def test_nothing_catches_every_exception() -> None:
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None
                assert "Exception" not in ast.unparse(node.type).split("."), path.name


def test_the_statistics_need_neither_dagster_nor_duckdb_nor_pandas() -> None:
    heavy = "{'dagster', 'duckdb', 'pandas', 'openai', 'anthropic', 'pydantic'}"

    assert in_fresh_python(f"import sys, eval_assets.stats; print({heavy} & set(sys.modules))") == (
        "set()"
    )


def test_commands_start_without_dagster_and_without_the_vendors_sdks() -> None:
    heavy = "{'dagster', 'openai', 'anthropic'}"

    assert in_fresh_python(
        f"import sys, eval_assets.cli.main; print({heavy} & set(sys.modules))"
    ) == ("set()")


def test_dagster_loads_the_assets_without_the_vendors_sdks() -> None:
    """Both take seconds to import, and every step of every run would pay for them."""
    assert in_fresh_python(
        "import sys, eval_assets.definitions; print({'openai', 'anthropic'} & set(sys.modules))"
    ) == ("set()")
