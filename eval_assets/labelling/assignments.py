"""Assignments: which rater labels which responses, drawn in strata and stable under additions."""

import csv
import hashlib
import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Literal

import pandas as pd

from eval_assets.config.labelling import ASSIGNMENTS
from eval_assets.errors import InputError, InputProblem
from eval_assets.labelling.durable import locked, replace_file
from eval_assets.labelling.rater_view import response_records
from eval_assets.scale import TOLERANCE

Purpose = Literal["shared", "single", "repeat"]
"""Role of an assignment: of several raters, of this one only, or a repeat to the same rater."""


@dataclass(frozen=True)
class Assignment:
    """One response that one rater labels; a row of assignments.csv.

    Without a question the assignment covers every question about the response.
    """

    response_id: str
    rater_id: str
    question_id: str | None = None
    round: int = 1
    purpose: Purpose = "shared"


ASSIGNMENT_COLUMNS = tuple(field.name for field in fields(Assignment))


def assignments_text(assignments: Sequence[Assignment]) -> str:
    """Return assignments as CSV; the order of a rater's rows is the order in which they label."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(ASSIGNMENT_COLUMNS)
    for assignment in assignments:
        writer.writerow(astuple(assignment))
    return text.getvalue()


def add_assignments(folder: Path, assignments: Sequence[Assignment]) -> None:
    """Append assignments to assignments.csv, whose content does not change.

    Raises:
        InputError: If the file's columns are others, for instance because a spreadsheet program
            saved it.
    """
    path = folder / ASSIGNMENTS
    text = assignments_text(assignments)
    with locked(folder):
        before = path.read_bytes() if path.exists() else b""
        if not before:
            replace_file(path, text.encode())
            return
        _check_header(before)
        end = b"" if before.endswith(b"\n") else b"\n"
        replace_file(path, before + end + text.partition("\n")[2].encode())


def replace_assignments(folder: Path, assignments: Sequence[Assignment]) -> None:
    """Write assignments in place of those in assignments.csv.

    Raises:
        InputError: If the file's columns are others.
    """
    path = folder / ASSIGNMENTS
    with locked(folder):
        _check_header(path.read_bytes())
        replace_file(path, assignments_text(assignments).encode())


def _check_header(content: bytes) -> None:
    header = ",".join(ASSIGNMENT_COLUMNS)
    first_line = content.decode("utf-8-sig", errors="replace").splitlines()[0]
    if first_line != header:
        message = f"the header is {first_line!r}"
        remedy = f"Make it {header}, with the cells in that order and commas between them"
        raise InputError(InputProblem(ASSIGNMENTS, 1, None, message, remedy))


Allocation = Literal["proportional", "equal"]
"""Whether strata are sampled in proportion to their size or equally."""


@dataclass(frozen=True, kw_only=True)
class AssignmentPlan:
    """Plan for assigning responses.

    Args:
        n_responses: Responses to label; None for as many as there are.
        overlap: Share of them that every rater labels, in [0, 1].
        raters_per_response: Raters of each of the others.
        per_rater: Most responses of one rater in this round; None for no limit.
        repeat_share: Share of each rater's responses that come back to the same rater.
        question_id: The question to label; None for all.
        seed: Source of the order: the same seed and responses give the same assignments.

    Raises:
        ValueError: If a value is out of range.
    """

    raters: Sequence[str]
    n_responses: int | None = None
    overlap: float = 1.0
    raters_per_response: int = 1
    per_rater: int | None = None
    allocation: Allocation = "proportional"
    repeat_share: float = 0.0
    question_id: str | None = None
    round: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.raters:
            raise ValueError("assignments need at least one rater")
        if len({*self.raters}) < len(self.raters):
            raise ValueError(f"raters must differ, got {', '.join(self.raters)}")
        for name, share in (("overlap", self.overlap), ("repeat_share", self.repeat_share)):
            if not 0 <= share <= 1:
                raise ValueError(f"{name} must lie in [0, 1], got {share:g}")
        if not 1 <= self.raters_per_response <= len(self.raters):
            raise ValueError(
                f"raters_per_response must lie between 1 and the number of raters, "
                f"{len(self.raters)}, got {self.raters_per_response}"
            )
        for name, number in (("n_responses", self.n_responses), ("per_rater", self.per_rater)):
            if number is not None and number < 1:
                raise ValueError(f"{name} must be at least 1, got {number}")

    def assignment(self, response_id: str, rater_id: str, purpose: Purpose) -> Assignment:
        """Return an assignment of this plan's question and round."""
        return Assignment(response_id, rater_id, self.question_id, self.round, purpose)


