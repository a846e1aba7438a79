"""Names in the project: nouns for values, and one class of a name."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import eval_assets

PACKAGE = Path(eval_assets.__file__).parent
ROOT = PACKAGE.parent
NO_NAMES = """
    again also asked because both counted each elsewhere every everything found given gone here
    how is_asked is_it is_me is_mine is_wanted kept left left_out looked made mine moved nothing
    once others otherwise own perhaps reaches said says sent stored taken theirs then there told
    until used wanted what when where which who whose why
"""


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    """All modules of the project."""
    return {
        path: ast.parse(path.read_text("utf-8"))
        for folder in (PACKAGE, ROOT / "tests", ROOT / "benchmarks", ROOT / "docs" / "_generate")
        for path in sorted(folder.rglob("*.py"))
    }


def assigned(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each assigned name, attribute and parameter, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def test_values_are_named_by_nouns(trees: dict[Path, ast.Module]) -> None:
    no_names = frozenset(NO_NAMES.split())
    bad = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, tree in trees.items()
        for name, line in assigned(tree)
        if name in no_names
    ]

    assert bad == []


def test_signed_numbers_are_written_without_a_negative_zero(trees: dict[Path, ast.Module]) -> None:
    forms = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, tree in trees.items()
        if path.is_relative_to(PACKAGE)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and re.fullmatch(r"\+\.[0-9]f", str(node.value))
    ]

    assert forms == []


def test_no_two_classes_share_a_name(trees: dict[Path, ast.Module]) -> None:
    names = Counter(
        node.name
        for path, tree in trees.items()
        if path.is_relative_to(PACKAGE)
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    )

    assert len(names) > 100
    assert [name for name, n in names.items() if n > 1] == []
