"""Ten raters, three for each response, from `assign` to the verdict of the gates.

As in docs/labelling.md: a calibration, five raters in browsers and five in terminals. One leaves
half-way, and the others take over.
"""

import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from eval_assets.labelling.session_files import SessionFolder
from eval_assets.stats import human_agreement
from eval_assets.store.connection import connect
from tests.browser.conftest import new_context
from tests.browser.serving import Serving
from tests.browser.test_labelling import PHONE, SAVED, WIDE
from tests.browser.test_walkthrough import PAGE
from tests.e2e.conftest import clean_environment
from tests.terminal import Terminal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

N_RESPONSES = 40
RATERS = [f"r{number}" for number in range(1, 11)]
IN_BROWSER, IN_TERMINAL = RATERS[:5], RATERS[5:]
LEAVES = "r4"
HALF = 6
DECLARED = f"""\
name: team
rubric:
  - {{id: helpful, question: How helpful is the response?, scale: likert5}}
labelling: {{raters: [{", ".join(RATERS)}], calibration: gold.csv}}
"""
TEXT = re.compile(r"(text|gold) (\d+)")


@dataclass
class Team:
    """The raters, what each answers, and what they gave.

    Args:
        programs: The folder of the program.
        folder: The evaluation folder.
    """

    programs: Path
    folder: Path
    rng: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311
    labels: dict[tuple[str, str], int] = field(default_factory=dict)

    def write(self) -> None:
        """Write the evaluation and the gold answers."""
        self.folder.mkdir()
        (self.folder / "evaluation.yaml").write_text(DECLARED)
        header = "response_id,prompt_text,response_text"
        rows = [f"a{n},Prompt,text {n},m" for n in range(N_RESPONSES)]
        (self.folder / "responses.csv").write_text("\n".join([f"{header},model_name", *rows, ""]))
        gold = "g2,Ask,gold 2,2\ng4,Ask,gold 4,4\n"
        (self.folder / "gold.csv").write_text(f"{header},helpful\n{gold}")

    def key(self, rater: str, screen: str) -> str:
        """Return the key for the response on a screen: the truth, or a value beside it."""
        kind, digits = TEXT.findall(screen)[-1]
        number = int(digits)
        if kind != "text":
            return str(number)
        truth = 1 + number % 5
        rating = truth if self.rng.random() < 0.8 else truth + self.rng.choice((-1, 1))
        self.labels[rater, f"a{number}"] = min(5, max(1, rating))
        return str(self.labels[rater, f"a{number}"])

    def call(self, command: str, *arguments: str) -> str:
        """Run a command, all of whose options docs/labelling.md has, and return its output."""
        page = PAGE.read_text("utf-8")
        options = [argument for argument in arguments if argument.startswith("--")]
        assert all(word in page for word in (f"eval-assets {command}", *options))
        done = subprocess.run(
            [self.programs / "eval-assets", command, "--data", str(self.folder), *arguments],
            env=clean_environment(),
            cwd=self.folder.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def on_page(team: Team, rater: str, page: "Page", *, most: int) -> None:
    """Label on a page until all is done, or that many."""
    for _ in range(most):
        if page.locator("#done").is_visible():
            return
        before = page.inner_text("#progress-text")
        page.keyboard.press(team.key(rater, page.inner_text("#responses")))
        page.get_by_text(before, exact=True).wait_for(state="detached")


class BrowserRater:
    """A rater with a link."""

    def __init__(self, team: Team, rater: str, browser: "Browser", link: str) -> None:
        self._team, self._rater, self._link = team, rater, link
        self._context = new_context(browser, **(PHONE if rater == "r1" else WIDE))

    def calibrate(self) -> None:
        """Answer the calibration, and see the result."""
        page = self._open()
        for text in ("1 of 2 done", "2 of 2 done"):
            page.keyboard.press(self._team.key(self._rater, page.inner_text("#responses")))
            page.get_by_text(text).wait_for()
        page.locator("#all-saved").wait_for()
        page.keyboard.press("q")
        page.get_by_text("2 of 2 matched").wait_for()
        page.close()

    def label(self, most: int) -> None:
        """Open the link and label."""
        page = self._open()
        on_page(self._team, self._rater, page, most=most)
        page.wait_for_selector(SAVED, state="attached")
        page.close()

    def close(self) -> None:
        """Close the browser."""
        self._context.close()

    def _open(self) -> "Page":
        page = self._context.new_page()
        page.goto(self._link)
        page.wait_for_selector("body.ready")
        return page


class TerminalRater:
    """A rater in a terminal."""

    def __init__(self, team: Team, rater: str) -> None:
        self._team, self._rater = team, rater

    def calibrate(self) -> None:
        """Answer the calibration, and stop before the first response."""
        with self._terminal() as terminal:
            self._answer(terminal, most=2)
            terminal.expect("All done")
            terminal.press("\n")
            terminal.expect("2 of 2 matched")
            terminal.expect("← →")
            terminal.press("q")
            assert terminal.exit_code() == 0

    def label(self, most: int) -> None:
        """Label until all is done, or that many."""
        with self._terminal() as terminal:
            self._answer(terminal, most=most)

    def close(self) -> None:
        """Do nothing: the program has ended."""

    def _answer(self, terminal: Terminal, *, most: int) -> None:
        n_left = most
        while n_left and "All done" not in terminal.expect("All done|← →"):
            terminal.answer(self._team.key(self._rater, terminal.shown))
            terminal.expect("Saved: ")
            n_left -= 1

    def _terminal(self) -> Terminal:
        folder, program = self._team.folder, self._team.programs / "eval-assets"
        command = [str(program), "label", "--data", str(folder), "--rater", self._rater]
        return Terminal(command, environment=clean_environment(), folder=folder)


@pytest.fixture
def team(tmp_path: Path, program_folder: Path) -> Team:
    result = Team(program_folder, tmp_path / "team")
    result.write()
    return result


@pytest.fixture
def served(team: Team) -> Iterator[Serving]:
    serving = Serving(team.programs, team.folder, "--labels", "--lead")
    yield serving
    serving.kill()


def test_ten_raters_label_from_assignments_to_the_gate(
    team: Team, served: Serving, browser: "Browser"
) -> None:
    team.call("assign", "--raters-per-response", "3")
    raters: dict[str, BrowserRater | TerminalRater] = {
        **{name: BrowserRater(team, name, browser, served.links[name]) for name in IN_BROWSER},
        **{name: TerminalRater(team, name) for name in IN_TERMINAL},
    }
    for rater in raters.values():
        rater.calibrate()
    for rater in raters.values():
        rater.label(HALF)
    output = team.call("assign", "--reassign", LEAVES)
    assert re.match(rf"Reassigned from {LEAVES}: (5|6|7)\n", output)
    for name, rater in raters.items():
        if name != LEAVES:
            rater.label(N_RESPONSES)
        rater.close()

    printed = team.call("run")
    assert_every_label_is_stored(team)
    assert_gate_is_decided_by_them(team)
    assert_calibrations_are_stored(team)
    assert "Can we trust our labels?" in printed


def assert_every_label_is_stored(team: Team) -> None:
    """Every label that was given is stored once, three for each response, and nothing else."""
    with connect(team.folder / "out" / "eval.duckdb", is_reading=True) as connection:
        rows = connection.execute(
            "SELECT rater_id, response_id, value FROM human_labels"
        ).fetchall()
    assert {(rater, name): value for rater, name, value in rows} == team.labels
    assert len(rows) == 3 * N_RESPONSES
    assert {*Counter(name for _, name, _ in rows).values()} == {3}
    assert {rater for rater, _, _ in rows} == {*RATERS}


def assert_gate_is_decided_by_them(team: Team) -> None:
    """The gate compares the agreement of what was given with its minimum."""
    ratings = np.full((N_RESPONSES, len(RATERS)), np.nan)
    for (rater, name), rating in team.labels.items():
        ratings[int(name[1:]), RATERS.index(rater)] = rating
    expected = human_agreement(ratings, low=1, high=5)
    with connect(team.folder / "out" / "eval.duckdb", is_reading=True) as connection:
        [(value, verdict)] = connection.execute(
            """SELECT value, verdict FROM gate_verdicts
               WHERE gate = 'human_a_hh' AND question_id IS NULL"""
        ).fetchall()
    assert value == pytest.approx(expected, abs=1e-12)
    assert verdict == "pass"
    assert expected > 0.75


def assert_calibrations_are_stored(team: Team) -> None:
    with connect(team.folder / "out" / "eval.duckdb", is_reading=True) as connection:
        rows = connection.execute(
            "SELECT value FROM label_quality WHERE measure = 'calibration'"
        ).fetchall()
    assert rows == 10 * [(1,)]
    sessions = SessionFolder(team.folder).all()
    assert sum(len(session.labels) for session in sessions) == 3 * N_RESPONSES
