"""`python -m benchmarks [section ...]`: measure, print and write the pages in results/."""

import argparse
import importlib
import os
import platform
from pathlib import Path

from benchmarks.table import written_between

SECTIONS = (
    "spine",
    "statistics",
    "tuning",
    "judging",
    "overload",
    "labelling",
    "studies",
)
"""Modules of this package, each with a function `table` that measures and returns Markdown."""

SIMULATIONS = (
    "coverage",
    "informative_groups",
    "label_kills",
    "pass_rates",
    "promises",
    "scale",
)
"""Likewise; they run for a quarter of an hour, and only if they are named."""

RESULTS = Path(__file__).with_name("results")
PAGES = {"studies": Path(__file__).parents[1] / "docs" / "studies.md"}
"""Pages elsewhere, whose figures are no times."""


def machine() -> str:
    """Return the machine and versions of the measurement, as a sentence."""
    return (
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores."
    )


def main() -> None:
    """Run the named sections, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("section", nargs="*", help=f"of {', '.join((*SECTIONS, *SIMULATIONS))}")
    sections = parser.parse_args().section or SECTIONS
    if unknown := set(sections).difference(SECTIONS, SIMULATIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}")
    for section in sections:
        table: str = importlib.import_module(f"benchmarks.{section}").table()
        page = PAGES.get(section, RESULTS / f"{section}.md")
        text = table if section in PAGES else f"{table}\n\n{machine()}"
        print(f"\n## {section}\n\n{text}", flush=True)
        written_between(page, section=section, text=text)


if __name__ == "__main__":
    main()
