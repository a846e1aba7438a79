"""Names of columns and raters: the hints that choose between roles which the values leave open."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from enum import Enum, auto
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from eval_assets.readers.formats.table import plain
from eval_assets.readers.problems import quoted
from eval_assets.readers.words import lines_of


class Role(Enum):
    """What a column may be by its name."""

    RATER = auto()
    ITEM = auto()
    RATING = auto()
    QUESTION = auto()
    SYSTEM = auto()
    RUN = auto()
    ROUND = auto()
    TURN = auto()
    TIME = auto()
    MEASURE = auto()
    SUMMARY = auto()
    FLAG = auto()
    TEXT = auto()
    GROUP = auto()


class Who(Enum):
    """Whom, or what, a name names, the weakest hint first."""

    UNKNOWN = auto()
    CRITERION = auto()
    PERSON = auto()
    HUMAN = auto()
    JUDGE = auto()

    @property
    def is_human(self) -> bool:
        """Return whether it names a person, by name or by role."""
        return self in (Who.PERSON, Who.HUMAN)


def _pattern(meaning: str, form: str = "{}") -> re.Pattern[str]:
    """Return the pattern of names with one of the words of a meaning, in some form."""
    words = "|".join(" ".join(lines_of(meaning)).split())
    return re.compile(form.format(words), re.IGNORECASE)


_WORD = r"(^|_)({})(_|$|\d)"
_FLAG = _pattern("flag", r"^(is|has|was|contains|needs|to)_|^success|reviewed$|(^|_)({})(_|$)")
_ROLES = {role: _FLAG if role is Role.FLAG else _pattern(role.name.lower(), _WORD) for role in Role}
_ROLES[Role.RATER] = _pattern("rater", _WORD.replace("(_", "(id$|_"))  # reviewerid
_QUALITY = _pattern("quality", r"..({})$")
_ID = re.compile(
    r"(^|_)((q|p|s|u|doc|topic|query|passage|seg|conv|msg|img|task|item)?id|idx|uuid|hash|key)$"
)
_IDENTIFIER = re.compile(rf"{_ID.pattern}|(^|_)(index|no|nr)$")
_OF_PERSON = _pattern("of_person", "_({})$")
_NOT_WHO_RATED = _pattern("not_who_rated", "^({})$")
_WHO_MADE = re.compile(r"(^|_)(agent|author|owner|writer)(_|$)")
"""Headers of whose work an item is, who may have rated as well."""

_OF_STUDY = _pattern("of_study", r"(^|_)({})(_?id)?$")
_OF_RECORD = re.compile(
    r"(^|_)(annotation|rating|judge?ment|label|score|evaluation|assignment)_?(id|uuid|key)$"
)
"""Headers of ids of ratings, and not of what was rated."""

_UNIT = re.compile(r"[(\[](m?s|secs?|min|h|hrs?|usd|eur|[$\u20ac])[)\]]$", re.IGNORECASE)
_STATEMENT = re.compile(
    r"(?i)\w \w.* (?:is|are|was|were|does|has) \w|^(?:is|are|was|does|did) \w+ \w+ \w"
)
_NO_QUESTION = (Role.FLAG, Role.TIME, Role.MEASURE, Role.SUMMARY, Role.SYSTEM)
_NOT_OF_ROLE = {
    Role.RATING: _IDENTIFIER,
    Role.RATER: re.compile(f"{_OF_PERSON.pattern}|{_NOT_WHO_RATED.pattern}"),
    Role.ITEM: _OF_STUDY,
    Role.TEXT: _ID,  # comment_id
    Role.MEASURE: re.compile(rf"{_IDENTIFIER.pattern}|_expert$"),  # order_id, domain_expert
    Role.FLAG: re.compile(r"_by$"),  # labelled_by
}
"""Endings of headers that have the name of a role, and another one."""

_MODEL = _pattern("model")
_FIRST_NAME = re.compile(r"(Ai|Claude|Gemma|Kimi|Nova|Mistral|Opus|Haiku|Sonnet) (?=[A-Z])")
"""First names that models share, before a last name: Claude Dupont is a person."""

SHARED_NAMES = frozenset(("claude", "nova", "gemma", "kimi", "bert", "roberta", "ernie"))
"""First names that are those of models, too."""

_NO_LAST_NAME = _pattern("no_last_name", "({})")
_JUDGE = _pattern("judge", _WORD)
_PROGRAM = _pattern("program", r"(^|[-_ .])({})([-_ .]|$)|[-_]\d{{1,3}}(\.\d+)?b([-_]|$)")
_KINDS = {"h", "m"}
"""Initials of human and machine."""

_HASH = re.compile(
    r"[0-9a-fA-F-]{12,}|A(?=\D*\d)[0-9A-Z]{9,}|(R_)?(?=\D*\d)(?=.*[a-z])(?=.*[A-Z])[0-9A-Za-z]{15,}"
)
"""Ids of letters and digits in any order: neither AI5X8B21QZ7LM nor R_1doYqp2AI2rAhCF is an AI."""

_DOMAIN = re.compile(r"(?<=\w)@[\w-]+(\.[\w-]+)+")
"""What an address says of a company, and not of a person: ana@openai.com is no model."""

_METRIC = _pattern("metric", r"(^|_)({})([_\d]|l$|l_?sum|$)")
_SAID = re.compile(r"(verdict|pred(icted|ictions?)?|score|rating|label|grade|judge?ment)s?$")
_HUMAN = re.compile(
    rf"{_pattern('human', _WORD).pattern}|^(dr|prof|mr|mrs|ms|herr|frau)_\w"
    r"|(?<!needs)(?<!for)(?<!under)_review$"  # "Maker review"
)
_GIVEN = _pattern("given", _WORD)
"""Words for what people said, unless a judge is named beside them: judge_label."""

_PERSON = _pattern(
    "numbered",
    r"^({})([ _.#-]?[0-9]{{1,4}}|[ _.#-][a-z])$"
    r"|^\S+@$|(?-i:^[A-Z]$|^[A-Z]{{2,3}}$|^([A-Z]\. ?)+[A-Z][^\W\d_]+$)|^\d{{1,2}}$",
)
_CRITERION = _pattern(
    "criterion",
    r"^(q|question|criterion|frage)[ _-]?\d+|\?|^({})$"
    r"|..(ness|ity|cy|[ae]nce|tion|ung|keit|ism|ful|able|ible)$",
)
_NOT_A_NAME = (
    *(Role.ITEM, Role.RATING, Role.SYSTEM, Role.MEASURE, Role.SUMMARY, Role.TIME, Role.TEXT),
    *(Role.QUESTION, Role.FLAG, Role.RUN, Role.ROUND),
)


@lru_cache(maxsize=100_000)
def may_be(header: str, *roles: Role) -> bool:
    """Return whether a header has the name of one of the roles.

    Examples:
        >>> may_be("Ticket ID", Role.ITEM), may_be("annotator_index", Role.RATER)
        (True, True)
        >>> may_be("Was the time right?", Role.MEASURE)
        False
    """
    name = plain(header)
    if "?" in header or _STATEMENT.search(header):  # a question of a form
        roles = tuple(role for role in roles if role not in _NO_QUESTION)
    if _UNIT.search(header):  # Dauer (s)
        return Role.MEASURE in roles
    if re.match(r"(Dr|Prof|Mr|Mrs|Ms)\.? [^\W\d_a-z]", header):  # Ms Okafor
        roles = tuple(role for role in roles if role not in _NO_QUESTION)
    if "-max" in header.casefold() and names_model(header):  # qwen-max
        roles = tuple(role for role in roles if role is not Role.SUMMARY)
    is_of_model = name.startswith("model_") and _JUDGE.search(name)  # model_quality
    if is_of_model or ("." in header and is_rating_word(header.rpartition(".")[2])):  # tags.label
        roles = tuple(role for role in roles if role is not Role.SYSTEM)
    return any(
        _ROLES[role].search(name) and not (role in _NOT_OF_ROLE and _NOT_OF_ROLE[role].search(name))
        for role in roles
    )


_OF_QUALITY = re.compile(
    r"_([^\W_]+?(ness|ity|[ae]nce|ment|tion|ing|cy)|quality|style|structure|flow|success|detail)(?=_|$)"
)


def names_quality(header: str) -> bool:
    """Return whether words of a header end in what may be rated, as those of task_success.

    Examples:
        >>> names_quality("task_success"), names_quality("anna_instruction_following")
        (True, True)
        >>> names_quality("human_confidence"), names_quality("response_generation_time")
        (False, False)
    """
    name = plain(header)
    roles = {*_NO_QUESTION, Role.ITEM, Role.TURN, Role.QUESTION} - {Role.FLAG}
    ends = [name[match.start() + 1 :] for match in _OF_QUALITY.finditer(name)]
    return any(not may_be(end, *roles) for end in ends)


def names_no_rater(header: str) -> bool:
    """Return whether a header is that of people who did not rate: customers, who made the row.

    Examples:
        >>> [names_no_rater(name) for name in ("Customer email", "created_by", "email")]
        [True, True, False]
    """
    return _NOT_WHO_RATED.search(plain(header)) is not None


def may_name_makers(header: str) -> bool:
    """Return whether a header may be that of who made the items, and not of who rated them.

    Examples:
        >>> [may_name_makers(name) for name in ("Author", "support_agent", "annotator")]
        [True, True, False]
    """
    return _WHO_MADE.search(plain(header)) is not None


def names_one_of_several(header: str) -> bool:
    """Return whether a header ends in a number or a letter, as expert_a and annotator 1 do."""
    return re.search(r"\d$|_[a-z]$", plain(header)) is not None


def names_id(header: str) -> bool:
    """Return whether a header is that of names of items, and not of their numbers.

    Examples:
        >>> names_id("qid"), names_id("Ticket ID"), names_id("valid")
        (True, True, False)
    """
    return _ID.search(plain(header)) is not None


def names_record(header: str) -> bool:
    """Return whether a header is that of ids of ratings, and not of what was rated.

    Examples:
        >>> names_record("Annotation ID"), names_record("response_id")
        (True, False)
    """
    return _OF_RECORD.search(plain(header)) is not None


def is_rating_word(header: str) -> bool:
    """Return whether a header says no more than that it holds ratings.

    Examples:
        >>> is_rating_word("score"), is_rating_word("human_score"), is_rating_word("anna")
        (True, False, False)
    """
    return _ROLES[Role.RATING].sub("", plain(header)) == ""


def names_metric(header: str) -> bool:
    """Return whether a header is that of a metric which a program computes from texts.

    Examples:
        >>> names_metric("rouge_1_f_score"), names_metric("BERTScore"), names_metric("coherence")
        (True, True, False)
    """
    return _METRIC.search(plain(header)) is not None


def names_model(name: str) -> bool:
    """Return whether a name is that of a language model.

    Nothing in the values of ratings tells a model from a person, so the name decides. `Claude`
    alone is a first name.

    Examples:
        >>> [names_model(name) for name in ("gpt-4o", "Claude 3 Opus", "Claude", "Gemma Jones")]
        [True, True, False, False]
    """
    name = unicodedata.normalize("NFKC", _DOMAIN.sub("@", name.strip()))
    name = name if name.isascii() else name.casefold().translate(_LATIN)
    is_person = name == "Claude" or _has_last_name(name)
    return not is_person and _MODEL.search(name) is not None


def _has_last_name(name: str) -> bool:
    """Return whether a first name that models share stands before a last name."""
    first = _FIRST_NAME.match(name)
    last = name[first.end() :] if first else ""
    is_of_model = last and (_NO_LAST_NAME.fullmatch(last.split()[0]) or _CRITERION.search(last))
    is_role = is_of_model or may_be(last, Role.RATER) or names_judge(last)
    return bool(last) and not is_role and _looks_like_a_name(last)


def may_be_program(name: str, peers: Collection[str] = ()) -> bool:
    """Return whether a rater's name may be that of a program, and nothing says that it is one.

    A reward model beside first names has no initials, nor have the kinds H and M.

    Examples:
        >>> [may_be_program(name) for name in ("solar-7b", "Claude", "scorer 2", "gpt-4o")]
        [True, True, False, False]
        >>> may_be_program("RM", ["Anna", "RM"]), may_be_program("RM", ["KL", "RM"])
        (True, False)
        >>> may_be_program("M", ["H", "M"]), may_be_program("H", ["H", "M"])
        (True, False)
    """
    if name.casefold() == "rm":
        return any(map(is_first_name, peers))
    if len(peers) == len(_KINDS) and {*map(str.casefold, peers)} == _KINDS:
        return name.casefold() == "m"
    is_program = _PROGRAM.search(name) is not None or names_metric(name)
    is_open = who(name) in (Who.UNKNOWN, Who.PERSON) and not _HASH.fullmatch(name)
    return is_open and (name == "Claude" or is_program)


def names_judge(header: str) -> bool:
    """Return whether a header names a judge, or a column of the judges' names.

    Examples:
        >>> names_judge("judge_model"), names_judge("model_score"), names_judge("model")
        (True, True, False)
    """
    return _JUDGE.search(plain(_DOMAIN.sub("@", header))) is not None


def holds_judges(header: str) -> bool:
    """Return whether a column may hold the names of judges, and not what they said.

    Examples:
        >>> holds_judges("judge_model"), holds_judges("llm_verdict")
        (True, False)
    """
    is_said = _SAID.search(plain(header)) or may_be(header, Role.RUN, Role.FLAG)
    return names_judge(header) and not is_said


@lru_cache(maxsize=10_000)
def who(name: str) -> Who:
    """Return whom a header or a value names.

    Examples:
        >>> [who(name).name for name in ("anna", "human_label", "llm_label", "Clarity", "RelE")]
        ['PERSON', 'HUMAN', 'JUDGE', 'CRITERION', 'UNKNOWN']
        >>> [who(name).name for name in ("Teacher 1", "Prüferin Müller", "KI-Bewertung")]
        ['HUMAN', 'HUMAN', 'JUDGE']
        >>> [who(name).name for name in ("AI5X8B21QZ7LM", "ana@fleet.ai", "judge@fleet.ai")]
        ['UNKNOWN', 'HUMAN', 'JUDGE']
    """
    name = _DOMAIN.sub("@", name.strip())
    words = unicodedata.normalize("NFD", plain(name))  # without accents
    words = unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", words))
    is_model = names_model(name)
    if name.count("/") > 1 and not is_model:  # a path
        return Who.UNKNOWN
    if (
        _HUMAN.search(words)
        and not (is_model or _OF_PERSON.search(words))
        and not re.search(r"(^|_)(llm|ai|ki|ia|judge_model|judge_user|auto)(_|$)", words)
    ):
        return Who.HUMAN
    if _HASH.fullmatch(name) and not is_model:
        return Who.UNKNOWN
    owner = re.sub(r"(_s)?_$", "", _SAID.sub("", words))
    is_person = owner and is_first_name(owner) and not _JUDGE.search(owner)  # Anna's verdict
    is_person = is_person or _has_last_name(name)  # Ai Tanaka
    if is_model or (_JUDGE.search(words) and not is_person):
        return Who.JUDGE
    if (_GIVEN.search(words) and not may_be(name, Role.FLAG)) or _PERSON.match(name):
        return Who.HUMAN
    if _CRITERION.search(name) and plain(name) not in _first_names():  # Lucy
        return Who.CRITERION
    without_role = re.sub(r"(?<=\w) \([^()\d]+\)$", "", name)  # Lena (QA)
    return Who.PERSON if _looks_like_a_name(without_role) else Who.UNKNOWN


def _looks_like_a_name(name: str) -> bool:
    parts = re.split(r"[ _]+", name)
    letters = r"[^\W\d_][^\W\d_'.\u2019-]*|[^\W\d_]+['\u2019-][^\W\d_'.\u2019-]+|[^\W\d_]\."
    return (
        len(parts) <= 3
        and all(re.fullmatch(letters, part) for part in parts)
        and not re.search(r"[a-z][A-Z]", name)
        and not may_be(name, *_NOT_A_NAME)
    )


def is_abstract(name: str) -> bool:
    """Return whether a word has the ending of a quality, as few names have.

    Examples:
        >>> [is_abstract(name) for name in ("warmth", "sentiment", "Kwabena", "Mueller")]
        [True, True, False, False]
    """
    return _QUALITY.search(name.casefold()) is not None


def is_first_name(name: str) -> bool:
    """Return whether a word of a name is a first name, or letters that have no case.

    Examples:
        >>> [is_first_name(name) for name in ("anna", "Jose M", "qa_ben", "sentiment", "田中")]
        [True, True, True, False, True]
        >>> is_first_name("12_7")
        False
    """
    if name.lower() == name.upper():
        return any(map(str.isalpha, name))
    letters = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return not _first_names().isdisjoint(plain(letters).split("_"))


@cache
def _first_names() -> frozenset[str]:
    """Return first names in lower case without accents, which words of criteria are not."""
    return frozenset(Path(__file__).with_name("first_names.txt").read_text("ascii").split())


def are_a_row_of_letters(names: Sequence[str]) -> bool:
    """Return whether the single letters among names follow each other: V, A, D are no raters."""
    letters = sorted(name.upper() for name in names if re.fullmatch(r"[A-Za-z]", name))
    return all(ord(b) - ord(a) == 1 for a, b in pairwise(letters))


def share_of_people(names: Sequence[str] | set[str], *, with_judges: bool = False) -> float:
    """Return the share of names of people, and of judges if they count."""
    kinds = [who(name) for name in names]
    return sum(k.is_human or (with_judges and k is Who.JUDGE) for k in kinds) / max(1, len(kinds))


def share_of_criteria(names: Sequence[str] | set[str]) -> float:
    """Return the share of names of criteria."""
    return sum(who(name) is Who.CRITERION for name in names) / max(1, len(names))


ONE_SPELLING = "Write one of them throughout, or tell them apart"
"""Remedy for names that look alike."""

_LATIN = str.maketrans("аеорсухіјѕһԁԛԝвкмнтαοριντυκχ", "aeopcyxijshdqwbkmhtaopivtukx")
"""Cyrillic and Greek letters, without case, to the Latin letters that they look like."""


def look_alikes(names: Iterable[str]) -> list[tuple[list[str], str]]:
    """Return the names that look like each other together, with a message about them.

    Examples:
        >>> look_alikes(["Anna", "Ben", "anna"])
        [(['Anna', 'anna'], '"Anna" and "anna" differ only in case or spaces')]
    """
    spellings: defaultdict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        spellings[appearance(name)].append(name)
    result = []
    for alike in spellings.values():
        message = f"{' and '.join(map(quoted, alike))} differ only in case or spaces"
        if len({"".join(name.casefold().split()) for name in alike}) > 1:
            escaped = [name.encode("unicode_escape").decode("ascii") for name in alike]
            message = " and ".join(f'"{name}"' for name in escaped) + " look alike"
        if len(alike) > 1:
            result.append((alike, message))
    return result


def appearance(name: str) -> str:
    """Return the appearance of a name, without case, spaces and invisible characters.

    A spreadsheet on one system writes "é" as one character, on another as two.
    """
    with suppress(UnicodeError):  # UTF-8 that was read as cp1252, as JosÃ©
        name = name.encode("cp1252").decode()
    composed = "".join(unicodedata.normalize("NFKC", name).casefold().split())
    visible = (letter for letter in composed if unicodedata.category(letter) != "Cf")
    return "".join(visible).translate(_LATIN)
