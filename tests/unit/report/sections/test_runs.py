"""Agreement over runs: newest first, one row per version of the data, falls beyond noise."""

import pandas as pd
import pytest

from eval_assets.render.document import Bullets, Section
from eval_assets.report.data import ReportData
from eval_assets.report.sections import runs as run_sections
from eval_assets.report.sections.cautions import cautions
from tests.unit.report.builder import Case, with_tables
from tests.unit.report.lookup import blocks_in, table

Run = tuple[str, str, float, str]
"""When it was measured, version of the data, A^HH, set of judges."""


def data_of(*runs: Run) -> ReportData:
    rows = [
        {
            "run_id": f"run-{measured_at}",
            "measured_at": measured_at,
            "scope": scope,
            "question_id": None if scope == "overall" else "clarity",
            "a_hh": a_hh,
            "a_hh_low": a_hh - 0.04,
            "a_hh_high": a_hh + 0.04,
            "alpha": 0.81,
            "judge_alpha": 0.83,
            "data_version": version,
            "judge_set_fingerprint": judges,
        }
        for measured_at, version, a_hh, judges in runs
        for scope in ("overall", "question")
    ]
    return with_tables(Case().data(), agreement_history=pd.DataFrame(rows))


def section_of(*runs: Run) -> Section:
    section = run_sections.trend(data_of(*runs))
    assert section is not None
    return section


def fallen(section: Section) -> list[str]:
    lists = [block for block in blocks_in(section.blocks) if isinstance(block, Bullets)]
    return [item.text for block in lists for item in block.items]


def test_runs_on_the_same_data_are_one_row_and_the_newest_is_first() -> None:
    section = section_of(
        ("2026-11-18 06:00", "v1", 0.90, "abc"),
        ("2026-11-19 06:00", "v2", 0.88, "abc"),
        ("2026-11-20 06:00", "v2", 0.88, "abc"),
    )

    rows = table(section, "Agreement by run")
    assert [(row["Measured"], row["A^HH"]) for row in rows] == [
        ("2026-11-20 06:00", "0.880"),
        ("2026-11-18 06:00", "0.9000"),
    ]


def test_a_fall_by_more_than_the_noise_of_both_runs_is_named() -> None:
    """Both have an interval of .04 on either side: that of the difference has .057."""
    section = section_of(("2026-11-18", "v1", 0.95, "abc"), ("2026-11-19", "v2", 0.88, "abc"))

    assert fallen(section) == ["A^HH fell from 0.950 to 0.880 (0.840 to 0.920)"]


def test_a_fall_is_among_the_cautions() -> None:
    data = data_of(("2026-11-18", "v1", 0.95, "abc"), ("2026-11-19", "v2", 0.88, "abc"))

    assert next(cautions(data)).term == "Agreement fell since the run before"


@pytest.mark.parametrize("before", [0.93, 0.88, 0.80])
def test_a_difference_within_the_noise_is_no_fall_and_neither_is_a_rise(before: float) -> None:
    section = section_of(("2026-11-18", "v1", before, "abc"), ("2026-11-19", "v2", 0.88, "abc"))

    assert fallen(section) == []


def test_each_row_names_the_judges_it_was_measured_with() -> None:
    section = section_of(("2026-11-18", "v1", 0.9, "abc"), ("2026-11-19", "v1", 0.88, "def"))

    assert [row["Judges"] for row in table(section, "Agreement by run")] == [
        "set 2 (def)",
        "set 1 (abc)",
    ]


def test_one_run_is_no_trend() -> None:
    assert run_sections.trend(data_of(("2026-11-18", "v1", 0.9, "abc"))) is None
    assert run_sections.trend(Case().data()) is None


def test_cost_is_listed_by_judge_with_its_rate() -> None:
    costs = pd.DataFrame(
        [
            {
                "judge_id": "gpt",
                "model": "gpt-6-luna",
                "n_requests": 210,
                "n_failed": 10,
                "input_tokens": 120_000,
                "output_tokens": 4_000,
                "cost_usd": 0.014,
                "latency_seconds": 0.8214,
            },
            {"judge_id": "local", "model": "llama", "n_requests": 5, "cost_usd": None},
        ]
    )
    section = run_sections.cost(with_tables(Case().data(), judge_costs=costs))
    assert section is not None

    gpt, local = table(section, "Cost by judge and model")
    assert gpt == {
        "Judge": "gpt",
        "Model": "gpt-6-luna",
        "Requests": "210",
        "Failed": "10",
        "Tokens in": "120,000",
        "Tokens out": "4,000",
        "Cost (USD)": "0.0140",
        "Per 1,000 scores": "0.0700",
        "Latency (s)": "0.82",
    }
    assert (local["Cost (USD)"], local["Per 1,000 scores"]) == ("undefined", "undefined")


def test_without_requests_there_is_no_section() -> None:
    assert run_sections.cost(Case().data()) is None
