"""Reports made by hand: a screen, and rows as the tables of an evaluation hold them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from eval_assets.shown.report import Report, report_of
from eval_assets.shown.screen import ItemText, Screen, screen_of
from eval_assets.shown.stored import StoredFigures
from eval_assets.verdicts import state_of_test
from tests.unit.cases import Case
from tests.unit.shown.studies import GOOD, QUALITY, judged, question, shown

WHEN = datetime(2026, 11, 21, 4, 30, tzinfo=UTC)
ATTACK = (
    "\"><script>alert(1)</script><img src=x onerror=alert(1)>\n\n# Big|cell `code` {{ 7*7 }} 'x"
)
Rows = Sequence[Mapping[str, Any]]


def screen_with_texts(text: str = "Use sorted with a key that returns a tuple.") -> Screen:
    """Return the screen of a good judge and a poor one, with texts of the responses."""
    return with_texts(
        shown(question(GOOD, {"gpt": judged(QUALITY, 0.3), "haiku": judged(QUALITY, 1.5)})), text
    )


def with_texts(screen: Screen, text: str) -> Screen:
    """Return a screen whose items have a text."""
    reading = replace(screen.reading, item=lambda k: ItemText(f"resp-{k}", f"Ask {k}?", text))
    return screen_of(reading, screen.assessment, command_of=lambda _: screen.next.command)


def stored(case: Case | None = None, *, name: str = "fern", **tables: Rows) -> StoredFigures:
    """Return what an evaluation stores; `tables` replace its own.

    Args:
        case: Its figures; by default those of two questions and two judges.
        name: A text that stands in every table.
        tables: Rows by table.
    """
    data = (case or Case()).data()
    rater = {"question_id": "clarity", "measure": "severity", "advice": ""}
    bias = {"judge_id": "gpt", "question_id": "clarity", "attribute": "system"}
    cell = {"prompt_text": f"Tell {name}", "n_units": 4}
    rows: dict[str, Rows] = {
        "label_quality": [
            {**rater, "rater_id": name, "value": 0.12, "n": 80},
            {**rater, "rater_id": "ben", "value": -0.08, "n": 80},
            {**rater, "rater_id": "cleo", "value": 0.2, "n": 3},
        ],
        "judge_bias": [
            {
                **bias,
                "value": name,
                "relative": 0.5,
                "relative_low": 0.3,
                "relative_high": 0.7,
                "is_named": True,
            },
            {
                **bias,
                "value": "other",
                "relative": -0.1,
                "relative_low": -0.2,
                "relative_high": 0.1,
                "is_named": False,
            },
        ],
        "judges": [
            {"judge_id": "gpt", "model": "gpt-6", "stopped": None, "other_models": None},
            {"judge_id": "haiku", "model": "h", "stopped": name, "other_models": "h-2"},
        ],
        "status_counts": [
            {"judge_id": "gpt", "status": "ok", "n": 158},
            {"judge_id": "gpt", "status": "unparsable", "n": 42},
        ],
        "judge_certificates": [
            certificate("gpt", claim="fit", fitness="fit"),
            certificate("haiku", claim="fit_in_part", fitness="undecided", share=0.84),
        ],
        "results_by_model": [
            {
                "model_name": name,
                "mean": 0.4,
                "mean_alpha": 0.5,
                "lowest_alpha": 0.2,
                "n_results": 2,
                "n_not_reliable": 1,
            }
        ],
        "results": [
            {**cell, "slice_value": "p1", "model_name": name, "alpha": 0.2, "mean": 0.7},
            {**cell, "slice_value": "p2", "model_name": name, "alpha": 0.8, "mean": 0.1},
        ],
        "adjudicated_labels": [
            {
                "response_id": name,
                "question_id": "clarity",
                "value": 4.0,
                "excluded": False,
                "is_override": False,
                "ratings": '{"anna": 1.0, "ben": 5.0}',
                "decided_by": "lea",
                "reason": "a typing error",
            }
        ],
        "rejected_labels": [{"rater_id": name, "question_id": "clarity", "n": 3}],
        "no_longer_paired": [{"question_id": "clarity", "n_responses": 2}],
        "unevaluated_tests": [{"question_id": "safe", "reason": "7 rated groups in train"}],
        "executive_summary": [],
    }
    return StoredFigures(
        evaluation=data.evaluation,
        gate_steps={},
        outcomes=data.gates,
        stale="",
        findings=(("clarity", f"{name} gives 3 throughout"),),
        dependent_judges=(),
        judges=data.judges,
        leave_one_judge_out=(),
        rubric_versions=(),
        scores=data.scores,
        tables=rows | tables,
    )


def certificate(judge: str, **changes: object) -> dict[str, Any]:
    """Return a row of `judge_certificates`."""
    row = {
        "judge_id": judge,
        "version": "1.0.0",
        "question_id": "clarity",
        "fitness": "undecided",
        "improvement": None,
        "claim": None,
        "share": None,
        "n_groups": 60,
        "certificate": '{"valid_until": "2027-05-21"}',
        "created_at": WHEN,
        "stale_because": None,
        "reason": "as tested",
        **changes,
    }
    verdict = "fit_in_part" if row["claim"] == "fit_in_part" else str(row["fitness"])
    return {"state": state_of_test(verdict, has_pairs=True).value, **row}


def report(screen: Screen | None = None, figures: StoredFigures | None = None) -> Report:
    """Return a report with every section."""
    return report_of(screen or screen_with_texts(), figures or stored(), made_at=WHEN)


def attacked() -> Report:
    """Return a report in which every text that comes from data tries to become markup."""
    screen = shown(question(GOOD, {ATTACK: judged(QUALITY, 0.3)}, name=ATTACK))
    reading = replace(
        screen.reading,
        title=ATTACK,
        not_read={ATTACK: ATTACK},
        item=lambda _: ItemText(ATTACK, ATTACK, ATTACK),
    )
    screen = screen_of(reading, screen.assessment, command_of=lambda _: ATTACK)
    return report(screen, stored(name=ATTACK))


def twelve_questions() -> Report:
    """Return a report on twelve questions and four judges with long names."""
    questions = [
        question(
            GOOD if k % 3 else GOOD[::-1],
            {f"a_judge_with_a_long_name_{j}": judged(QUALITY, 0.3 + j) for j in range(4)},
            name=f"question_{k}_of_the_rubric",
        )
        for k in range(12)
    ]
    return report(with_texts(shown(*questions), "An answer. " * 400))


CASES: dict[str, Callable[[], Report]] = {
    "plain": report,
    "attacked": attacked,
    "twelve questions": twelve_questions,
    "no judges": lambda: report(shown(question(GOOD))),
    "one rater": lambda: report(shown(question(GOOD[:, :1], {"gpt": judged(QUALITY, 0.3)}))),
}


@cache
def case(name: str) -> Report:
    """Return a report, made once by each process that shows it."""
    return CASES[name]()
