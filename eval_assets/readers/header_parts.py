"""Parts of headers: paths, numbers of runs, and parts that tell headers apart or cross."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from eval_assets.readers.formats.table import plain
from eval_assets.readers.names import (
    SHARED_NAMES,
    Role,
    Who,
    is_first_name,
    is_rating_word,
    may_be,
    names_model,
    names_one_of_several,
    share_of_criteria,
    share_of_people,
    who,
)
from eval_assets.readers.words import lines_of

_BETWEEN_PARTS = re.compile(r"(?<!\d)\.(?!\s)|\.(?![\d\s])")
"""A dot that is none of a version or after an initial."""

_EVALUATOR = re.compile(r"(^|_)(evaluators?|graders?|scorers?|evals?(_results?)?)$")
_REFERENCE = re.compile(
    r"(^|_)(gold(en)?|gt|(ground_?)?truth|true|reference|expected|adjudicated)(_|$)"
)


def path_of(header: str) -> list[str]:
    """Return the names of objects and of the field in the last of them; addresses have dots.

    Examples:
        >>> path_of("a.b.score"), path_of("judges.gpt-4.1-mini"), path_of("votes.ann@corp.example")
        (['a', 'b', 'score'], ['judges', 'gpt-4.1-mini'], ['votes', 'ann@corp.example'])
    """
    if "@" in header:
        owner, dot, field = header.partition(".")
        return [owner, field] if dot and "@" in field and "@" not in owner else [header]
    return _BETWEEN_PARTS.split(header)


def owner_and_field(header: str) -> tuple[str, str]:
    """Return what a field of an object belongs to, empty for none, and its name.

    Examples:
        >>> owner_and_field("a.b.score"), owner_and_field("A. Smith")
        (('a.b', 'score'), ('', 'A. Smith'))
    """
    *owners, field = path_of(header)
    return ".".join(owners), field


def without_scale(header: str) -> str:
    """Return a header without a scale behind it.

    Examples:
        >>> without_scale("Tone (1-5)"), without_scale("(1)")
        ('Tone', '(1)')
    """
    return re.sub(r"(?<=\w)\s*[(\[][^)\]]*\d[^)\]]*[)\]]$", "", header)


_SAID_BY = re.compile(r"(?<![^_])((score|rating|label|grade|verdict)s?|human|judge|llm)(?![^_])_?")


def question_in(header: str) -> str:
    """Return what a header asks, without words for ratings and raters.

    Examples:
        >>> [question_in(name) for name in ("Eval.Tone", "judge_tone_score", "Tone (1-5)", "score")]
        ['tone', 'tone', 'tone', '']
    """
    field = owner_and_field(without_scale(header))[1]
    return _SAID_BY.sub("", plain(field)).strip("_")


_NUMBERED = "|".join(" ".join([*lines_of("round"), *lines_of("run")]).split())
_NUMBERED_NAME = re.compile(
    rf"(.*?)[\s_,:.(-]*(?<![^\W\d_])(?:({_NUMBERED}|pass|sample)[\s_.-]*(\d+)"
    rf"|(\d+)(?:\.|st|nd|rd|th)\s*({_NUMBERED}))\)?",
    re.IGNORECASE,
)


@lru_cache(maxsize=10_000)
def name_and_number(name: str) -> tuple[str, Role, str] | None:
    """Return a name, whether a round or a run follows, and its number; None without one.

    Examples:
        >>> name_and_number("Anna (2. Runde)"), name_and_number("gpt-4o_run1")
        (('Anna', <Role.ROUND: 7>, '2'), ('gpt-4o', <Role.RUN: 6>, '1'))
    """
    if (match := _NUMBERED_NAME.fullmatch(name)) is None:
        return None
    word, number = match[2] or match[5], match[3] or match[4]
    return match[1], Role.ROUND if may_be(word, Role.ROUND) else Role.RUN, number


_ORDER_OF_PAIR = re.compile(
    r"(.*?)[\s_(-]*\b_?(ab|ba|orig(inal)?|swap(ped)?|reversed?|flip(ped)?|forwards?|backwards?|normal"
    r"|invert(ed)?|(order|position|pos)[\s_-]*[12ab]{1,2}|(1st|2nd|first|second)[\s_-](order|position))\)?",
    re.IGNORECASE,
)


def orders_of_pairs(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the judge and the order of two responses in each name that has one beside others.

    Examples:
        >>> orders_of_pairs(["judge_ab", "judge_ba", "gpt-4o"])
        {'judge_ab': ('judge', 'ab'), 'judge_ba': ('judge', 'ba')}
        >>> orders_of_pairs(["judge", "judge_swapped"])
        {'judge': ('judge', 'original'), 'judge_swapped': ('judge', 'swapped')}
    """
    orders: dict[str, tuple[str, str]] = {}
    for name in names:
        match = _ORDER_OF_PAIR.fullmatch(name.replace("_", " "))
        if match and match[1]:
            orders[name] = match[1].replace(" ", "_"), match[2]
    stems = Counter(stem for stem, _ in orders.values())
    orders |= {name: (name, "original") for name in names if name in stems}
    stems.update(name for name in names if name in stems)
    return {name: orders[name] for name in names if name in orders and stems[orders[name][0]] > 1}