def assign(
    strata: Mapping[str, str],
    plan: AssignmentPlan,
    *,
    existing: Sequence[Assignment],
) -> list[Assignment]:
    """Return assignments of responses that no one has in this round.

    Args:
        strata: Stratum of each response that may be labelled, by response id.
        plan: How to assign.
        existing: Assignments of all rounds. `plan.n_responses` counts those of this round too.

    Returns:
        The new assignments: each rater's own order is shuffled, repeats are in the second half.
    """
    current = [
        assignment
        for assignment in existing
        if (assignment.round, assignment.question_id) == (plan.round, plan.question_id)
    ]
    main = [assignment for assignment in current if assignment.purpose in {"shared", "single"}]
    main_responses = {assignment.response_id for assignment in main}
    free = {
        response: stratum for response, stratum in strata.items() if response not in main_responses
    }
    loads = Counter(assignment.rater_id for assignment in main)
    room = _room(plan, n_free=len(free), n_main=len(main_responses), loads=loads)
    chosen = stratified_sample(free, n=room, allocation=plan.allocation, seed=plan.seed)
    n_shared = round(plan.overlap * len(chosen))
    pairs = shared_responses(main)
    by_rater: dict[str, list[Assignment]] = {rater: [] for rater in plan.raters}
    for index, response in enumerate(chosen):
        size = len(plan.raters) if index < n_shared else plan.raters_per_response
        free_raters = [rater for rater in plan.raters if loads[rater] != plan.per_rater]
        if len(free_raters) < size:
            break
        purpose: Purpose = "shared" if size > 1 or index < n_shared else "single"
        team = _team(free_raters, size, loads, pairs)
        for rater in team:
            by_rater[rater].append(plan.assignment(response, rater, purpose))
        loads.update(team)
        pairs.update(map(frozenset, combinations(team, 2)))
    return [
        assignment
        for rater in plan.raters
        for assignment in _in_order_of(rater, by_rater[rater], plan)
    ]


def shared_responses(assignments: Iterable[Assignment]) -> Counter[frozenset[str]]:
    """Return the number of shared responses of each pair of raters that share any."""
    teams: dict[str, set[str]] = {}
    for assignment in assignments:
        if assignment.purpose in {"shared", "single"}:
            teams.setdefault(assignment.response_id, set()).add(assignment.rater_id)
    return Counter(frozenset(pair) for team in teams.values() for pair in combinations(team, 2))


def _team(
    raters: Sequence[str], size: int, loads: Counter[str], pairs: Counter[frozenset[str]]
) -> list[str]:
    """Return the raters of a response: those who shared least so far, of the least loaded.

    The first has the lightest load, and no other has more than one response more. All pairs then
    share similar numbers of responses, so that differences between any two raters can be told from
    differences between responses.
    """
    team: list[str] = []
    while len(team) < size:
        candidates = [rater for rater in raters if rater not in team]
        most = min(loads[rater] for rater in candidates) + (1 if team else 0)
        team.append(
            min(
                (rater for rater in candidates if loads[rater] <= most),
                key=lambda rater: (
                    *_most_and_sum([pairs[frozenset((rater, peer))] for peer in team]),
                    loads[rater],
                ),
            )
        )
    return team


def _most_and_sum(numbers: Sequence[int]) -> tuple[int, int]:
    return max(numbers, default=0), sum(numbers)


@dataclass(frozen=True)
class Reassignment:
    """Assignments after the open ones of a rater were given to others.

    Args:
        taken_over: The assignments that others have now.
        dropped: The rater's open assignments that no other rater can take over: repeats, and
            responses that all others label already.
    """

    assignments: Sequence[Assignment]
    taken_over: Sequence[Assignment]
    dropped: Sequence[Assignment]


def reassign(
    assignments: Sequence[Assignment],
    rater_id: str,
    *,
    to: Sequence[str],
    round: int,  # noqa: A002 - the name of the column
    questions_of: Callable[[Assignment], tuple[Sequence[str], Sequence[str]]],
) -> Reassignment:
    """Give the open assignments of a rater in a round to others, the least loaded first.

    `questions_of` returns the questions of an assignment with and without a label. Labelled
    responses stay with the rater.
    """
    remaining: list[Assignment] = []
    unlabelled: list[Assignment] = []
    for assignment in assignments:
        if (assignment.rater_id, assignment.round) != (rater_id, round):
            remaining.append(assignment)
            continue
        labelled, unanswered = questions_of(assignment)
        if not labelled:
            unlabelled.append(assignment)
        elif not unanswered:
            remaining.append(assignment)
        else:
            remaining += [replace(assignment, question_id=question) for question in labelled]
            unlabelled += [replace(assignment, question_id=question) for question in unanswered]
    loads = Counter(item.rater_id for item in remaining if item.round == round)
    takers = {(item.response_id, item.rater_id) for item in remaining if item.round == round}
    taken_over: list[Assignment] = []
    dropped: list[Assignment] = []
    for assignment in unlabelled:
        free = [r for r in to if r != rater_id and (assignment.response_id, r) not in takers]
        if assignment.purpose == "repeat" or not free:
            dropped.append(assignment)
            continue
        taker = next(
            (m.rater_id for m in taken_over if m.response_id == assignment.response_id), None
        )
        taken_over.append(replace(assignment, rater_id=taker or min(free, key=lambda r: loads[r])))
        loads[taken_over[-1].rater_id] += 1
    return Reassignment([*remaining, *taken_over], taken_over, dropped)


