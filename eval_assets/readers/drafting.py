"""Drafts of evaluation.yaml: what is declared of data that came without a declaration."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import yaml

from eval_assets.errors import InputError, InputProblem
from eval_assets.readers._cells import read_ratings
from eval_assets.readers._guessed_scales import likely_scale
from eval_assets.scale import BINARY, LIKERT5, Scale

EXAMPLE_QUESTION: dict[str, object] = {
    "id": "helpfulness",
    "question": "How helpful is the response?",
    "scale": "likert5",
}
"""Stands in for a rubric if there are no ratings to tell what was asked."""

Content = str | Sequence[Sequence[str]]
"""A file: its text, or the rows of a table."""


def drafted_scale(ratings: Sequence[str | None]) -> dict[str, object]:
    """Return scale and level that fit the ratings of a question, as evaluation.yaml has them.

    Examples:
        >>> drafted_scale(["1", "5", "2"]), drafted_scale(["kind", "rude"])["level"]
        ({'scale': 'likert5'}, 'nominal')
    """
    cells = read_ratings(ratings)
    here = np.ones(len(cells.values), dtype=bool)
    try:
        return {"scale": declared(likely_scale(cells, here, file="", level=None))}
    except InputError:  # words in no known order
        scale = likely_scale(cells, here, file="", level="nominal")
        return {"scale": declared(scale), "level": "nominal"}


def declared(scale: Scale) -> object:
    """Return a scale in its shortest form.

    Examples:
        >>> declared(Scale.from_steps(low=0, high=4)), declared(Scale(low=0, high=1))
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


def recorded_judges(models: Iterable[tuple[str | None, str]]) -> list[dict[str, object]]:
    """Return a judge for each model and the file of its scores, no two with one id."""
    judges: list[dict[str, object]] = []
    taken: set[str] = set()
    for model, file in models:
        short = re.sub(r"[^\w.-]+", "-", model or Path(file).stem).strip("-") or "judge"
        name = short if short not in taken else f"{short}-{len(judges) + 1}"
        taken.add(name)
        judge: dict[str, object] = {"id": name, "provider": "recorded", "scores": file}
        judges.append(judge | ({"model": model} if model else {}))
    return judges


def as_yaml(sections: Mapping[str, object]) -> str:
    """Return the sections that hold anything as YAML."""
    given = {key: value for key, value in sections.items() if value}
    text: str = yaml.safe_dump(given, sort_keys=False, allow_unicode=True, width=100)
    return text


def write_files(folder: Path, contents: Mapping[str, Content]) -> list[Path]:
    """Write files into a folder, which is made if need be; return their paths.

    Raises:
        InputError: If they cannot be written.
    """
    try:
        for name, content in contents.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with (folder / name).open("w", encoding="utf-8", newline="") as file:
                if isinstance(content, str):
                    file.write(content)
                else:
                    csv.writer(file, lineterminator="\n").writerows(content)
    except OSError as error:
        what = f"it cannot be written ({error.strerror})"
        problem = InputProblem(str(folder), None, None, what, "Name a folder that you may write to")
        raise InputError(problem) from error
    return [folder / name for name in contents]