def names_runs(values: Sequence[str]) -> bool:
    """Return whether all values number runs, and say no more than that.

    Examples:
        >>> names_runs(["run_1", "Run 2"]), names_runs(["anna run 1"]), names_runs(["1", "2"])
        (True, False, False)
    """
    names = map(name_and_number, values)  # of which the first says it of most columns
    return bool(values) and all(of and not of[0] and of[1] is Role.RUN for of in names)


def names_file_of_judge(stem: str) -> bool:
    """Return whether a file is called like a judge or its scores.

    Examples:
        >>> [names_file_of_judge(stem) for stem in ("gpt-4o", "judge_run1", "llmbar", "anna")]
        [True, True, False, False]
    """
    numbered = name_and_number(stem)
    stem = numbered[0] if numbered and numbered[0] else stem
    ends = re.search(r"(judge|rater|verdict|score|rating|grade|judge?ment)s?$", plain(stem))
    return who(stem) is Who.JUDGE and (names_model(stem) or ends is not None)


_SEPARATORS = ("\n", ":", "\uff1a", " \u2013 ", " - ", "__", "_", ".", "/", "-", " ")
_BRACKETED = re.compile(r"(.+?)\s*[\[(\uff08](.+)[\])\uff09]")


def _splits(headers: Sequence[str], places: Sequence[int] = (1, -1)) -> list[list[tuple[str, str]]]:
    """Return the ways in which all headers fall into two parts alike, at some separators."""
    ways: list[list[tuple[str, str]]] = []
    brackets = [_BRACKETED.fullmatch(header) for header in headers]
    if all(brackets):
        ways.append([(m[1].strip(), m[2].strip()) for m in brackets if m])
    are_addresses = any("@" in header for header in headers)
    in_all = [of for of in _SEPARATORS if all(of in header for header in headers)]
    for separator in (of for of in in_all if not (are_addresses and of in ".-")):
        words = [header.split(separator) for header in headers]
        for n in (-1,) if separator == "\n" else places:
            firsts = [separator.join(of[:n]).strip() for of in words]
            seconds = [separator.join(of[n:]).strip() for of in words]
            if all(firsts) and all(seconds):
                ways.append([*zip(firsts, seconds, strict=True)])
    return ways


def distinct_parts(headers: Sequence[str]) -> dict[str, str]:
    """Return the part of each header that tells it from the others, if they share the other part.

    Examples:
        >>> distinct_parts(["Anna: Clarity", "Ben: Clarity"])
        {'Anna: Clarity': 'Anna', 'Ben: Clarity': 'Ben'}
    """
    for pairs in _splits(headers) if len(headers) > 1 else ():
        for part, shared in ((0, 1), (1, 0)):
            parts = [pair[part] for pair in pairs]
            if len({pair[shared] for pair in pairs}) == 1 and len(set(parts)) == len(parts):
                return dict(zip(headers, parts, strict=True))
    return {}


def parts_of_raters(headers: Sequence[str]) -> dict[str, str]:
    """Return the part that names the rater in each of several headers which share the other part.

    These are the headers beside those of judges, or those that share a word for ratings or raters.

    Examples:
        >>> parts_of_raters(["Anna rating", "Ben rating", "status"])
        {'Anna rating': 'Anna', 'Ben rating': 'Ben'}
    """
    of_people = [
        header
        for header in headers
        if who(header) is not Who.JUDGE and not may_be(header, Role.SUMMARY)
    ]
    parts = distinct_parts(of_people)
    if not parts:
        ways = [(way[0], header) for header in of_people for way in _splits([header])]
        shared = Counter(part for way, _ in ways for part in way)
        words = (Role.RATING, Role.RATER)
        for part in (of for of, n in shared.most_common() if n > 1 and may_be(of, *words)):
            names = {h: a if b == part else b for (a, b), h in ways[::-1] if part in (a, b)}
            if len(names) == len(set(names.values())) and share_of_people(set(names.values())) == 1:
                parts = names
                break
    # Caption A and B may be of two responses.
    if any(len(part) == 1 and not may_be(of, Role.RATING) for of, part in parts.items()):
        return {}
    return {of: parts[of] for of in headers if of in parts and not parts[of][:1].isdigit()}


