"""Declarations of the schedule, judging, drift rounds and alerts."""

import re
from dataclasses import dataclass
from typing import Annotated, Literal
from zoneinfo import available_timezones

from annotated_types import Ge, Le

from eval_assets.config.types import Count, Name, NotNegative, Positive
from eval_assets.errors import Fault, raise_faults

AlertSeverity = Literal["warn", "error"]

_N_FIELDS = 5
"""Number of fields of Dagster's cron expressions."""


@dataclass(frozen=True)
class Schedule:
    """Schedule of complete runs. A declared schedule is on unless it is switched off in the UI.

    Args:
        cron: Minute, hour, day of the month, month, day of the week.
        timezone: IANA name of the time zone that the hour is in.

    Raises:
        DeclarationError: If one of the two is not valid.
    """

    cron: str = "0 6 * * *"
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        from croniter import CroniterError, croniter

        faults, message = list[Fault](), ""
        if (n_fields := len(self.cron.split())) != _N_FIELDS:
            message = f'"{self.cron}" has {n_fields} fields, not {_N_FIELDS}'
        else:
            try:
                croniter(self.cron).get_next()
            except CroniterError as error:
                message = f'"{self.cron}" is not a schedule ({error})'
        if message:
            remedy = 'Write minute, hour, day, month and day of the week, such as "0 6 * * 1-5"'
            faults.append(Fault(("cron",), message, remedy))
        # To list all zones, folders are searched, which takes longer than all other keys together.
        if self.timezone != "UTC" and self.timezone not in available_timezones():
            message = f'"{self.timezone}" is not a time zone'
            faults.append(Fault(("timezone",), message, "Write one such as Europe/Berlin or UTC"))
        raise_faults(faults)


@dataclass(frozen=True)
class Judging:
    """Division of live judging into shards.

    Args:
        shards: Parts of the units that are judged separately, each by a step of a run, which
            EVAL_EXECUTOR lets other processes or machines do.
    """

    shards: Annotated[int, Ge(1), Le(64)] = 1


@dataclass(frozen=True)
class Drift:
    """Drift monitoring: live judges score a frozen set of responses at intervals.

    Args:
        anchors: Responses that each judge rates again on each question, one of each group.
        every_days: Days from one round to the next; an earlier run sends no request.
        max_usd: The most that a round may cost; None for the run's budget.
    """

    anchors: Count = 50
    every_days: Positive = 7.0
    max_usd: NotNegative | None = None


@dataclass(frozen=True)
class Alerts:
    """Changes of checks that are reported to the channels that the environment names.

    Args:
        checks: Names of the checks that count; empty for all of them, which the file calls `all`.
        severity: Least severity of a failed check that is reported: `warn` or `error`.
    """

    checks: tuple[Name, ...] = ()
    severity: AlertSeverity = "warn"


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
