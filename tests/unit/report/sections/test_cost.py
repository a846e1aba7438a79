"""Cost of the judges; a cost that nobody knows is undefined."""

import pandas as pd

from eval_assets.report.sections import cost
from tests.unit.report.builder import Case, with_tables
from tests.unit.report.reading import table


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
    section = cost.section(with_tables(Case().data(), judge_costs=costs))
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
    assert cost.section(Case().data()) is None