def with_shared_parts(headers: Sequence[str]) -> set[str]:
    """Return the headers of which a part is one of another header too.

    Examples:
        >>> sorted(with_shared_parts(["Anna - Tone", "Anna - Style", "Ben - Tone", "csat_score"]))
        ['Anna - Style', 'Anna - Tone', 'Ben - Tone']
    """
    parts = {of: {part for way in _splits([of]) for part in way[0]} for of in headers}
    n_headers = Counter(part for of in parts.values() for part in of)
    return {header for header, of in parts.items() if any(n_headers[part] > 1 for part in of)}


def shared_part(header: str, parts: Mapping[str, str]) -> str | None:
    """Return what headers share beside their `distinct_parts`; None if they share nothing.

    Examples:
        >>> shared_part("Anna: Clarity", {"Anna: Clarity": "Anna", "Ben: Clarity": "Ben"})
        'Clarity'
        >>> shared_part("label_a", {"label_a": "a", "label_b": "b"})
        'label'
        >>> shared_part("expert_a", {"expert_a": "a", "expert_b": "b"})
    """
    part = parts.get(header)
    if part is None:
        return None
    rest = header.removesuffix(part) if header.endswith(part) else header.replace(part, "", 1)
    rest = rest.strip(" :\uff1a-_./[]()")
    # A scale, or a word for raters, is no question.
    return rest if any(map(str.isalpha, rest)) and not may_be(rest, Role.RATER) else None


def crossed_parts(headers: Sequence[str]) -> list[tuple[str, str]]:
    """Return the two parts of headers of which each first meets each second; empty if none do.

    A few cells of the grid may be missing if one part names people.
    """
    if len(headers) < 4:
        return []
    ways = [
        (pairs, {a for a, _ in pairs}, {b for _, b in pairs})
        for pairs in _splits(headers, (1, -1, 2, -2))
        if len(set(pairs)) == len(headers)
    ]
    ways = [way for way in ways if min(len(way[1]), len(way[2])) > 1]

    def share_named(way: tuple[list[tuple[str, str]], set[str], set[str]]) -> float:
        are_numbers = any(all(map(str.isdigit, names)) for names in way[1:])
        return max(share_of_people(names, with_judges=True) for names in way[1:]) - are_numbers

    full = [way for way in ways if len(headers) == len(way[1]) * len(way[2])]
    if full:
        return max(full, key=share_named)[0]
    for pairs, first, second in ways:
        shares = [share_of_people(of) - share_of_criteria(of) for of in (first, second)]
        if len(headers) >= 0.7 * len(first) * len(second) and max(shares) > 0.6:
            return pairs
    return []


def names_evaluator(name: str) -> bool:
    """Return whether a name is that of a program, or else of a person, who evaluates.

    Examples:
        >>> [names_evaluator(name) for name in ("evals", "grader", "human_evaluator", "grade")]
        [True, True, False, False]
    """
    return _EVALUATOR.search(plain(name)) is not None and who(name) is not Who.HUMAN


def is_beside_reference(name: str, reference: str) -> bool:
    """Return whether a name is nobody's beside a reference, or an evaluator's beside a person.

    Examples:
        >>> is_beside_reference("result", "ground_truth"), is_beside_reference("anna", "gold")
        (True, False)
        >>> is_beside_reference("evaluator", "human"), is_beside_reference("csat", "human")
        (True, False)
    """
    stem, _, end = plain(name).rpartition("_")
    stem = stem if stem and is_rating_word(end) else plain(name)
    is_of_none = who(stem) in (Who.PERSON, Who.UNKNOWN) and not is_first_name(stem)
    is_of_none |= is_rating_word(stem)
    is_of_none &= not (names_one_of_several(stem) or may_be(stem, Role.SUMMARY))
    is_evaluator = names_evaluator(stem)
    if who(reference) is not Who.HUMAN:
        return is_evaluator and is_rating_word(reference)
    return is_of_none and (is_evaluator or _REFERENCE.search(plain(reference)) is not None)


def models_by_company(names: Collection[str]) -> set[str]:
    """Return the names that are models' beside those of other models, and people's otherwise.

    Examples:
        >>> models_by_company(["GPT-4o", "Claude"]), models_by_company(["Anna", "Claude"])
        ({'Claude'}, set())
        >>> models_by_company(["correct_gpt", "correct_claude"])
        {'correct_claude'}
        >>> models_by_company(["Reviewer Verdict", "Claude Verdict"])
        {'Claude Verdict'}
    """
    shared = [n for n in names if not SHARED_NAMES.isdisjoint(plain(n).split("_"))]
    models = [name for name in names if names_model(name)] if shared else []
    peers = [name for name in names if name not in shared] if shared else []
    # People by role alone, as a reviewer: where none has a name, Claude is none.
    are_roles = all(who(name) is Who.HUMAN and not is_first_name(name) for name in peers)
    models += peers if are_roles else []
    parts = [distinct_parts([model, name]) or {name: name} for model in models for name in shared]
    return {name for of in parts for name, part in of.items() if part.lower() in SHARED_NAMES}
