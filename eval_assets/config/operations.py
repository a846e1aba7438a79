"""Declarations of the schedule, judging, drift rounds and alerts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal
from zoneinfo import available_timezones

from annotated_types import Ge, Le

from eval_assets.config.types import Count, Name, NotNegative, Positive
from eval_assets.errors import Fault, raise_faults

AlertSeverity = Literal["warn", "error"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")

_FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)
"""Fields of a cron expression: what each is, its limits, and names for its numbers."""

_PART = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d+))?")


@dataclass(frozen=True)
class Schedule:
    """Schedule of complete runs. One that is declared is on unless the UI switches it off.

    Args:
        cron: Minute, hour, day of the month, month, day of the week.
        timezone: IANA name of the time zone that the hour is in.

    Raises:
        DeclarationError: If one of the two is not valid.
    """

    cron: str = "0 6 * * *"
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        faults = list(_cron_faults(self.cron))
        # To list all zones, folders are searched, which takes longer than all other keys together.
        if self.timezone != "UTC" and self.timezone not in available_timezones():
            message = f'"{self.timezone}" is not a time zone'
            faults.append(Fault(("timezone",), message, "Write one such as Europe/Berlin or UTC"))
        raise_faults(faults)


@dataclass(frozen=True)
class History:
    """Limits of Dagster's run records. Figures over time are in the ledger, and all of them stay.

    The latest run of each asset and check stays, whatever the limits.

    Args:
        keep_days: Days after which the records of a run are removed.
        keep_runs: Runs of which records are kept at most; older ones are removed.
    """

    keep_days: Annotated[float, Ge(1)] = 90.0
    keep_runs: Count = 1000


@dataclass(frozen=True)
class Judging:
    """Division of live judging into shards and partitions.

    Args:
        shards: Parts of the units that are judged on their own, each by a step of a run, which
            EVAL_EXECUTOR lets other processes or machines do.
        partition_by: Column of the responses, such as response_month, by whose values Dagster
            judges some of them in runs of their own; None for no partitions.
    """

    shards: Annotated[int, Ge(1), Le(1000)] = 1
    partition_by: Name | None = None


@dataclass(frozen=True)
class Drift:
    """Drift monitoring: live judges score a frozen set of responses at intervals.

    Args:
        anchors: Answers that each judge rates again on each question, one of each group.
        every_days: Days from one round to the next; a run that comes earlier asks nothing.
        max_usd: The most that a round may cost; None for the run's budget.
    """

    anchors: Count = 50
    every_days: Positive = 7.0
    max_usd: NotNegative | None = None


@dataclass(frozen=True)
class Robustness:
    """Checks that ask live judges about changed responses.

    Args:
        injection: Whether responses that address the judge are asked about again without the
            passages that do.
        max_usd: The most that a run may spend on it; None for the run's budget.
    """

    injection: bool = False
    max_usd: NotNegative | None = None


@dataclass(frozen=True)
class Alerts:
    """Changes that are reported to the channels that the environment names.

    Args:
        checks: Names of the checks that count; empty for all of them, which the file calls `all`.
        severity: Least severity of a failed check that is reported: `warn` or `error`.
        failed_runs: Whether a run that fails for another reason than a closed gate is reported.
    """

    checks: tuple[Name, ...] = ()
    severity: AlertSeverity = "warn"
    failed_runs: bool = True


@dataclass(frozen=True)
class Currency:
    """Currency of `api_cost_log` and of a monthly limit. Vendors bill in USD.

    Args:
        code: Code of the currency in ISO 4217, such as EUR.
        per_usd: Price of one USD in this currency.
        limit_per_month: Most that all runs of one calendar month (UTC) may spend, in this currency.

    Raises:
        DeclarationError: If the code is not three capitals, or one USD is not worth 1 USD.
    """

    code: Name = "USD"
    per_usd: Positive = 1.0
    limit_per_month: NotNegative | None = None

    def __post_init__(self) -> None:
        faults = []
        if not re.fullmatch("[A-Z]{3}", self.code):
            remedy = "Write three capitals, such as EUR"
            faults.append(Fault(("code",), f'"{self.code}" is not the code of a currency', remedy))
        if (self.code == "USD") != (self.per_usd == 1):
            message = f"{self.per_usd:g} {self.code} per USD"
            faults.append(Fault(("per_usd",), message, "Declare the rate of a currency beside USD"))
        raise_faults(faults)


def is_owner(text: str) -> bool:
    """Return whether a text names an owner as Dagster takes it: an e-mail address, or a team."""
    return bool(re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+|team:[\w-]+", text))


def _cron_faults(cron: str) -> Iterator[Fault]:
    """Yield what is wrong with a cron expression."""
    remedy = 'Write minute, hour, day, month and day of the week, such as "0 6 * * 1-5"'
    values = cron.split()
    if len(values) != len(_FIELDS):
        yield Fault(("cron",), f'"{cron}" has {len(values)} fields, not {len(_FIELDS)}', remedy)
        return
    for text, (name, lowest, highest, names) in zip(values, _FIELDS, strict=True):
        if not all(_is_part(part, lowest, highest, names) for part in text.lower().split(",")):
            yield Fault(("cron",), f'"{text}" is not valid as {name}', remedy)
            return
    _, _, day, month, weekday = values
    if weekday == "*" and not _has_day(day, month):
        yield Fault(("cron",), f"no such day: {day} in month {month}", remedy)


def _is_part(part: str, lowest: int, highest: int, names: tuple[str, ...]) -> bool:
    """Return whether one part of a list is `*`, a value or a range, with or without a step."""
    result = _PART.fullmatch(part)
    if result is None:
        return False
    first, last, step = result.groups()
    ends = [_number(end, lowest, names) for end in (first, last) if end]
    return (
        all(end is not None and lowest <= end <= highest for end in ends)
        and ends == sorted(ends, key=lambda end: end or 0)
        and (step is None or int(step) > 0)
    )


def _number(text: str, lowest: int, names: tuple[str, ...]) -> int | None:
    """Return a value of a field as a number; None if it is neither a number nor a name."""
    if text in names:
        return names.index(text) + lowest
    return int(text) if text.isdecimal() else None


def _has_day(day: str, month: str) -> bool:
    """Return False for a single day that its single month never has, such as 30 February."""
    if not (day.isdecimal() and month.isdecimal()):
        return True
    shorter = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
    return int(day) <= shorter.get(int(month), 31)
