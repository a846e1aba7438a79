"""Ratings in exports of tools, whose meaning is in the form of their records."""

from collections.abc import Sequence

from eval_assets.config.rubric import RubricQuestion
from eval_assets.readers.columns import CodedColumn, CodedTable
from eval_assets.readers.formats.contents import FileContent
from eval_assets.readers.formats.table import FileColumn
from eval_assets.readers.importers.export_content import Export
from eval_assets.readers.importers.tool_exports import (
    import_records,
    recognised_tools,
    records_of_content,
)
from eval_assets.readers.problems import input_error
from eval_assets.readers.readings.table_reading import RatedColumn, Reading
from eval_assets.wording import counted

_UNCERTAIN = ("hugging-face", "chat")
"""Forms that tables and logs of no tool have, too."""

_SAMPLE = 20


def tool_of(content: FileContent) -> str | None:
    """Return the tool that wrote a file, if the form of its records is certain."""
    tools = recognised_tools(records_of_content(content, n_rows=_SAMPLE))
    return next((tool for tool in tools if tool not in _UNCERTAIN), None)


def export_of(contents: Sequence[FileContent], tool: str) -> Export:
    """Return what files of one tool hold together.

    Raises:
        InputError: If they hold no ratings and no scores.
    """
    records = [record for content in contents for record in records_of_content(content)]
    export = import_records(records, tool=tool)
    if export.ratings or export.scores:
        return export
    n_responses = counted(len(export.responses), "response")
    message = f"this export of {tool} holds {n_responses}, but no ratings and no scores"
    message += "".join(f"; {n:,} {loss}" for loss, n in export.losses.items())
    remedy = "Export the ratings, too, or make a folder in which raters label the responses"
    raise input_error(contents[0].file, message, remedy)


def readings_of_export(export: Export, *, file: str) -> list[Reading]:
    """Return the ratings of people and the scores of judges as readings."""
    ratings = [(*key, value, time) for key, (value, time) in export.ratings.items()]
    scores = [(*key, value, "") for key, (value, _) in export.scores.items() if value]
    readings = []
    for rows, is_judge in ((ratings, False), (scores, True)):
        if not rows:
            continue
        names = ("item", "question", "judge" if is_judge else "rater", "rating", "time")
        items, questions, raters, values, times = (
            CodedColumn.of(name, cells)
            for name, cells in zip(names, zip(*rows, strict=True), strict=True)
        )
        columns = [items, questions, raters, values, times]
        table = CodedTable(columns, FileColumn.repeat(file, len(rows)), range(1, len(rows) + 1))
        readings.append(
            Reading(
                table=table,
                items=[items],
                rated=[RatedColumn(values)],
                rater=raters,
                question=questions,
                time=times,
                judges_only=is_judge,
                people_only=not is_judge,
            )
        )
    return readings


def questions_of_export(export: Export) -> dict[str, RubricQuestion]:
    """Return the questions whose scales the export declares."""
    return {
        name: RubricQuestion(
            name,
            of.text or name,
            of.scale,
            of.level or of.scale.default_level(),  # type: ignore[arg-type] # it is a level
        )
        for name, of in export.questions.items()
        if of.scale is not None
    }
