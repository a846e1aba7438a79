"""docs/python.md says what the statistics' docstrings say, and names everything exported."""

import doctest
import re

from documentation.statistics import statistics_pages, words
from eval_assets import stats


def test_the_example_prints_what_the_page_shows() -> None:
    [example] = re.findall(r"```pycon\n(.*?)```", statistics_pages()["python.md"], re.DOTALL)
    parsed = doctest.DocTestParser().get_doctest(example, {}, "docs/python.md", None, 0)
    assert len(parsed.examples) == 5
    assert doctest.DocTestRunner().run(parsed).failed == 0


def test_everything_exported_is_on_the_page() -> None:
    pages = statistics_pages()
    page = "\n".join(pages.values())
    in_the_text = {"Scale", "Ratings", "Column"}
    for name in set(stats.__all__) - in_the_text - set(words()):
        assert f"## `{name}" in page, name
        assert f"- `{name}`" in pages["python.md"], name
    for name, allowed in words().items():
        assert f"`{name}`: `{allowed[0]!r}`" in page
