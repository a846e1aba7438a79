"""An imported export as an evaluation folder: its files, and an evaluation.yaml that runs."""

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import yaml

from eval_assets.problems import InputError, InputProblem
from eval_assets.readers._cells import in_utc, read_ratings
from eval_assets.readers._guessed_scales import likely_scale
from eval_assets.readers.importers.imported import Imported
from eval_assets.scale import BINARY, LIKERT5, Scale

_HEAD = """\
# Drafted from an export of {tool}. Read the rubric before you trust a figure: a scale that is
# wider than the ratings given, or another order of words, changes how far raters agree.

"""

_EXAMPLE = {
    "id": "helpfulness",
    "question": "How helpful is the response?",
    "scale": "likert5",
}
_NO_RATINGS = """\
# The export holds no ratings, so the question below is only an example: write your own.

"""


def write_draft(imported: Imported, folder: Path, *, name: str, tool: str) -> list[Path]:
    """Write the evaluation folder of an export; return the files written.

    Raises:
        InputError: If one of the files exists already, or cannot be written.
    """
    contents = {
        "evaluation.yaml": (_HEAD.format(tool=tool) if imported.questions else _NO_RATINGS)
        + _evaluation(imported, name=name),
        **{file: rows for file, rows in _tables(imported).items() if len(rows) > 1},
    }
    taken = [file for file in contents if (folder / file).exists()]
    if taken:
        what = f"the folder holds {', '.join(taken)} already"
        remedy = "Name another folder, or move them away"
        raise InputError(InputProblem(str(folder), None, None, what, remedy))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in contents.items():
            _write(folder / file, content)
    except OSError as error:
        what = f"it cannot be written ({error.strerror})"
        problem = InputProblem(str(folder), None, None, what, "Name a folder that you may write to")
        raise InputError(problem) from error
    return [folder / file for file in contents]


def _write(path: Path, content: str | Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        if isinstance(content, str):
            file.write(content)
        else:
            csv.writer(file, lineterminator="\n").writerows(content)


def _tables(imported: Imported) -> dict[str, Sequence[Sequence[str]]]:
    """Return the rows of each file, their header first."""
    columns = list(dict.fromkeys(key for each in imported.responses.values() for key in each))
    return {
        "responses.csv": [
            ("response_id", *columns),
            *(
                (name, *(given.get(column, "") for column in columns))
                for name, given in imported.responses.items()
            ),
        ],
        "labels.csv": [
            ("response_id", "question_id", "rater_id", "rating", "labelled_at"),
            *(
                (*key, rating, in_utc(when) or "")
                for key, (rating, when) in imported.ratings.items()
            ),
        ],
        "judge_scores.csv": [
            ("response_id", "question_id", "judge_model", "score", "raw_output"),
            *((*key, score, reply) for key, (score, reply) in imported.scores.items()),
        ],
    }


def _evaluation(imported: Imported, *, name: str) -> str:
    """Return evaluation.yaml: a question for each thing rated, a judge for each that scored."""
    models = dict.fromkeys(model for _, _, model in imported.scores)
    rubric = [
        {"id": question, "question": given.text, **_scale(imported, question)}
        for question, given in imported.questions.items()
    ]
    declared: dict[str, object] = {
        "name": name,
        "rubric": rubric or [_EXAMPLE],
    }
    if imported.scores:
        declared["judges"] = [
            {
                "id": judge_id,
                "provider": "recorded",
                "scores": "judge_scores.csv",
                "model": model,
            }
            for judge_id, model in zip(_ids(models), models, strict=True)
        ]
    text: str = yaml.safe_dump(declared, sort_keys=False, allow_unicode=True, width=100)
    return text


def _ids(models: Iterable[str]) -> list[str]:
    """Return a short id for each model, no two alike."""
    ids: list[str] = []
    for model in models:
        short = re.sub(r"[^\w.-]+", "-", model).strip("-") or "judge"
        ids.append(short if short not in ids else f"{short}-{len(ids) + 1}")
    return ids


def _scale(imported: Imported, question: str) -> dict[str, object]:
    """Return scale and level of a question, as evaluation.yaml has them."""
    scale = imported.questions[question].scale
    if scale is not None:
        return {"scale": _declared(scale)}
    by_people = [r for (_, name, _), (r, _) in imported.ratings.items() if name == question]
    by_judges = [s for (_, name, _), (s, _) in imported.scores.items() if name == question]
    ratings = read_ratings(by_people or by_judges)
    here = np.ones(len(ratings.values), dtype=bool)
    try:
        return {"scale": _declared(likely_scale(ratings, here, file="", level=None))}
    except InputError:  # words in no known order
        scale = likely_scale(ratings, here, file="", level="nominal")
        return {"scale": _declared(scale), "level": "nominal"}


def _declared(scale: Scale) -> object:
    """Return a scale in its shortest form.

    Examples:
        >>> _declared(Scale.from_steps(low=0, high=4)), _declared(Scale(low=0, high=1))
        ({'min': 0, 'max': 4}, {'min': 0, 'max': 1, 'step': None})
    """
    ends = {
        name: int(end) if float(end).is_integer() else end
        for name, end in (("min", scale.low), ("max", scale.high))
    }
    if scale.words is not None:
        return {"values": list(scale.words)}
    if scale in (BINARY, LIKERT5):
        return "binary" if scale == BINARY else "likert5"
    if scale.values is None:
        return {**ends, "step": None}
    return ends if scale.step == 1 else {"values": list(scale.values)}
