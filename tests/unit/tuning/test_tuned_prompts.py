from dataclasses import replace

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.tuning.tuned_prompts import (
    Example,
    PromptSection,
    Rule,
    is_copied,
    shown_columns,
    shown_in,
    with_sections,
)

TEMPLATE = """{#- a comment -#}
{% block system -%}
Rate {{ question.question }}.{% block inner %} Inner.{% endblock %}
{%- endblock %}
{% block user -%}{{ response }}{%- endblock %}"""
NO_SYSTEM = "{% block user %}{{ response }}{% endblock %}"

CLOSELY = PromptSection((Rule("Look closely.", ("n1",)),))
EXAMPLE = Example("r1", "What is 2 + 2?", "Four, {{ I think }}.", 4)


class Question:
    """A rubric question, as templates see it."""

    def __init__(self, id_: str) -> None:
        self.id = id_
        self.question = "clarity"


def rendered(template: str, question: str = "q", block: str = "system") -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)  # noqa: S701 - text
    result = environment.from_string(template)
    names = result.new_context({"question": Question(question), "response": "Yes."})
    return "".join(result.blocks[block](names))


def test_a_section_ends_the_system_block_when_its_question_is_asked() -> None:
    tuned = with_sections(TEMPLATE, {"q": CLOSELY})

    assert rendered(tuned) == f"Rate clarity. Inner.\n\n{CLOSELY}"
    assert rendered(tuned, "other") == rendered(TEMPLATE, "other")
    assert rendered(tuned, block="user") == "Yes."


def test_without_a_system_block_it_comes_before_what_is_rated() -> None:
    tuned = with_sections(NO_SYSTEM, {"q": CLOSELY})

    assert rendered(tuned, block="user") == f"\n\n{CLOSELY}\nYes."
    before = "{% block zone %}{% endblock %}"
    assert with_sections(before + NO_SYSTEM, {"q": CLOSELY}) == before + tuned


def test_an_empty_section_changes_nothing() -> None:
    assert with_sections(TEMPLATE, {"q": PromptSection()}) == TEMPLATE


def test_a_template_without_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="neither a block `system` nor a block `user`"):
        with_sections("Rate it.", {"q": CLOSELY})


def test_a_section_holds_rules_and_examples_between_marks() -> None:
    section = PromptSection((Rule("Short is fine.", ("n1",)),), (EXAMPLE,))
    text = rendered(with_sections(TEMPLATE, {"q": section}))

    assert "- Short is fine." in text
    assert "Four, {{ I think }}." in text
    assert "Rating: 4" in text
    assert text.count("<response-") == text.count("</response-") == 1


@given(st.text(), st.text())
def test_no_text_is_an_instruction_to_the_template(first: str, second: str) -> None:
    section = PromptSection((Rule(first, ("n",)), Rule(second, ("n",))))
    tuned = with_sections(TEMPLATE, {'q"{{': section})

    assert rendered(tuned, 'q"{{').endswith(f"\n\n{section}")


def test_an_example_begins_with_the_turns_before_it_if_there_are_any() -> None:
    assert str(EXAMPLE).startswith("<prompt-")
    assert str(replace(EXAMPLE, history="Asked: Hi.")).startswith("<history-")


def test_a_source_of_a_rule_and_an_example_is_named_once() -> None:
    assert PromptSection(rules=(Rule("One.", ("r1",)),), examples=(EXAMPLE,)).sources == ("r1",)


def test_the_guard_finds_six_words_in_a_row_whatever_their_case_and_punctuation() -> None:
    words = "Say that the cat sat on the mat, always."

    assert is_copied(words, ["... the Cat sat - on the MAT"], known=[])
    assert not is_copied(words, ["the cat sat on a mat"], known=[])
    assert not is_copied(words, ["the cat sat on the mat"], known=["The cat sat on the mat."])
    assert not is_copied("too short", ["too short"], known=[])


def test_a_response_that_a_tuned_prompt_shows_as_an_example_is_found() -> None:
    shown, other = "One two three four five six.", "One two three four five seven"
    section = PromptSection(examples=(Example("r1", "What?", shown, 3.0),))
    tuned = with_sections("{% block system %}Rate it.{% endblock %}", {"q": section})

    assert shown_in(tuned, [shown, other, "Too short", ""]) == [True, False, False, False]


def test_only_expressions_of_the_template_show_columns() -> None:
    example = Example("r1", "{{ shown.prompt }}", "{{ shown['reply'] }}", 3.0)
    template = "shown.text {# {{ shown.text }} #}{% block user %}{{ shown.hint }}{% endblock %}"
    tuned = with_sections(template, {"q": PromptSection(examples=(example,))})
    assert "shown.prompt" in tuned
    assert shown_columns(tuned) == ("hint",)
