"""Code versions change with the code that an asset depends on, and with no other."""

import shutil
from pathlib import Path

import pytest

from eval_assets.assets.evaluation_definitions import PACKAGE, code_version_of


@pytest.mark.parametrize(
    ("file", "group", "is_outdated"),
    [
        ("stats/agreement.py", "agreement", True),
        ("stats/agreement.py", "reports", False),
        ("judges/prompts/templates/rating.jinja", "judge_scores", True),
        ("judges/prompts/templates/rating.jinja", "agreement", False),
        ("store/schema.sql", "inputs", True),
        ("cli/main.py", "judge_tuning", False),
    ],
)
def test_edit_outdates_the_assets_that_depend_on_the_file(
    tmp_path: Path, file: str, group: str, *, is_outdated: bool
) -> None:
    package = shutil.copytree(PACKAGE, tmp_path / "eval_assets")
    before = code_version_of(group, package=package)
    assert before == code_version_of(group)
    code_version_of.cache_clear()

    with (package / file).open("a", encoding="utf-8") as edited:
        edited.write("\n")

    assert (code_version_of(group, package=package) != before) == is_outdated
