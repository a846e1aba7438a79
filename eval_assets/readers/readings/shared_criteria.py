"""Questions that headers of people and of judges share: human_tone beside llm_tone, llm_style."""

import re
from collections.abc import Sequence
from itertools import combinations, product

from eval_assets.readers.columns import Columns
from eval_assets.readers.formats.table import plain
from eval_assets.readers.names import Role, Who, is_first_name, is_rating_word, may_be, who
from eval_assets.readers.readings.table_reading import RatedColumn


def columns_by_criterion(people: Columns, judges: Columns) -> list[RatedColumn]:
    """Return the columns by question that people and a judge share: human_tone beside llm_tone.

    Further ones of either are named alike, as llm_style; other columns of judges are left out.
    Empty if all are of one question, or people's are not all known.
    """
    shared = (_shared_criterion(of.name, [c.name for c in judges]) for of in people)
    criteria = sorted(filter(None, shared), key=len, reverse=True)
    rated, names = [], dict[str, str]()
    for columns, is_judge in ((people, False), (judges, True)):
        parts = {of.name: _cut(of.name, criteria) for of in columns}
        stems = {(before, after) for before, _, after in filter(None, parts.values())}
        for column in columns:
            of_stems = (_between(column.name, *stem) for stem in stems)
            part = parts[column.name] or next(filter(None, of_stems), None)
            if part is not None:
                rater, name = _cased(column.name, part[1])
                names.setdefault(part[1], name)
                rater = rater or "judge" * is_judge
                rated.append(RatedColumn(column, rater, names[part[1]], is_judge=is_judge))
    n_people = sum(not of.is_judge for of in rated)
    units = {(of.rater, of.question, of.is_judge) for of in rated}
    is_complete = n_people == len(people) < len(rated) == len(units)
    return rated if is_complete and len(names) > 1 else []


def judges_of_parts(judges: Columns, rated: Sequence[RatedColumn]) -> list[RatedColumn]:
    """Return judges' columns, each of the one question with which it shares a word: v1 judge.

    Empty if one shares none.
    """
    questions = dict.fromkeys(of.question or "" for of in rated)
    pairs = [
        RatedColumn(judge, _cased(judge.name, part)[0], question, is_judge=True)
        for judge, question in product(judges, questions)
        if (part := _shared_criterion(question, [judge.name]))
    ]
    return pairs if [of.column for of in pairs] == [*judges] else []


def _shared_criterion(header: str, headers: Sequence[str]) -> str | None:
    """Return the longest criterion in a header that one of some headers has, too.

    Examples:
        >>> _shared_criterion("human_tone", ["llm_tone", "llm_style"])
        'tone'
    """
    words = plain(header).split("_")
    ends = sorted(combinations(range(len(words) + 1), 2), key=lambda of: of[0] - of[1])
    runs = ("_".join(words[first:last]) for first, last in ends)
    return next((r for r in runs if _is_criterion(r) and any(_cut(h, [r]) for h in headers)), None)


def _is_criterion(name: str) -> bool:
    """Return whether words of a header may name what is rated, and not who, how often or that."""
    is_role = who(name) in (Who.JUDGE, Who.HUMAN) or is_first_name(name)
    is_role |= may_be(name, Role.RUN, Role.ROUND)
    is_quality = who(name) is Who.CRITERION and name != "score"
    is_word = len(name) > 1 and re.search(r"[^\W\d_]", name) is not None
    return is_word and not is_role and (is_quality or not is_rating_word(name))


def _cut(header: str, criteria: Sequence[str]) -> tuple[str, str, str] | None:
    """Return what stands around the first of some criteria that is in a header."""
    for of in criteria:
        before, match, after = f"_{plain(header)}_".partition(f"_{of}_")
        if match:
            return before, of, after
    return None


def _between(header: str, before: str, after: str) -> tuple[str, str, str] | None:
    """Return the criterion that stands in a header where another one has its own."""
    name = f"_{plain(header)}_"
    middle = name.removeprefix(f"{before}_").removesuffix(f"_{after}")
    is_like = f"{before}_{middle}_{after}" == name and bool(before or after)
    return (before, middle, after) if is_like and _is_criterion(middle) else None


def _cased(header: str, criterion: str) -> tuple[str, str]:
    """Return the rest of a header and a criterion as they are spelled in it.

    Examples:
        >>> _cased("Sam (tone)", "tone"), _cased("humanFactualAccuracy", "factual_accuracy")
        (('Sam', 'tone'), ('human', 'FactualAccuracy'))
    """
    pattern = criterion.replace("_", r"[\W_]*")
    parts = re.split(rf"[\W_]*({pattern})[\W_]*", header, maxsplit=1, flags=re.IGNORECASE)
    if len(parts) == 1 or not (parts[0] or parts[2]):
        return "", header
    rest = " ".join(filter(None, (parts[0], parts[2])))
    return rest if rest.count("(") == rest.count(")") else rest.strip("()"), parts[1]
