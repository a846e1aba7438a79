"""Rows of the benchmark tables, and how they are measured and written."""

import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

HALF_A_SECOND = 0.5


@dataclass(frozen=True)
class Row:
    """One line of a benchmark table.

    Attributes:
        work: What was done.
        ours: What it cost here, with its unit.
        peer: What it cost with the peer that is named, in the same run; "" where none can do it.
        ratio: How the two compare; "" without a peer.
        target: What was asked for; "" where nothing was.
        met: Whether the target was met; None without one.
    """

    work: str
    ours: str
    peer: str
    ratio: str
    target: str
    met: bool | None


def seconds(work: Callable[[], object], *, at_least: int = 3) -> float:
    """Least time of several runs, `at_least` so many and for about half a second.

    Other processes disturbed it least.
    """
    runs: list[float] = []
    while len(runs) < at_least or sum(runs) < HALF_A_SECOND:
        started = time.perf_counter()
        work()
        runs.append(time.perf_counter() - started)
    return min(runs)


def peak_bytes(work: Callable[[], object]) -> int:
    """Peak memory allocated by one run, including numpy's arrays."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def duration(value: float) -> str:
    """Seconds in a unit that suits them."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"


def memory(value: float) -> str:
    """Bytes as megabytes."""
    megabytes = value / 1e6
    return f"{megabytes:,.0f} MB" if megabytes >= 100 else f"{megabytes:.3g} MB"


def times(ours: float, peer: float) -> str:
    """Ratio of the peer's cost to ours."""
    return f"{peer / ours:.3g} x"


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| work | ours | peer | peer / ours | target | met |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        met = "" if row.met is None else ("yes" if row.met else "**no**")
        cells = (row.work, row.ours, row.peer, row.ratio, row.target, met)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def written_between(path: Path, *, section: str, text: str) -> None:
    """Replace what stands between the markers of `section` in a file.

    Raises:
        ValueError: If the file has no such markers.
    """
    start, end = f"<!-- {section} -->", f"<!-- end of {section} -->"
    whole = path.read_text(encoding="utf-8")
    before, found_start, rest = whole.partition(start)
    _, found_end, after = rest.partition(end)
    if not (found_start and found_end):
        raise ValueError(f"{path.name} needs the lines {start} and {end}")
    path.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", encoding="utf-8")
