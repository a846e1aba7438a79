"""Names of evaluations in Dagster, and of their steps, which no two evaluations share."""

import re
from collections.abc import Sequence


def identifiers_of(evaluations: Sequence[str]) -> dict[str, str]:
    """Return a name for each evaluation that Dagster allows for jobs, groups and steps.

    Characters other than letters, digits and _ become _; a number tells equal names apart.

    Examples:
        >>> identifiers_of(["a.b", "a-b", "c"])
        {'a.b': 'a_b', 'a-b': 'a_b_2', 'c': 'c'}
    """
    identifiers: dict[str, str] = {}
    for name in evaluations:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        identifier, number = plain, 1
        while identifier in identifiers.values():
            number += 1
            identifier = f"{plain}_{number}"
        identifiers[name] = identifier
    return identifiers
