"""An imported export as an evaluation folder: its files, and an evaluation.yaml that runs."""

from collections.abc import Sequence
from pathlib import Path

from eval_assets.errors import InputError, InputProblem
from eval_assets.readers._cells import in_utc
from eval_assets.readers.drafting import (
    EXAMPLE_QUESTION,
    as_yaml,
    declared,
    drafted_scale,
    recorded_judges,
    write_files,
)
from eval_assets.readers.importers.export_content import Export

_HEAD = """\
# Drafted from an export of {tool}. Read the rubric before you trust a figure: a scale that is
# wider than the ratings given, or another order of words, changes how far raters agree.

"""

_NO_RATINGS = """\
# The export holds no ratings, so the question below is only an example: write your own.

"""


def write_draft(export: Export, folder: Path, *, name: str, tool: str) -> list[Path]:
    """Write the evaluation folder of an export; return the files written.

    Raises:
        InputError: If one of the files exists already, or cannot be written.
    """
    contents = {
        "evaluation.yaml": (_HEAD.format(tool=tool) if export.questions else _NO_RATINGS)
        + _evaluation(export, name=name),
        **{file: rows for file, rows in _tables(export).items() if len(rows) > 1},
    }
    taken = [file for file in contents if (folder / file).exists()]
    if taken:
        what = f"the folder holds {', '.join(taken)} already"
        remedy = "Name another folder, or move them away"
        raise InputError(InputProblem(str(folder), None, None, what, remedy))
    return write_files(folder, contents)


def _tables(export: Export) -> dict[str, Sequence[Sequence[str]]]:
    """Return the rows of each file, their header first."""
    columns = list(dict.fromkeys(key for each in export.responses.values() for key in each))
    return {
        "responses.csv": [
            ("response_id", *columns),
            *(
                (name, *(given.get(column, "") for column in columns))
                for name, given in export.responses.items()
            ),
        ],
        "labels.csv": [
            ("response_id", "question_id", "rater_id", "rating", "labelled_at"),
            *((*key, rating, in_utc(when) or "") for key, (rating, when) in export.ratings.items()),
        ],
        "judge_scores.csv": [
            ("response_id", "question_id", "judge_model", "score", "raw_output"),
            *((*key, score, reply) for key, (score, reply) in export.scores.items()),
        ],
    }


def _evaluation(export: Export, *, name: str) -> str:
    """Return evaluation.yaml: a question for each thing rated, a judge for each that scored."""
    rubric = [
        {"id": question, "question": given.text, **_scale(export, question)}
        for question, given in export.questions.items()
    ]
    models = dict.fromkeys(model for _, _, model in export.scores)
    judges = recorded_judges((model, "judge_scores.csv") for model in models)
    return as_yaml({"name": name, "rubric": rubric or [EXAMPLE_QUESTION], "judges": judges})


def _scale(export: Export, question: str) -> dict[str, object]:
    """Return scale and level of a question, as evaluation.yaml has them."""
    given = export.questions[question]
    if given.scale is not None:
        level = {"level": given.level} if given.level else {}
        return {"scale": declared(given.scale), **level}
    by_people = [r for (_, name, _), (r, _) in export.ratings.items() if name == question]
    by_judges = [s for (_, name, _), (s, _) in export.scores.items() if name == question]
    return drafted_scale(by_people or by_judges)
