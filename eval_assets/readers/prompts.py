"""Prompt files to conversations."""

import re
from collections import defaultdict

from eval_assets.config.evaluation import Evaluation
from eval_assets.conversation import Conversation, Turn
from eval_assets.errors import InputError, InputProblem, raise_all
from eval_assets.readers._cells import canonical_number
from eval_assets.readers._problems import quoted
from eval_assets.readers.formats.table import FileTable
from eval_assets.readers.formats.tables import read_table

_TURN = re.compile("[0-9]{1,9}")
_OWN = ("indicator_id", "convo_id", "turn_index", "prompt_text")
_USER = "user"

_Key = tuple[str | None, str]


def read_prompts(evaluation: Evaluation) -> list[Conversation]:
    """Return all conversations to hold with the models under test, in the order of the files.

    Rows of one `indicator_id` and `convo_id` are the turns of a conversation, in the order of their
    `turn_index`. A row without a `convo_id` is a conversation of its own, named by its line.
    Further columns, such as `difficulty`, are kept with each turn.

    Raises:
        ExceptionGroup: Of an InputError for each bad place in any of the files.
    """
    problems: list[InputProblem] = []
    turns: defaultdict[_Key, dict[int, Turn]] = defaultdict(dict)
    for path in evaluation.prompts:
        try:
            table = read_table(path, folder=evaluation.folder)
        except InputError as error:
            problems.append(error.problem)
            continue
        problems += table.bad_rows
        problems += _take(table, turns)
    raise_all(problems, source="the prompts")
    return [
        Conversation(indicator_id, convo_id, tuple(turn for _, turn in sorted(by_index.items())))
        for (indicator_id, convo_id), by_index in turns.items()
    ]


def _take(table: FileTable, turns: defaultdict[_Key, dict[int, Turn]]) -> list[InputProblem]:
    """Add the turns of one file; return the problems of its other rows."""
    if not table.has("prompt_text"):
        message = "there is no column prompt_text"
        return [InputProblem(table.file, 1, None, message, "Add it for every row")]
    problems = []
    own = {table.header_of(name) for name in _OWN}
    further = [header for header in table.columns if header not in own]
    attributes = {header: table.stripped(header) for header in further}
    columns = zip(
        table.lines,
        table.stripped("indicator_id"),
        table.stripped("convo_id"),
        map(canonical_number, table.text("turn_index")),
        table.text("prompt_text"),
        table.stripped("role"),
        strict=True,
    )
    for row, (line, indicator, convo, number, text, role) in enumerate(columns):
        index = 1 if number is None else int(number) if _TURN.fullmatch(number) else None
        key = (indicator, convo or str(line))
        if index is None:
            message, remedy = f"{quoted(number)} is not a whole number", "Count turns 1, 2, 3"
            problems.append(InputProblem(table.file, line, "turn_index", message, remedy))
        elif text is None or not text.strip():
            message, remedy = "a prompt without text", "Fill it in"
            problems.append(InputProblem(table.file, line, "prompt_text", message, remedy))
        elif role not in (None, _USER):
            message = f"{quoted(role)} is not a role of prompts, which are what the user says"
            remedy = "Remove the row: what the model says is generated"
            problems.append(InputProblem(table.file, line, "role", message, remedy))
        elif index in turns[key]:
            message = f"turn {index} of conversation {quoted(key[1])} is repeated"
            problems.append(
                InputProblem(table.file, line, "turn_index", message, "Keep one of them")
            )
        else:
            cells = {h: cell for h in further if (cell := attributes[h][row]) is not None}
            turns[key][index] = Turn(index, text, cells)
    return problems
