"""What stored tests, plans and biases say of judges, beside their comparison with people."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from duckdb import DuckDBPyConnection as Connection

from eval_assets.agreement.assessment import Assessment
from eval_assets.agreement.judge_comparison import (
    Favour,
    HeldOutTest,
    JudgeComparison,
    PlannedTest,
    depends_on_the_gap,
)
from eval_assets.store.schema import read_rows
from eval_assets.store.scores import versions_rated_as
from eval_assets.verdicts import Verdict


def with_tests(
    assessment: Assessment,
    connection: Connection,
    certificates: Sequence[Mapping[str, Any]],
) -> Assessment:
    """Return the assessment with what held-out tests say, or would say of untested judges."""
    versions = versions_rated_as(connection)
    results: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for row in read_rows(connection, "tuned_judge_evaluation", order_by="reading"):
        results[row["judge_id"], row["question_id"]][row["kind"]] = row
    tests = {
        (row["judge_id"], row["question_id"]): _test_of(
            row,
            results[row["judge_id"], row["question_id"]],
            is_in_use=versions.get(row["judge_id"], row["version"]) == row["version"],
        )
        for row in certificates
        if not row["stale_because"] and row["fitness"] is not None
    }
    plans = {
        (row["judge_id"], row["question_id"]): row
        for row in read_rows(connection, "sealed_test_plans", order_by="reading")
        if not row["stale_because"]
    }

    favours: dict[tuple[str, str], list[Favour]] = defaultdict(list)
    for row in read_rows(connection, "judge_bias", order_by="abs(relative) DESC"):
        if row["is_named"]:
            favour = Favour(row["attribute"], row["value"], row["relative"])
            favours[row["judge_id"], row["question_id"]].append(favour)

    def tested(of: JudgeComparison) -> JudgeComparison:
        unit = of.judge, of.question.id
        plan = _plan_of(plans[unit]) if unit in plans else None
        named = tuple(favours[unit])
        return replace(of, tested=tests.get(unit), planned=plan, favours=named)

    judges = {judge: tuple(map(tested, rows)) for judge, rows in assessment.judges.items()}
    return replace(assessment, judges=judges)


def _test_of(
    certificate: Mapping[str, Any], results: Mapping[str, Mapping[str, Any]], *, is_in_use: bool
) -> HeldOutTest:
    in_part = certificate["claim"] == "fit_in_part"
    row = results.get("fitness_in_part" if in_part else "fitness", {})

    def number(name: str) -> float:
        value = row.get(name)
        return math.nan if value is None else float(value)

    largest = 1 - number("kappa_people") + number("margin") * (certificate["share"] or 1.0)
    return HeldOutTest(
        verdict=Verdict[certificate["state"].upper()],
        version=certificate["version"],
        is_in_use=is_in_use,
        n_units=row.get("n_units") or 0,
        kappa=number("kappa"),
        low=1 - largest * number("ratio_high"),
        high=1 - largest * number("ratio_low"),
        kappa_people=number("kappa_people"),
        minimum=1 - largest,
        share=certificate["share"] if in_part else None,
        doubt_source=certificate["doubt_source"] or "",
        doubt_threshold=math.nan
        if certificate["doubt_threshold"] is None
        else certificate["doubt_threshold"],
    )


def _plan_of(row: Mapping[str, Any]) -> PlannedTest:
    groups, per_group = row["groups_at_gap"], row["responses_per_group"]
    if groups is None or per_group is None:
        return PlannedTest(row["n_groups"], row["chance_fit"], None)
    is_if_equal = depends_on_the_gap(groups, row["groups_if_equal"])
    total = math.ceil((row["groups_if_equal"] if is_if_equal else groups) * per_group)
    return PlannedTest(row["n_groups"], row["chance_fit"], total, is_if_equal)
