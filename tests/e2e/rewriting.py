"""Imports and measures two states of an evaluation in turn, until it is killed; again when told.

Run as a module by test_robust.py, with the evaluation folder as its argument. For every line on
stdin, a number of seconds, a child process starts rewriting and is killed after that long.
"""

import os
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

import dagster as dg

from eval_assets.assets.agreement import human_agreement
from eval_assets.assets.inputs import model_responses, rubric_questions
from eval_assets.assets.judging import judge_scores, scored
from eval_assets.assets.labelling import human_labels, label_disagreements
from eval_assets.assets.resources import EvaluationFolder

IMPORTS = (rubric_questions, model_responses, judge_scores)
MEASURES = (human_labels, label_disagreements, human_agreement)


def take(folder: Path, state: str) -> None:
    """Put one state's labels in place and bring everything that rests on them up to date."""
    changing = folder / "labels.tmp"
    changing.write_bytes((folder / f"{state}.labels").read_bytes())
    changing.replace(folder / "labels.csv")
    for asset in MEASURES:
        asset(folder=EvaluationFolder.at(folder))


def rewrite_for_ever(folder: Path) -> NoReturn:
    """Take the two states in turn."""
    for asset in (rubric_questions, model_responses):
        asset(folder=EvaluationFolder.at(folder))
    scored(EvaluationFolder.at(folder), dg.DagsterRun("rewriting"))
    while True:
        take(folder, "a")
        take(folder, "b")


def main() -> None:
    """Start and kill one child for every line on stdin."""
    print("ready", flush=True)  # noqa: T201 - read by the test
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            rewrite_for_ever(Path(sys.argv[1]))
        time.sleep(float(line))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        print(os.WTERMSIG(status), flush=True)  # noqa: T201 - read by the test


if __name__ == "__main__":
    main()
