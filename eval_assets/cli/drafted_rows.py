"""Rows of the files of a drafted evaluation folder."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from eval_assets.config.rubric import PAIR_COLUMNS
from eval_assets.readers.formats.contents import read_table
from eval_assets.readers.formats.table import plain
from eval_assets.readers.importers.export_content import UNKNOWN_MODEL
from eval_assets.readers.rated_items import guessed_texts
from eval_assets.readers.rating_tables import RatingTables
from eval_assets.readers.references import MODEL_NAME, PROMPT_TEXT, RESPONSE_TEXT
from eval_assets.readers.values import stretched_ends
from eval_assets.scale import Scale

Rows = list[tuple[str, ...]]

_LONGEST_ID = 80
"""Characters; longer items are texts."""

_TEXTS = {
    "prompt_text": {*PROMPT_TEXT},
    "response_text": {*RESPONSE_TEXT},
    "model_name": {*MODEL_NAME, "generator", "system"},
}
"""Columns of items that hold what a response holds."""


def response_ids(tables: RatingTables) -> dict[str, str]:
    """Return the response id of each item: the item itself, or a number if items are texts."""
    items = [str(item) for item in tables.items["item"]]
    are_texts = any(len(item) > _LONGEST_ID or "\n" in item for item in items)
    return {item: f"r{n}" if are_texts else item for n, item in enumerate(items, start=1)}


def response_rows(tables: RatingTables, ids: Mapping[str, str]) -> Rows:
    """Return the rows of responses.csv, with the attributes of items."""
    items, columns = tables.items, dict[str, str]()
    for name in items.columns.drop(["item", "group", "model"]):
        target = next((of for of, names in _TEXTS.items() if plain(name) in names), str(name))
        if plain(name) == "response_id":  # a part of the item, or none of its own
            target = f"{name} in the file"
        columns.setdefault(target, str(name))
    pair = {of: name for name in columns.values() if (of := plain(name)) in PAIR_COLUMNS}
    is_pair = len(pair) == len(PAIR_COLUMNS) and "response_text" not in columns
    if is_pair:
        columns = {of: name for of, name in columns.items() if name not in pair.values()} | pair
    else:
        guessed = guessed_texts(tables)
        columns = {of: name for of, name in columns.items() if name not in guessed.values()}
        columns |= guessed
    item_names = {plain(name) for name in tables.columns.get("item", ())}
    of_item = next((of for of, names in _TEXTS.items() if item_names & names), None)
    texts = PAIR_COLUMNS if is_pair else ("response_text",)
    header = list(dict.fromkeys(["prompt_text", *texts, "model_name", *columns]))
    cells = {target: items[name].fillna("").astype(str) for target, name in columns.items()}
    if of_item is not None and of_item not in cells and len(item_names) == 1:
        cells[of_item] = items["item"].astype(str)
    model = items["model"].fillna("").astype(str)
    given_model = cells.get("model_name", model)
    cells["model_name"] = given_model.where(given_model != "", model).replace("", UNKNOWN_MODEL)
    ids_of_items = items["item"].astype(str).map(ids)
    # A run groups responses by prompt or text unless their groups say otherwise.
    has_few_prompts = "prompt_text" in cells and cells["prompt_text"].duplicated().any()
    is_grouped = tables.groups_by not in ("", columns.get("response_text"))
    if (is_grouped or has_few_prompts) and "group_id" not in cells:
        header.append("group_id")
        cells["group_id"] = items["group"].fillna("").astype(str) if is_grouped else ids_of_items
    blank = pd.Series("", index=items.index)
    in_order = [ids_of_items, *(cells.get(name, blank) for name in header)]
    return [("response_id", *header), *zip(*in_order, strict=True)]


def rated_rows(tables: RatingTables, rated: pd.DataFrame, ids: Mapping[str, str]) -> Rows:
    """Return ratings of people, or scores of judges, with the words of a scale that has some."""
    owner, header = ("judge", "judge_model") if "judge" in rated else ("rater", "rater_id")
    questions, names = rated["question"].astype(str), rated[owner].astype(str)
    scales = {question.id: question.scale for question in tables.questions}
    of_judges = tables.judge_scales if owner == "judge" else {}
    keys = list(zip(questions, names, rated["value"], strict=True))
    texts: dict[tuple[str, str, float], str] = {}
    for question, name, value in dict.fromkeys(keys):
        scale = scales[question]
        if name in of_judges:
            texts[question, name, value] = _score_text(value, of_judges[name], scale)
        else:
            texts[question, name, value] = scale.rating_text(value)
    columns: dict[str, Iterable[str]] = {
        "response_id": rated["item"].astype(str).map(ids),
        "question_id": questions,
        header: names,
        "rating" if owner == "rater" else "score": [texts[key] for key in keys],
    }
    if owner == "rater":
        columns["labelled_at"] = rated["labelled_at"].astype(object).fillna("")
    elif any(runs := list(map(str, rated["run"]))):
        columns["run"] = runs
    return [tuple(columns), *zip(*columns.values(), strict=True)]


def _score_text(value: float, scale: Scale, of_people: Scale) -> str:
    if (ends := stretched_ends(scale, of_people)) is None:
        return scale.rating_text(value)
    return f"{of_people.low + ends.to_unit(value) * (of_people.high - of_people.low):.6g}"


def texts_in(paths: Sequence[Path]) -> Rows:
    """Return responses with the texts of files without ratings; empty if there are none."""
    rows: Rows = [("response_id", *_TEXTS)]
    for path in paths:
        table = read_table(path, folder=path.parent)
        headers = {
            name: next((h for h in table.columns if plain(h) in names), None)
            for name, names in _TEXTS.items()
        }
        if headers["response_text"] is None:
            continue
        columns = [header for header in table.columns if header not in headers.values()]
        ids = next((c for h in columns if len(set(c := table.text(h))) == len(table)), None)
        names = [str(cell) for cell in ids] if ids is not None else map(str, table.lines)
        texts = [
            table.text(header) if header else [UNKNOWN_MODEL] * len(table)
            for header in headers.values()
        ]
        rows += [tuple(cell or "" for cell in row) for row in zip(names, *texts, strict=True)]
    return rows if len(rows) > 1 else []
