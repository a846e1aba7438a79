"""docs/python.md says what the statistics' docstrings say, and names everything exported."""

import doctest
import inspect
import re
from pathlib import Path

import pytest

from docs._generate.statistics import statistics_page, words
from eval_assets import stats

METHODS = Path(__file__).parents[3] / "docs" / "methods.md"
FUNCTIONS = [name for name in stats.__all__ if inspect.isfunction(getattr(stats, name))]


def test_the_examples_print_what_the_page_shows() -> None:
    examples = re.findall(r"```pycon\n(.*?)```", statistics_page(), re.DOTALL)
    parser = doctest.DocTestParser()
    parsed = [parser.get_doctest(text, {}, "docs/python.md", None, 0) for text in examples]
    assert [len(of.examples) for of in parsed] == [9, 5]
    assert [doctest.DocTestRunner().run(of).failed for of in parsed] == [0, 0]


def test_everything_exported_is_on_the_page() -> None:
    page = statistics_page()
    in_the_text = {"Scale", "Ratings", "Column"}
    for name in set(stats.__all__) - in_the_text - set(words()):
        assert f"- `{name}" in page, name
    for name, allowed in words().items():
        assert f"`{name}`: `{allowed[0]!r}`" in page


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_states_arguments_result_refusals_source_and_example(name: str) -> None:
    function = getattr(stats, name)
    parts = re.split(r"^(\w+):$", inspect.getdoc(function) or "", flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))

    assert list(sections) == ["Args", "Returns", "Raises", "References", "Examples"]
    for parameter in inspect.signature(function).parameters:
        assert re.search(rf"^    {parameter}: ", sections["Args"], re.MULTILINE), parameter


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_source_has_a_year_or_is_a_section_of_the_methods(name: str) -> None:
    source = " ".join((inspect.getdoc(getattr(stats, name)) or "").split("References:")[1].split())
    source = source.split(" Examples:")[0]
    headings = re.findall(r"^#+ (.*)$", METHODS.read_text("utf-8"), re.MULTILINE)

    cited = re.findall(r"docs/methods\.md, section ([^,;.]+)", source)
    assert set(cited) <= set(headings)
    assert cited or re.search(r"\((1[89]|20)\d\d\)", source), source
