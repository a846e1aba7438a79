"""What files say of rated items: their attributes, systems and groups; and what is not read."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.rubric import PAIR_COLUMNS
from eval_assets.readers.columns import (
    CodedColumn,
    CodedTable,
    Kind,
    combined,
    n_distinct,
    share_constant,
)
from eval_assets.readers.formats.table import plain
from eval_assets.readers.importers.export_content import Export
from eval_assets.readers.names import Role, may_be, names_no_rater
from eval_assets.readers.rating_frames import items_of_rows
from eval_assets.readers.rating_tables import RatingTables, ReadOptions, Reason
from eval_assets.readers.readings.table_reading import BESIDE, Reading
from eval_assets.readers.references import PROMPT_TEXT, RESPONSE_TEXT

_FEWEST_GROUPS = 10
"""Values of a column of prompts or conversations from which on it groups the items."""

_LONG_TEXT = 30
"""Characters on average from which on texts are no names, and equal ones copies."""

_FEW_WORDS = 12
"""Characters on average from which on a text may be the response to a longer one."""

_SYSTEMS = ("model", "model_name", "system", "generator", "bot", "assistant", "engine")
_SHARED_ITEMS = 0.5
"""Share of the items of a table that another one names, from which on it says more of them."""


@dataclass(frozen=True)
class RatedItems:
    """Items with what is known of them.

    Args:
        frame: A row for each item: item, group, model and attributes.
        group: Name of the column that groups items; empty if each is a group.
        attributes: File and name of each column that is kept as an attribute.
    """

    frame: pd.DataFrame
    group: str
    attributes: frozenset[tuple[str, str]]


def rated_items(  # noqa: PLR0913 - what is known of items
    readings: Sequence[Reading],
    rows: pd.DataFrame,
    tables: Sequence[CodedTable],
    options: ReadOptions,
    *,
    export: Export | None,
    evaluation: Evaluation | None,
) -> RatedItems:
    """Return a row for each rated item, with the columns that are constant within items.

    `tables` are those of all files: one without ratings that names the items says more of them.
    """
    names = rows["item"].cat.categories[np.unique(rows["item"].cat.codes.to_numpy())]
    items = pd.DataFrame({"item": pd.Index(names, dtype=object)})
    attributes: set[tuple[str, str]] = set()
    groups = _group_column(readings, options)
    for reading in readings:
        if reading.rated and reading.rated[0].item is None:
            attributes |= _add_attributes(items, reading, groups)
    if export is not None:
        texts = pd.DataFrame.from_dict(export.responses, orient="index", dtype=object)
        items = items.join(texts.drop(columns=items.columns, errors="ignore"), on="item")
    read = {id(reading.table) for reading in readings}
    index = pd.Index(items["item"])
    for table in tables:
        if id(table) in read or (key := _key_to(table, index)) is None:
            continue
        named = np.flatnonzero(key.has_cell)
        places = np.append(named, -1)[pd.Index(key.texts()[named]).get_indexer(index)]
        for column in table.columns:
            if column is not key and column.name not in items and column.kind is not Kind.EMPTY:
                items[column.name] = np.array([*column.texts(), None], dtype=object)[places]
        attributes |= {(table.file, column.name) for column in table.columns}
    group = "" if groups is None else groups.name
    items["group"] = items[group] if group in items else items["item"]
    if evaluation is not None:
        from eval_assets.readers.responses import read_responses

        responses = read_responses(evaluation)
        if items["item"].isin(responses["response_id"]).all():
            items["group"] = items["item"].map(groups_of_responses(responses))
        group = group or "group_id" * (items["group"].nunique() < len(items))
    models = [
        name
        for name in map(str, items)
        if (plain(name) == plain(options.model) if options.model else plain(name) in _SYSTEMS)
    ]
    items["model"] = items[models[0]] if models else None
    first = ["item", "group", "model"]
    frame = items[[*first, *(name for name in items if name not in first)]]
    return RatedItems(frame, group, frozenset(attributes))


def _add_attributes(
    items: pd.DataFrame, reading: Reading, groups: CodedColumn | None
) -> set[tuple[str, str]]:
    """Add the columns of a table that are constant within items; return those kept as such."""
    codes, names = items_of_rows(reading, reading.rated[0])
    places = pd.Index(items["item"]).get_indexer(names)
    attributes: set[tuple[str, str]] = set()
    judges = {of.rater for of in reading.rated} if all(of.is_judge for of in reading.rated) else ()
    for column in reading.table.columns:
        if len(column.values) == 1 and column.values[0] in judges:  # and no system
            attributes.add((reading.table.file, column.name))
            continue
        is_part = len(reading.items) > 1 and column in reading.items
        reason = reading.not_read.get(column.name)
        is_kept_out = reason is not None and not reason.is_attribute
        is_other = reading.uses(column) or column.origin or is_kept_out
        is_kept = is_part or column is groups
        if not is_kept and (is_other or share_constant(column, codes) < 1):
            continue
        if not column.can_rate:  # what looks like ratings is named all the same
            attributes.add((reading.table.file, column.name))
        if column.name in items:
            continue
        filled = np.flatnonzero(column.has_cell & (codes >= 0))
        first = np.full(len(names), -1, dtype=np.int64)
        first[codes[filled][::-1]] = filled[::-1]
        usable = (places >= 0) & (first >= 0)
        texts = np.full(len(items), None, dtype=object)
        texts[places[usable]] = column.texts()[first[usable]]
        items[column.name] = texts
    return attributes


def _group_column(readings: Sequence[Reading], options: ReadOptions) -> CodedColumn | None:
    """Return the column of items that are not independent; None if each item is a group."""
    reading = readings[0]
    if options.group is not None:
        return next((c for of in readings if (c := of.table.find(options.group))), None)
    roles = (reading.rater, reading.question, reading.run)
    names = {plain(column.name) for column in reading.table.columns}
    # Of one prompt, or of none that is known, equal responses are one; short ones may be chance.
    of_texts = () if names.intersection(PROMPT_TEXT) else RESPONSE_TEXT
    candidates = [
        column
        for column in reading.table.columns
        if (
            (column.may_be(Role.GROUP) and len(column.values) >= _FEWEST_GROUPS)
            or (
                plain(column.name) in of_texts
                and sum(map(len, column.values)) > _LONG_TEXT * len(column.values)
            )
        )
        and not column.may_be(Role.MEASURE)  # prompt_tokens
        and not any(column is of for of in roles)
        and (len(reading.items) > 1 or column not in reading.items)
    ]
    codes = combined(reading.items) if reading.items else np.arange(len(reading.table))
    for column in sorted(candidates, key=lambda c: len(c.values)):
        is_of_item = not share_constant(column, codes) < 1
        if is_of_item and n_distinct(column.codes) < n_distinct(codes):
            return column
    return None


def _key_to(table: CodedTable, items: pd.Index) -> CodedColumn | None:
    """Return the column of a table without ratings that names items, each in one row."""
    shared = [len(items.intersection(pd.Index(column.values))) for column in table.columns]
    n_shared = max(shared, default=0)
    if not n_shared:
        return None
    column = table.columns[shared.index(n_shared)]
    is_unique = len(column.values) == column.n_cells
    is_key = n_shared >= _SHARED_ITEMS * min(len(column.values), len(items))
    return column if is_unique and is_key else None


def groups_of_responses(responses: pd.DataFrame) -> pd.Series:
    """Return the group of each response by its id, as the view `response_groups` has it.

    Held-out groups are chosen by these names, so that both must be equal to the letter.
    """

    def digest(text: str) -> str:
        return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()

    def prompt_of(response_id: str, text: object, attributes: object) -> str:
        stated = json.loads(attributes).get("prompt_id") if isinstance(attributes, str) else None
        if stated is not None:
            return stated if isinstance(stated, str) else json.dumps(stated)
        return digest(text) if isinstance(text, str) else response_id

    ids = responses["response_id"].to_list()
    of_response = zip(ids, responses["prompt_text"], responses["attributes"], strict=True)
    prompts = [prompt_of(*values) for values in of_response]
    of_most = {prompt for prompt, n in Counter(prompts).items() if 2 * n > len(ids)}
    group = responses["group_id"].fillna(responses["convo_id"])
    first: dict[str, str] = {}
    groups = {}
    for id_, prompt, of, text in sorted(
        zip(ids, prompts, group, responses["response_text"], strict=True), key=lambda row: row[0]
    ):
        if isinstance(of, str):
            groups[id_] = of
            continue
        is_alone = prompt == id_ or prompt in of_most
        groups[id_] = id_ if prompt in of_most else prompt
        if is_alone and isinstance(text, str) and text.strip(" "):
            groups[id_] = first.setdefault(digest(text), id_)
    return pd.Series(groups, dtype=object)


NO_RATINGS = Reason("no ratings in this table")


def reasons_not_read(
    readings: Sequence[Reading],
    tables: Sequence[CodedTable],
    items: RatedItems,
    *,
    export: Export | None,
) -> dict[str, Reason]:
    """Return the reason why a column is not read, by `file:column`."""
    reasons: dict[str, Reason] = {}
    for reading in readings:
        for name, reason in reading.not_read.items():
            if (reading.table.file, name) not in items.attributes:
                reasons[f"{reading.table.file}:{name}"] = reason
    read = {id(of.table) for of in readings}
    documents = {of.table.document for of in readings if of.table.document}
    known = {column.name for of in readings for column in of.table.columns}
    known |= {name for of in readings for name in of.not_read}
    if export is not None:
        file = readings[-1].table.file
        losses = [*export.losses, *export.notes]
        reasons |= {f"{file}:{n + 1}": Reason(loss) for n, loss in enumerate(losses)}
        reasons |= {f"{file}:{name}": Reason("not a rating") for name in export.unused_fields}
    for table in tables:
        is_joined = any((table.file, column.name) in items.attributes for column in table.columns)
        if id(table) in read or (is_joined and table.document not in documents):
            continue
        if table.document in documents:
            reasons |= {
                f"{table.file}:{column.name}": BESIDE
                for column in table.columns
                if column.name not in known and not column.origin
            }
        else:
            reasons[table.place] = NO_RATINGS
    return reasons


def guessed_texts(tables: RatingTables) -> dict[str, str]:
    """Return the columns most likely to be response and prompt of items, if no name says so.

    The longest texts are what raters saw; the only texts before them are the prompts.
    """
    items = tables.items.drop(columns=["item", "group", "model"])
    names = {plain(str(of)) for of in (*items, *tables.columns.get("item", ()))}
    result: dict[str, str] = {}
    if names >= {*PAIR_COLUMNS}:
        return result
    known = {*PROMPT_TEXT, *RESPONSE_TEXT}
    lengths = {}
    for name in map(str, items):
        if plain(name) not in known and not may_be(name, Role.TEXT):
            texts = items[name].fillna("").astype(str)
            length = float(texts.str.len().mean())
            if length > _FEW_WORDS and texts.nunique() > len(texts) / 2:
                lengths[name] = length
    order = [*map(str, items)]
    responses = [name for name in order if plain(name) in RESPONSE_TEXT]
    longest = max(lengths, key=lengths.__getitem__, default="")
    if lengths.get(longest, 0) > _LONG_TEXT and names.isdisjoint(RESPONSE_TEXT):
        # What a customer wrote is no response, however long.
        responses = [max(lengths, key=lambda of: (not names_no_rater(of), lengths[of]))]
        result["response_text"] = responses[0]
    if responses and names.isdisjoint(PROMPT_TEXT):
        before = order[: order.index(responses[0])]
        before = [name for name in before if lengths.get(name, 0) > _LONG_TEXT]
        result |= {"prompt_text": before[0]} if len(before) == 1 else {}
    return result
