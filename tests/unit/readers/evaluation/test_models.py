"""Judges, generators, prices and capabilities in evaluation.yaml."""

from pathlib import Path

import pytest

from eval_assets.config.judges import Generator, Judge, Staged
from eval_assets.config.models import Price
from eval_assets.readers.evaluation.read import read_evaluation
from tests.unit.readers.conftest import HEAD, Reported, Write

PAIR = "judges: [{id: a, provider: openai, model: x}, {id: b, provider: anthropic, model: y}]\n"


def test_all_that_a_live_judge_can_say_is_read(write: Write) -> None:
    folder = write(
        {
            "evaluation.yaml": HEAD
            + """\
judges:
  - id: gpt
    provider: openai
    model: gpt-4o
    settings: {temperature: 0.2, max_tokens: 200, effort: low, flag: true}
    requests_per_minute: 500
    input_tokens_per_minute: 30000.5
    max_in_flight: 8
    timeout_seconds: 20
    batch: true
    replicates: 3
    aggregate: median
  - {id: haiku, provider: anthropic, model: claude-haiku-5-5}
judge_prompt: mine.txt
staged: {kappa: 0.9, window: 50}
prices: {gpt-4o: {input: 2.5, output: 10, cached_input: 1.25}}
capabilities: {gpt-4o: {temperature: false, max_tokens_name: max_tokens}}
""",
            "mine.txt": "{% block user %}{{ response }}{% endblock %}",
        }
    )
    evaluation = read_evaluation(folder)
    gpt, haiku = evaluation.judges
    assert gpt == Judge(
        "gpt",
        "openai",
        "gpt-4o",
        settings={"temperature": 0.2, "max_tokens": 200, "effort": "low", "flag": True},
        requests_per_minute=500,
        input_tokens_per_minute=30000.5,
        max_in_flight=8,
        timeout_seconds=20,
        batch=True,
        replicates=3,
        aggregate="median",
    )
    assert haiku == Judge("haiku", "anthropic", "claude-haiku-5-5")
    assert evaluation.judge_prompt == folder / "mine.txt"
    assert evaluation.staged == Staged(kappa=0.9, window=50)
    assert evaluation.prices == {"gpt-4o": Price(2.5, 10, cached_input_usd=1.25)}
    assert evaluation.capabilities == {
        "gpt-4o": {"temperature": False, "max_tokens_name": "max_tokens"}
    }


def test_generators_need_prompts_and_no_responses(write: Write, reported: Reported) -> None:
    declared = """\
generators:
  - {id: gpt, provider: openai, model: gpt-4o, seeds: [1, 2], system: Be brief.}
"""
    files: dict[str, str | bytes] = {"evaluation.yaml": HEAD + declared}
    folder = write(files)
    (folder / "responses.csv").unlink()
    assert reported(lambda: read_evaluation(folder)) == [
        (
            "evaluation.yaml:4:generators: there are no prompts for the generators. "
            "Add prompts.tsv, or name the files under prompts."
        )
    ]
    (folder / "prompts.tsv").write_text("prompt_text\nHow are you?\n")
    evaluation = read_evaluation(folder)
    assert evaluation.generators == (
        Generator("gpt", "openai", "gpt-4o", seeds=(1, 2), system="Be brief."),
    )
    assert evaluation.prompts == (folder / "prompts.tsv",)


def test_a_prompt_that_ships_goes_by_its_name(write: Write) -> None:
    folder = write({"evaluation.yaml": HEAD + "judge_prompt: relevance\n"})
    assert read_evaluation(folder).judge_prompt == Path("relevance")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (
            "judges: [{id: a, provider: recorded, scores: responses.csv, replicates: 2}]",
            "judges[0].replicates: a recorded judge takes no such key. Remove it",
        ),
        (
            "judges: [{id: a, provider: openai, model: x, replicates: 0}]",
            "judges[0].replicates: 0 is too low. Use 1 or more",
        ),
        (
            "judges: [{id: a, provider: openai, model: x, replicates: 1.5}]",
            "judges[0].replicates: 1.5 is not a whole number. Write a whole number such as 1",
        ),
        (
            "judges: [{id: a, provider: openai, model: x, requests_per_minute: 0}]",
            "judges[0].requests_per_minute: 0 is too low. Use a number above 0",
        ),
        (
            "judges: [{id: a, provider: openai, model: x, batch: soon}]",
            'judges[0].batch: "soon" is neither true nor false. Write true or false',
        ),
        (
            "judges: [{id: a, provider: openai, model: x, settings: {stop: [a]}}]",
            ("judges[0].settings.stop: this is not a setting. Write text, a number, true or false"),
        ),
        (
            "judges: [{id: a, provider: openai, model: x, settings: {max_tokens: 0}}]",
            (
                "judges[0].settings.max_tokens: 0 is not a number of tokens. "
                "Use a whole number above 0"
            ),
        ),
        (
            "judge_prompt: none.txt",
            "judge_prompt: there is no file none.txt. Check the name, or add the file",
        ),
        (
            "staged: {kappa: 0.9}",
            "staged: staging takes two judges. Declare a second judge, or remove it",
        ),
        (
            f"judging: {{shards: 2}}\nstaged: {{}}\n{PAIR}",
            (
                "judging.shards: staged judging goes through the units one after the other. "
                "Remove shards, or staged"
            ),
        ),
        (
            f"staged: {{kappa: 0.6}}\n{PAIR}",
            "staged.revert_below: 0.7 is above the kappa of 0.6. Use a lower number",
        ),
        (
            f"staged: {{spot_check: 5}}\n{PAIR}",
            "staged.spot_check: 5 is too high. Use 1 or less",
        ),
        ("prices: {x: {input: 1}}", "prices.x.output: the key is missing. Add it"),
        ("prices: {x: {input: -1, output: 1}}", "prices.x.input: -1 is too low. Use 0 or more"),
        (
            "capabilities: {x: {telepathy: true}}",
            "capabilities.x.telepathy: there is no such key. ",
        ),
        (
            "generators: [{id: a, provider: recorded, model: x}]\nprompts: responses.csv",
            'generators[0].provider: "recorded" is not one of the choices. ',
        ),
        (
            (
                "prompts: responses.csv\n"
                "generators: [{id: a, provider: openai, model: x, seeds: [1, 1]}]"
            ),
            "generators[0].seeds: a seed is repeated. Name each seed once",
        ),
    ],
)
def test_what_is_wrong_with_a_declared_model_is_reported(
    write: Write, reported: Reported, more: str, problem: str
) -> None:
    folder = write({"evaluation.yaml": f"{HEAD}{more}\n"})
    (message,) = reported(lambda: read_evaluation(folder))
    line = 5 if more.startswith("prompts") else 4
    assert message.startswith(f"evaluation.yaml:{line}:{problem}")
