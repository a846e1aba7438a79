"""`python -m benchmarks.mutants [module ...]`: change code at random, and count what tests notice.

Every module is changed in a copy of the project, one operator or number at a time, and the tests
that mirror it run. A change that they pass is printed, and results/mutants.md says how many were
noticed. Without modules those of `stats`, the gates and `tuning` are changed. `make mutants`
installs what is required.
"""

import argparse
import compileall
import difflib
import importlib
import itertools
import multiprocessing
import os
import py_compile
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

from benchmarks.__main__ import RESULTS
from benchmarks.table import written_between

PACKAGES = ("eval_assets/stats", "eval_assets/agreement/gates", "eval_assets/tuning")
COPIED = ("eval_assets", "tests", "benchmarks", "data", "pyproject.toml")
LEAST_KILLED = 0.95

_SPEED = re.compile(r".*\bBLOCK_[A-Z]+\b")
_ANNOTATION = re.compile(r".*(?:\w: |-> )[\w\[\]., ]*\|")
_FORBIDS = re.compile(r".*\b(?:(?:frozen|strict)=True|eq=False)\b")
_OTHER_TRUTH = ("ReplaceTrueWithFalse", "ReplaceFalseWithTrue")
_SAME_OF_ENUMS = ("_Is_Eq", "_IsNot_NotEq", "_Eq_Is", "_NotEq_IsNot")
_SAME_OF_MASKS = ("_BitAnd_Mul", "_BitOr_Add")
_SIGNATURE = re.compile(r"\s*(?:async )?def .*|(?:.*, |\s*)\*,.*")

_CONFIG = """[cosmic-ray]
module-path = "{module}"
timeout = 300.0
excluded-modules = []
test-command = ""
[cosmic-ray.distributor]
name = "local"
"""

SECONDS = 300
"""Time for the tests of one mutant; a change that makes them take longer is noticed."""

_SHARED = ("numpy", "pandas", "pydantic", "pytest", "scipy.stats", "sklearn.metrics", "yaml")
"""Imported once, by the process that those of the tests are forked from."""


def nearest_tests(module: str) -> list[str]:
    """Return a module, for its examples, and the tests that mirror it.

    Of a private module, or without any, also those that import it or mirror a module that does.
    """
    path = Path(module)
    folder = Path("tests/unit", *path.parts[1:-1])
    while not folder.is_dir():
        folder = folder.parent
    tests = _mirrors(folder, path)
    if path.stem.startswith("_") or not tests:
        for file in sorted((*path.parent.glob("*.py"), *folder.glob("test_*.py"))):
            if re.search(rf"^from .*\b{path.stem}\b", file.read_text("utf-8"), re.MULTILINE):
                tests += [file] if file.parent == folder else _mirrors(folder, file)
    return [module, *map(str, dict.fromkeys(tests))]


def _mirrors(folder: Path, module: Path) -> list[Path]:
    return sorted(folder.glob(f"test_*{module.stem.strip('_')}*.py"))


def survivors(module: str, *, n_mutants: int, folder: Path) -> tuple[int, list[str]]:
    """Return how many mutants of a module ran, and the changes that no test noticed.

    Raises:
        subprocess.CalledProcessError: If cosmic-ray cannot list the changes.
        RuntimeError: If the tests fail without any change.
    """
    tests, file = nearest_tests(module), folder / module
    source = file.read_text("utf-8")
    if not _pass(tests, folder):
        raise RuntimeError(f"{module}: the tests fail without any change")
    mutants = _sampled(module, source, n_mutants=n_mutants, folder=folder)
    lived = []
    for mutant in mutants:
        file.write_text(mutant, "utf-8")
        if _pass(tests, folder):
            lines = difflib.unified_diff(source.splitlines(), mutant.splitlines(), lineterm="")
            lived.append("\n".join(lines))
    file.write_text(source, "utf-8")
    return len(mutants), lived


