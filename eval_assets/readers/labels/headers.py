"""Headers of tables of ratings: the kind of a column according to its name."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from eval_assets.readers.formats.row_files import SHEET
from eval_assets.readers.formats.table import FileTable, plain
from eval_assets.readers.labels.validation import FIELDS
from eval_assets.readers.references import KEY_COLUMNS, MODEL_NAME, RESPONSE_ID, has_references

ITEM = (
    *RESPONSE_ID,
    *(
        "unit_id",
        "unit",
        "item",
        "instance_id",
        "sample_id",
        "example_id",
        "document_id",
        "doc_id",
        "text_id",
    ),
    *("task_id", "example", "sample", "document", "id", "prompt_id", "conversation_id", "index"),
    *("external_id", "data_row_id", "stimulus", "doc", "case", "case_id"),
    *("antwort_id", "text_nr", "item_nr", "nummer", "nr", "beispiel", "dokument", "essay"),
)
"""Columns of the rated items, the likeliest first."""

ITEM_TEXT = ("response_text", "response", "text", "prompt_text", "prompt", "antwort")
"""Columns of the items if there is no id, nor a key of several columns."""

SHARED_ITEM = (
    *("task_id", "id", "prompt_id", "conversation_id", "example_id", "sample_id"),
    *("prompt_text", "prompt"),
)
"""Columns of items to which several models may have responded, or that have several turns."""

TURN = ("turn", "turn_index", "turn_id", "turn_number")

RATER = (
    *FIELDS["rater_id"],
    *("reviewer", "coder", "evaluator", "user", "worker", "labeler", "labeller", "participant"),
    *("reviewer_id", "coder_id", "evaluator_id", "worker_id", "labeller_id", "participant_id"),
    *("grader", "grader_id", "scorer", "assessor", "marker", "examiner", "labeled_by"),
    *("created_by", "juror", "subject_id", "prolific_pid", "participant_private_id"),
    *("labelled_by", "annotated_by", "graded_by", "scored_by", "reviewed_by", "coded_by"),
    *("rater_name", "annotator_name", "user_name", "username", "your_name", "rated_by"),
    *("email_address", "email", "e_mail", "respondent", "judge", "person"),
    *("bewerter", "bewerterin", "bewertende", "gutachter", "gutachterin", "kodierer"),
    SHEET,
)
RATERS_IN_LIST = ("annotators", "annotator_ids", "raters", "rater_ids", "workers", "worker_ids")
"""Columns that list who gave the ratings in the lists beside them."""

RATING = (
    *(*FIELDS["rating"], "label", "value", "grade", "answer", "stars", "winner", "preference"),
    *("verdict", "slider_response"),
    *("preferred", "vote", "feedback", "bewertung", "einsch\u00e4tzung", "urteil", "punkte"),
)
QUESTION = (
    *("question_id", "criterion", "dimension", "metric", "aspect", "indicator_id", "question"),
    *("frage", "kriterium"),
)
QUESTION_OR_PROMPT = ("question", "frage")
"""Columns of questions that are prompts if each item has its own."""

PERSON = ("name", "full_name", "your_full_name", "initials", "who")
"""Columns that name whoever filled in the row, or what the row is about."""

ROW_NUMBERS = ("id", "index", "nr", "nummer")
"""Columns that number the rows, whatever a row is."""

TEXT_COLUMNS = {
    "prompt_text": ("prompt_text", "prompt", "query", "instruction", "input", "input_prompt"),
    "response_text": (
        *("response_text", "response", "answer_text", "output", "completion", "text", "reply"),
        "input_response",
    ),
    "model_name": (*MODEL_NAME, "generator", "system"),
}

SUMMARIES = {
    *("average", "avg", "mean", "median", "mode", "total", "totals", "sum", "count", "std", "sd"),
    *("stdev", "stddev", "variance", "average_rating", "average_score", "avg_rating", "avg_score"),
    *("mean_rating", "mean_score", "total_score", "consensus", "majority", "majority_vote"),
    *("majority_label", "final_rating", "final_score", "final_label", "gold", "gold_label"),
    *("final", "final_decision", "resolved", "agreed", "reference", "expected", "target"),
    *(
        "diff",
        "difference",
        "delta",
        "\u03b4",
        "abs_diff",
        "spread",
        "range",
        "match",
        "matches",
        "agree",
    ),
    *("ground_truth", "truth", "adjudicated", "agreement", "moyenne"),
    *("durchschnitt", "mittelwert", "mittel", "summe", "gesamt", "differenz"),
}
"""Names of columns and rows that are computed from ratings, or stand beside them."""

_OTHERS = {
    *RESPONSE_ID,
    *KEY_COLUMNS,
    *MODEL_NAME,
    *(name for names in FIELDS.values() for name in names),
    *("prompt_text", "response_text", "question_id", "difficulty", "role", "timestamp"),
    *("group_id", "group", "prompt_id", "id", "index", "row", "n"),
}
_MEASURES = re.compile(
    r"(.*_)?(id|at|time|timestamp|date|duration|seconds|minutes|latency|tokens|cost|year|age|seed)"
)
_METADATA = re.compile(
    r"(n|num|number_of)_.+|.+_(count|length|number|confidence|certainty)|confidence|certainty"
    r"|batch|fold|split|turns?|length|words|chars|order|position|page|line|level|topic|category"
    r"|cluster|session|block|trial|version|week|day|month|wave|phase|stratum|domain"
)
"""Columns of an item or a rating that may hold a few small numbers, as ratings do."""
_FLAG = re.compile(r"(is|has|was|contains)_.+|(.+_)?flag")

_MODEL = re.compile(
    r"(chat)?gpt(-?[0-9].*)?|(claude|gemini|llama|mistral|mixtral|qwen|deepseek|gemma|grok|phi)"
    r"[-_ .]?(v?[0-9]|instant|opus|sonnet|haiku|pro|flash|large|small|chat).*"
    r"|(.*[-_ ])?llm([-_ ].*)?|(openai|anthropic|google|meta-llama|mistralai)[-/].+"
    r"|(ai|model|auto|gpt|claude|gemini|llama|mistral|qwen|deepseek|gemma|grok)"
    r"[-_ ](judge|rater|score)"
    r"|judge|autorater",
    re.IGNORECASE,
)

RATER_NAME = re.compile(
    r"(r|rater|annotator|reviewer|coder|user|judge|expert|a|p)[ _-]?[0-9]+|\S+@\S+", re.IGNORECASE
)
QUESTION_NAME = re.compile(
    r"(q|question|criterion|frage)[ _-]?[0-9]+|.*\?|.*(ness|ity|cy|[ae]nce|tion|ung|keit)"
    r"|tone|style|truth|grammar|overall|quality|safe|form|content|clear|correct|useful|helpful",
    re.IGNORECASE,
)
"""Words for what is asked, which are hardly ever names of people."""

ITEM_NAME = re.compile(
    r"(item|response|answer|text|document|doc|example|sample|case|prompt|output|essay|story|antwort"
    r"|q|question|frage)[ _#-]?[0-9]+([._][0-9]+)?",
    re.IGNORECASE,
)


def never_rates(name: str) -> bool:
    """Return whether a column with this plain name never holds the ratings of one rater."""
    return name in _OTHERS or name in SUMMARIES or _MEASURES.fullmatch(name) is not None


def is_metadata(name: str) -> bool:
    """Return whether a column with this plain name describes items, unless it is the only one."""
    return _METADATA.fullmatch(name) is not None


def is_flag(name: str) -> bool:
    """Return whether a column with this plain name says yes or no of an item, as is_long does."""
    return _FLAG.fullmatch(name) is not None


def is_model(rater: str) -> bool:
    """Return whether a rater has the name of a language model.

    Examples:
        >>> [is_model(name) for name in ("gpt-4o", "claude_score", "llm_judge", "judge")]
        [True, True, True, True]
        >>> [is_model(name) for name in ("Claude", "Phil", "judge 2")]
        [False, False, False]
    """
    return _MODEL.fullmatch(rater.strip()) is not None


_RATERS_OR_RATINGS = ("judge", "annotator", "human", "rater", "grader")


def rater_header(table: FileTable) -> str | None:
    """Return the column of the raters; None if there is none.

    A column `judge` or `annotator` may hold ratings: the values of another column.
    """
    header = table.header_of(*RATER)
    if header is None or plain(header) not in _RATERS_OR_RATINGS:
        return header
    ratings = set(table.stripped(header).present())
    holds_ratings = bool(ratings) and any(
        ratings == set(table.stripped(column).present())
        for column in table.columns
        if column != header
    )
    return None if holds_ratings else header


def item_header(table: FileTable) -> str | None:
    """Return the column of the rated items; None if no column, or several, name them."""
    header = table.header_of(*ITEM)
    if header is not None or has_references(table):
        return header
    return table.header_of(*ITEM_TEXT)


class RatingColumn(NamedTuple):
    """A column of ratings: its header, and the rater and question that follow from it."""

    header: str
    rater: str | None
    question: str | None


def crossed_columns(headers: Sequence[str]) -> list[list[RatingColumn]]:
    """Return columns of raters and questions if headers combine each of one with each other.

    After a colon, as in `anna: tone`, two raters for each question are enough.

    Unless the names say which part of a header is the rater, there are two ways to
    read them: first the part that changes from column to column, then the other.
    """
    pairs = _crossed_parts(headers)
    if not pairs:
        return []
    names = [list(dict.fromkeys(pair[part] for pair in pairs)) for part in (0, 1)]
    parts = rater_parts(*names) or ([1, 0] if pairs[0][0] == pairs[1][0] else [0, 1])
    return [
        [
            RatingColumn(header, pair[part], pair[1 - part])
            for header, pair in zip(headers, pairs, strict=True)
        ]
        for part in parts
        if min(Counter(pair[1 - part] for pair in pairs).values()) > 1
    ]


def _crossed_parts(headers: Sequence[str]) -> list[tuple[str, str]]:
    separators = (":", " - ", "__", "_", ".", "/", "-", " ")
    for separator, is_complete in (*((of, True) for of in separators), (":", False)):
        for split in (str.split, str.rsplit):
            parts = [list(map(str.strip, split(header, separator, 1))) for header in headers]
            if any(len(part) != 2 or not all(part) for part in parts):  # noqa: PLR2004 - of rater and question
                continue
            pairs = [(first, second) for first, second in parts]
            n_first, n_second = (len({pair[part] for pair in pairs}) for part in (0, 1))
            is_grid = min(n_first, n_second) > 1 and len(set(pairs)) == n_first * n_second
            if is_grid or (not is_complete and len(set(pairs)) == len(pairs)):
                return pairs
    return []


def rater_parts(first: Sequence[str], second: Sequence[str]) -> list[int]:
    """Return the part of the headers that must be the rater; none if their names leave it open."""
    are_raters = [all(map(RATER_NAME.fullmatch, names)) for names in (first, second)]
    if are_raters[0] != are_raters[1]:
        return [are_raters.index(True)]
    n_questions = [sum(map(bool, map(QUESTION_NAME.fullmatch, n))) for n in (first, second)]
    if min(n_questions) == 0 and any(
        2 * n >= len(names) for n, names in zip(n_questions, (first, second), strict=True)
    ):
        return [n_questions.index(0)]
    return []