def _in_order_of(rater: str, main: Sequence[Assignment], plan: AssignmentPlan) -> list[Assignment]:
    """Return one rater's assignments in their order of work, shuffled.

    Repeats are in the second half, in a separate order, and of responses of the first third, so
    that many responses lie between the two. Repeats of further responses come last.
    """
    drawn = sorted(
        main,
        key=lambda assignment: chance(plan.seed, rater, str(plan.round), assignment.response_id),
    )
    n_repeats = round(plan.repeat_share * len(main))
    third, half = len(drawn) // 3, len(drawn) // 2

    def drawn_by(purpose: str, names: Iterable[str]) -> list[str]:
        key = [rater, str(plan.round), purpose]
        return sorted(names, key=lambda name: chance(plan.seed, *key, name))

    early = drawn_by("repeat", (assignment.response_id for assignment in drawn[:third]))
    late = drawn_by("repeat", (assignment.response_id for assignment in drawn[third:]))
    repeats = [plan.assignment(name, rater, "repeat") for name in [*early, *late][:n_repeats]]
    n_among = min(len(repeats), len(early))
    places = map(str, range(len(drawn) - half + n_among))
    chosen = {int(index) for index in drawn_by("place", places)[:n_among]}
    second, among = iter(drawn[half:]), iter(repeats[:n_among])
    mixed = [next(among if n in chosen else second) for n in range(len(drawn) - half + n_among)]
    return [*drawn[:half], *mixed, *repeats[n_among:]]


def strata_of(responses: pd.DataFrame, columns: Sequence[str]) -> dict[str, str]:
    """Return the stratum of each response, which its values in some columns define.

    Raises:
        ValueError: If no response has such a column.
    """
    rows = response_records(responses)
    missing = [column for column in columns if not any(column in row for row in rows)]
    if missing and rows:
        raise ValueError(f"the responses have no column {', '.join(missing)}")
    return {
        str(row["response_id"]): " / ".join(str(row.get(column)) for column in columns)
        for row in rows
    }


def stratified_sample(
    strata: Mapping[str, str], *, n: int, allocation: Allocation, seed: int
) -> list[str]:
    """Return `n` responses, drawn at random within strata, so that any first part is spread too.

    Adding responses to a stratum changes the sample only by the added ones that are drawn.

    Examples:
        >>> strata = {"a1": "a", "a2": "a", "a3": "a", "a4": "a", "b1": "b", "b2": "b"}
        >>> drawn = stratified_sample(strata, n=3, allocation="proportional", seed=1)
        >>> sorted(strata[response] for response in drawn)
        ['a', 'a', 'b']
    """
    members: dict[str, list[str]] = {}
    for response in sorted(strata, key=lambda r: (chance(seed, r), r)):
        members.setdefault(strata[response], []).append(response)
    sizes = {stratum: len(members[stratum]) for stratum in sorted(members)}
    quota = _quota(sizes, n=min(n, len(strata)), allocation=allocation)
    places = [
        ((rank + chance(seed, stratum)) / quota[stratum], stratum, members[stratum][rank])
        for stratum in quota
        for rank in range(quota[stratum])
    ]
    return [response for _, _, response in sorted(places)]


def _room(plan: AssignmentPlan, *, n_free: int, n_main: int, loads: Counter[str]) -> int:
    room = n_free
    if plan.n_responses is not None:
        room = min(room, max(0, plan.n_responses - n_main))
    if plan.per_rater is not None:
        heaviest = max(loads[rater] for rater in plan.raters)
        per_response = plan.overlap + (1 - plan.overlap) * plan.raters_per_response / len(
            plan.raters
        )
        room = min(room, max(0, math.floor((plan.per_rater - heaviest) / per_response + TOLERANCE)))
    return room


def _quota(sizes: Mapping[str, int], *, n: int, allocation: Allocation) -> dict[str, int]:
    """Return the sample size of each stratum, by largest remainders or as equal as sizes allow."""
    quota = dict.fromkeys(sizes, 0)
    if allocation == "proportional":
        total = sum(sizes.values())
        exact = {stratum: n * size / total for stratum, size in sizes.items()}
        quota = {stratum: math.floor(share) for stratum, share in exact.items()}
        by_remainder = sorted(sizes, key=lambda s: (quota[s] - exact[s], s))
        for stratum in by_remainder[: n - sum(quota.values())]:
            quota[stratum] += 1
    else:
        for _ in range(n):
            open_strata = [stratum for stratum in sizes if quota[stratum] < sizes[stratum]]
            quota[min(open_strata, key=lambda s: (quota[s], s))] += 1
    return {stratum: number for stratum, number in quota.items() if number}


def chance(seed: int, *names: str) -> float:
    """Return a number in [0, 1) that depends only on the seed and the names."""
    text = "\x1f".join([str(seed), *names])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
