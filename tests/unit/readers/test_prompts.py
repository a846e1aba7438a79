"""Prompt files."""

from eval_assets.conversation import Conversation, Turn
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.responses import read_prompts
from tests.unit.readers.conftest import Reported, Write


def test_turns_of_one_conversation_come_in_their_order(write: Write) -> None:
    folder = write(
        {
            "prompts.tsv": (
                "indicator_id\tconvo_id\tturn_index\trole\tprompt_text\tdifficulty\n"
                "L4\tc1\t2\tuser\tAnd then?\ttough\n"
                "L4\tc2\t1\t\tHello\t\n"
                "L4\tc1\t1\tuser\tWhat first?\teasy\n"
            )
        }
    )
    first = Turn(1, "What first?", {"role": "user", "difficulty": "easy"})
    second = Turn(2, "And then?", {"role": "user", "difficulty": "tough"})
    assert read_prompts(read_evaluation(folder)) == [
        Conversation("L4", "c1", (first, second)),
        Conversation("L4", "c2", (Turn(1, "Hello", {}),)),
    ]


def test_a_prompt_without_a_conversation_is_one_by_itself(write: Write) -> None:
    folder = write({"prompts.csv": "prompt_text\nOne?\nTwo?\n"})
    conversations = read_prompts(read_evaluation(folder))
    assert [(item.convo_id, item.turns[0].text) for item in conversations] == [
        ("2", "One?"),
        ("3", "Two?"),
    ]


def test_everything_wrong_with_a_prompt_file_is_reported_at_once(
    write: Write, reported: Reported
) -> None:
    folder = write(
        {
            "prompts/a.csv": (
                "convo_id,turn_index,role,prompt_text\n"
                "c1,one,,Hi\n"
                "c1,1,, \n"
                "c1,2,assistant,Hello\n"
                "c1,3,,Hi\n"
                "c1,3.0,,Hi\n"
            ),
            "prompts/b.csv": "text\nHi\n",
        }
    )
    assert reported(lambda: read_prompts(read_evaluation(folder))) == [
        'prompts/a.csv:2:turn_index: "one" is not a whole number. Count turns 1, 2, 3.',
        "prompts/a.csv:3:prompt_text: a prompt without text. Fill it in.",
        (
            'prompts/a.csv:4:role: "assistant" is not a role of prompts, which are what the user '
            "says. "
            "Remove the row: what the model says is generated."
        ),
        'prompts/a.csv:6:turn_index: turn 3 of conversation "c1" is repeated. Keep one of them.',
        "prompts/b.csv:1: there is no column prompt_text. Add it for every row.",
    ]


def test_problems_of_prompts_name_headers_of_the_file(write: Write, reported: Reported) -> None:
    rows = "Convo ID,Turn Index,Role,Prompt Text\nc1,one,,Hi\nc1,1,, \nc1,2,assistant,Hello\n"
    folder = write({"prompts.csv": rows})

    problems = reported(lambda: read_prompts(read_evaluation(folder)))

    headers = [problem.split(":")[2] for problem in problems]
    assert headers == ["Turn Index", "Prompt Text", "Role"]
