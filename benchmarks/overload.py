"""Live judges of an overloaded vendor, beside the same run without overload."""

import tempfile
from functools import partial
from pathlib import Path

from benchmarks.judging import judge_units, measured, new_ledger, new_units, ready_judges, serving
from benchmarks.table import Row, duration, markdown
from eval_assets.config.judges import Judge

N_UNITS = 500
N_IN_FLIGHT = 64
LATENCY_SECONDS = 0.2
TARGETS = {"overloaded=0.05": 2.0, "overloaded=0.2": 4.0, "rate_limit_without_hint=0.2": 4.0}
"""Kinds and shares of refusals without a wait, and how many times the time they may take."""


def table() -> str:
    """Measure a run of two judges with each share of refusals."""
    without = min(_seconds() for _ in range(2))
    rows = [
        Row(
            work=f"{N_UNITS} units, two judges, {LATENCY_SECONDS:g} s a reply, {N_IN_FLIGHT} in "
            "flight each",
            ours=duration(without),
            peer="",
            ratio="",
            target="",
            met=None,
        )
    ]
    for faults, most in TARGETS.items():
        took = _seconds(faults)
        kind, share = faults.split("=")
        rows.append(
            Row(
                work=f"the same, {100 * float(share):g} % refused: {kind}",
                ours=duration(took),
                peer="",
                ratio=f"{took / without:.2f} x the time without",
                target=f"at most {most:g} x",
                met=took <= most * without,
            )
        )
    return markdown(rows)


def _seconds(faults: str = "") -> float:
    """Return the time of a run; every unit gets a score."""
    with (
        serving(latency_seconds=LATENCY_SECONDS, faults=faults) as environ,
        tempfile.TemporaryDirectory() as name,
        new_ledger(Path(name)) as ledger,
    ):
        judges = ready_judges(
            environ,
            Judge("gpt", "openai", "gpt-6-luna", max_in_flight=N_IN_FLIGHT),
            Judge("haiku", "anthropic", "claude-haiku-5-5", max_in_flight=N_IN_FLIGHT),
        )
        judge_units(new_units(1, named="warm"), judges, ledger)
        return measured(partial(judge_units, new_units(N_UNITS), judges, ledger)).wall_seconds
