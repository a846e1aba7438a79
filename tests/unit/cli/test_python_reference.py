"""docs/python.md says what the statistics' docstrings say, and names everything exported."""

import doctest
import re
from pathlib import Path

from eval_assets import stats
from eval_assets.cli.python_reference import python_reference, words

TOP = Path(__file__).parents[3]


def test_the_page_is_what_the_docstrings_say() -> None:
    """If not: python -m eval_assets.cli.python_reference."""
    assert (TOP / "docs" / "python.md").read_text("utf-8") == python_reference()


def test_the_example_prints_what_the_page_shows() -> None:
    [example] = re.findall(r"```pycon\n(.*?)```", python_reference(), re.DOTALL)
    parsed = doctest.DocTestParser().get_doctest(example, {}, "docs/python.md", None, 0)
    assert len(parsed.examples) == 5
    assert doctest.DocTestRunner().run(parsed).failed == 0


def test_everything_exported_is_on_the_page() -> None:
    page = python_reference()
    in_the_text = {"Scale", "Ratings", "Column"}
    for name in set(stats.__all__) - in_the_text - set(words()):
        assert f"### `{name}" in page, name
    for name, allowed in words().items():
        assert f"`{name}`: `{allowed[0]!r}`" in page
