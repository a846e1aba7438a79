"""Scores of two live judges whose replies are all stored, collected into DuckDB."""

import math
import sys
import tempfile
from pathlib import Path

from benchmarks.scale import MOST_MEMORY, Size, measured, write
from benchmarks.table import Row, duration, markdown, memory, times

N_UNITS = (50_000, 200_000, 1_000_000)

_JUDGES = """judges:
  - {id: gpt, provider: openai, model: gpt-6-luna}
  - {id: haiku, provider: anthropic, model: claude-haiku-5-5}
"""
_COLLECT = """
import sys
from eval_assets.cli.main import main
from eval_assets.ledger import Reply
from eval_assets.store.ledger.workers import Worker

def replies(worker, keys):
    texts = ['{"rationale": "Made up.", "score": %d}' % score for score in range(1, 6)]
    return {key: Reply(texts[ord(key[0]) % 5], "ok") for key in keys}

Worker.replies = replies
sys.argv[1:] = ["run", "--data", sys.argv[1], "--select", "+judge_scores"]
main()
"""
_KEYS = {"OPENAI_API_KEY": "sk-benchmark", "ANTHROPIC_API_KEY": "sk-benchmark"}


def table() -> str:
    """Measure each size in a process of its own."""
    costs = {n: _cost(n) for n in N_UNITS}
    least, _ = costs[N_UNITS[0]]
    return markdown(
        [
            Row(
                work=f"judge_scores of {n:,} units by 2 live judges, from stored replies",
                ours=f"{duration(seconds)}, {memory(peak)}",
                peer=f"{n // N_UNITS[0]} x {duration(least)}",
                ratio=times(seconds, n // N_UNITS[0] * least),
                target="under 1,000 MB",
                met=peak < MOST_MEMORY,
            )
            for n, (seconds, peak) in costs.items()
        ]
    )


def _cost(n_units: int) -> tuple[float, float]:
    """Return processor seconds and peak bytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, Size(n_units, 1, 0, math.inf))
        with (folder / "evaluation.yaml").open("a", encoding="utf-8") as declared:
            declared.write(_JUDGES)
        seconds, peak, _ = measured([sys.executable, "-c", _COLLECT, name], **_KEYS)
    return seconds, peak
