"""Agreement over runs: newest first, one row per version of the data."""

import pandas as pd

from eval_assets.render.document import Section
from eval_assets.report.data import ReportData
from eval_assets.report.sections import runs as run_sections
from tests.unit.report.builder import Case, with_tables
from tests.unit.report.lookup import table

Run = tuple[str, str, float, str]
"""When it was measured, version of the data, A^HH, set of judges."""


def data_of(*runs: Run) -> ReportData:
    rows = [
        {
            "run_id": f"run-{measured_at}",
            "measured_at": measured_at,
            "a_hh": a_hh,
            "alpha": 0.81,
            "judge_alpha": 0.83,
            "data_version": version,
            "judge_set_fingerprint": judges,
        }
        for measured_at, version, a_hh, judges in runs
    ]
    return with_tables(Case().data(), agreement_history=pd.DataFrame(rows))


def section_of(*runs: Run) -> Section:
    section = run_sections.trend(data_of(*runs))
    assert section is not None
    return section


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