def _pass(tests: Sequence[str], folder: Path) -> bool:
    """Return whether the tests pass in a copy of the project."""
    process = multiprocessing.get_context("fork").Process(target=_run, args=(tests, folder))
    process.start()
    process.join(SECONDS)
    process.kill()
    return process.exitcode == 0


def _run(tests: Sequence[str], folder: Path) -> None:
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    sys.exit(pytest.main(["-x", "-q", "-n", "0", *tests]))


def _sampled(module: str, source: str, *, n_mutants: int, folder: Path) -> list[str]:
    """Return so many changed texts of a module, the same every time.

    Left out is what changes no result: `==` for `is` between members of an enum, and `*` and `+`
    for `&` and `|` between masks; the `*` of a signature, which cosmic-ray takes for a product; the
    `|` of a type; `frozen` and `eq=False` of a dataclass and `strict` of a zip, which only forbid
    what the program never does; and lines with a constant `BLOCK_...`, since how many numbers are
    treated at once only decides how long it takes.
    """
    config, session = folder / "mutants.toml", folder / "mutants.sqlite"
    config.write_text(_CONFIG.format(module=module))
    session.unlink(missing_ok=True)
    command = str(Path(sys.executable).with_name("cosmic-ray"))
    subprocess.run([command, "init", config, session], cwd=folder, check=True)  # noqa: S603 - our own environment
    with sqlite3.connect(session) as connection:
        specs = connection.execute(
            "SELECT operator_name, occurrence, start_pos_row FROM mutation_specs "
            "ORDER BY rowid * 7919 % 10007, rowid"
        ).fetchall()
    lines = source.splitlines()
    mutants = (
        mutate_code(source, get_operator(name)(), occurrence)
        for name, occurrence, row in specs
        if not _changes_nothing(name, lines[row - 1])
    )
    return list(itertools.islice(mutants, n_mutants))


def _changes_nothing(operator: str, line: str) -> bool:
    return bool(
        operator.endswith(_SAME_OF_ENUMS + _SAME_OF_MASKS)
        or _SPEED.match(line)
        or ("BinaryOperator_Mul" in operator and _SIGNATURE.match(line))
        or ("BinaryOperator_BitOr" in operator and _ANNOTATION.match(line))
        or (operator.endswith(_OTHER_TRUTH) and _FORBIDS.match(line))
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Mutate modules, print the survivors, and exit with 1 if too many of one module survive."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("module", nargs="*", help="files of eval_assets")
    parser.add_argument("--mutants", type=int, default=20, help="changes of each module")
    options = parser.parse_args(arguments)
    modules = options.module or [
        str(file)
        for package in PACKAGES
        for file in sorted(Path(package).glob("*.py"))
        if file.name != "__init__.py"
    ]
    shares = []
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        for source in map(Path, COPIED):
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, folder / source)
        # compiled once; by their hash, since a change can keep time and size of a file
        compileall.compile_dir(
            folder, quiet=1, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
        )
        for name in _SHARED:
            importlib.import_module(name)
        for module in modules:
            n, lived = survivors(module, n_mutants=options.mutants, folder=folder)
            killed = f"{n - len(lived)} of {n}"
            shares.append(1 - len(lived) / n)
            print(f"{module}: {killed} killed", *lived, sep="\n", flush=True)
            _write(module, killed)
    print(f"at least {min(shares):.0%} of each are killed; {LEAST_KILLED:.0%} are asked for")
    sys.exit(min(shares) < LEAST_KILLED)


def _write(module: str, killed: str) -> None:
    """Write the line of a module in results/mutants.md; lines of others stay."""
    page = RESULTS / "mutants.md"
    row = re.compile(r"^\| (\S+\.py) \| (\d+ of \d+) \|$", re.MULTILINE)
    lines = dict(row.findall(page.read_text("utf-8"))) | {module: killed}
    rows = [f"| {name} | {lines[name]} |" for name in sorted(lines)]
    text = "\n".join(("| module | killed |", "| --- | --- |", *rows))
    written_between(page, section="mutants", text=text)


if __name__ == "__main__":
    main()
