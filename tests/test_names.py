"""Names in the package: one class of a name, and no pronouns or question words for values."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import eval_assets

PACKAGE = Path(eval_assets.__file__).parent
NO_NAMES = {"each", "found", "given", "what"}
TREES = {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def assigned(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each assigned name and parameter, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def test_values_are_named_by_nouns() -> None:
    bad = [
        f"{path.relative_to(PACKAGE)}:{line}: {name}"
        for path, tree in TREES.items()
        for name, line in assigned(tree)
        if name in NO_NAMES
    ]

    assert len(TREES) > 100
    assert bad == []


def test_no_two_classes_share_a_name() -> None:
    names = Counter(
        node.name for tree in TREES.values() for node in tree.body if isinstance(node, ast.ClassDef)
    )

    assert [name for name, n in names.items() if n > 1] == []
