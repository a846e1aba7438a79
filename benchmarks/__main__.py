"""`python -m benchmarks [section ...]`: measure, print and write benchmarks/README.md."""

import argparse
import importlib
import os
import platform
from pathlib import Path

from benchmarks.table import written_between

SECTIONS = ("statistics", "coverage", "judging")
"""Modules of this package, each with a function `table` that measures and returns Markdown."""

README = Path(__file__).with_name("README.md")


def main() -> None:
    """Run the sections that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("section", nargs="*", choices=[*SECTIONS, []], help="default: all")
    machine = (
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores"
    )
    for section in parser.parse_args().section or SECTIONS:
        table: str = importlib.import_module(f"benchmarks.{section}").table()
        text = f"{table}\n\n{machine}."
        print(f"\n## {section}\n\n{text}", flush=True)
        written_between(README, section=section, text=text)


if __name__ == "__main__":
    main()
