"""docs/operating.md, done in Dagster's UI: a closed gate, its alerts, mended labels, recovery."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.header import decode_header, make_header
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import new_context
from tests.e2e.conftest import clean_environment
from tests.receivers import Received, mailbox, webhook

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

TOP = Path(__file__).parents[2]
GUIDE = TOP / "docs" / "operating.md"
PICTURES = TOP / "docs" / "images"
MOST_BYTES = 150_000
LONGEST_SECONDS = 900
"""How long a condition may take before the test gives up, on a machine that is busy."""

IDLE = "about:blank"
"""What the browser shows while nobody looks: pages of the UI move while a run does."""

GATES = ("human_agreement/human_a_hh", "human_agreement/human_alpha")


def await_that(condition: Callable[[], object], process: "subprocess.Popen[bytes]") -> None:
    """Wait until a condition holds, as long as the UI runs."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while not condition():
        assert process.poll() is None, "the UI has ended"
        assert time.monotonic() < deadline
        time.sleep(0.5)


def link_checkout(folder: Path, programs: Path) -> None:
    """Link what make needs, with programs that import nothing."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        (folder / name).symlink_to(TOP / name)
    (folder / ".venv").mkdir()
    (folder / ".venv" / "bin").symlink_to(programs)
    (folder / ".venv" / "installed").touch()


class Ui:
    """`make ui` as a process of its own, on a copy of two evaluations.

    Args:
        folder: Where the copy is made.
        programs: The folder of programs.
        environment: Variables that name the channels of alerts.
    """

    def __init__(self, folder: Path, programs: Path, environment: dict[str, str]) -> None:
        self.data = folder / "data"
        link_checkout(folder, programs)
        for name in ("dagster.yaml", "workspace.yaml"):
            shutil.copy(TOP / name, folder)
        for name in ("sample", "contested"):
            ignored = shutil.ignore_patterns("out", "ledger*")
            shutil.copytree(TOP / "data" / name, self.data / name, ignore=ignored)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.log = folder / "log"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                ["make", "ui", "EVAL_DATA=data", f"PORT={port}"],
                cwd=folder,
                env=clean_environment() | environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def is_ready(self) -> bool:
        """Whether the code location is loaded."""
        query = "{workspaceOrError{... on Workspace{locationEntries{loadStatus}}}}"
        try:
            entries = self.ask(query)["workspaceOrError"]["locationEntries"]
        except (urllib.error.URLError, ConnectionError):
            return False
        return [entry["loadStatus"] for entry in entries] == ["LOADED"]

    def ask(self, query: str) -> Any:
        """Return what the UI's own interface answers."""
        request = urllib.request.Request(  # noqa: S310 - loopback
            f"{self.address}/graphql",
            data=json.dumps({"query": query}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as reply:  # noqa: S310
            return json.load(reply)["data"]

    def states_of_runs(self) -> list[str]:
        """Return the states of all runs, latest first."""
        runs = self.ask("{runsOrError{... on Runs{results{status}}}}")["runsOrError"]["results"]
        return [run["status"] for run in runs]

    def end(self) -> None:
        """End it as an operator does, with TERM."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()


@contextmanager
def user_interface(folder: Path, programs: Path, posts: Received, mails: Received) -> Iterator[Ui]:
    """Yield the UI, whose alerts go to the two receivers."""
    ui = Ui(folder, programs, {"EVAL_ALERT_URLS": f"{posts.address} {mails.address}"})
    try:
        await_that(ui.is_ready, ui.process)
        yield ui
    finally:
        ui.end()


def picture(page: "Page", name: str, folder: Path) -> None:
    """Take a picture, for the documentation if EVAL_ASSETS_PICTURES is set."""
    path = (PICTURES if os.environ.get("EVAL_ASSETS_PICTURES") else folder) / f"{name}.png"
    page.screenshot(path=path)
    assert 0 < (PICTURES / path.name).stat().st_size < MOST_BYTES
    assert f"images/{name}.png" in GUIDE.read_text("utf-8")


def materialize_all(page: "Page", ui: Ui) -> str:
    """Click on "Materialize all" in the lineage, which is open, and return how the run ended."""
    n_before = len(ui.states_of_runs())
    page.get_by_role("button", name="Materialize all").click()
    await_that(lambda: len(ui.states_of_runs()) > n_before, ui.process)
    page.goto(IDLE)
    await_that(lambda: ui.states_of_runs()[0] in {"SUCCESS", "FAILURE"}, ui.process)
    return ui.states_of_runs()[0]


def titles(received: Received) -> list[str]:
    """Return the title of every alert that arrived."""
    posts = [json.loads(body)["title"] for body in received.bodies]
    return posts + [str(make_header(decode_header(mail["Subject"]))) for mail in received.mails]


def test_a_folder_without_evaluations_starts_no_ui_and_is_not_made(
    tmp_path: Path, program_folder: Path
) -> None:
    link_checkout(tmp_path, program_folder)
    done = subprocess.run(
        ["make", "ui", "EVAL_DATA=data/smaple"],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "EVAL_DATA: data/smaple holds no evaluation.yaml" in done.stdout
    assert not (tmp_path / "data").exists()


def test_a_closed_gate_is_shown_and_reported_and_recovers_once(
    tmp_path: Path, program_folder: Path, browser: "Browser"
) -> None:
    context = new_context(browser, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    with (
        webhook(refusing=1) as posts,
        mailbox(refusing=1) as mails,
        user_interface(tmp_path, program_folder, posts, mails) as ui,
    ):
        page.goto(f"{ui.address}/locations/eval_assets/sensors/check_alerts")
        page.locator("input[type=checkbox]:checked").first.wait_for(state="attached")

        page.goto(f"{ui.address}/asset-groups")
        assert materialize_all(page, ui) == "FAILURE"
        closed(page, ui, tmp_path)
        page.goto(IDLE)
        await_that(lambda: (len(posts.bodies), len(mails.mails)) == (2, 2), ui.process)
        contested = "autonomy-and-agency-contested"
        failed = [f"{contested}: contested/{gate} failed" for gate in GATES]
        assert titles(posts) == titles(mails) == failed
        message = json.loads(posts.bodies[0])["message"]
        assert message.startswith("0.70 is below the minimum 0.75")
        assert f"{ui.address}/assets/contested/human_agreement?view=checks&checkDetail=" in message

        shutil.copy(ui.data / "sample" / "labels.csv", ui.data / "contested")
        page.goto(f"{ui.address}/asset-groups")
        for group in ("sample_agreement", "contested_agreement"):
            page.get_by_text(group, exact=True).first.wait_for()
        picture(page, "ui-lineage", tmp_path)
        assert materialize_all(page, ui) == "SUCCESS"
        await_that(lambda: (len(posts.bodies), len(mails.mails)) == (4, 4), ui.process)
        passed = [f"{contested}: contested/{gate} passed (was failed)" for gate in GATES]
        assert titles(posts) == titles(mails) == failed + passed
        recovered(page, ui, tmp_path)
    context.close()


def closed(page: "Page", ui: Ui, folder: Path) -> None:
    """What the pages of assets show while the gate is closed."""
    open_checks(page, ui)
    page.get_by_text("0.70 is below the minimum 0.75").first.wait_for()
    page.get_by_text("This is a blocking asset check").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    picture(page, "ui-check", folder)

    page.goto(f"{ui.address}/assets/contested/judge_splits?view=events")
    page.get_by_text("Not run. Gate human_").first.wait_for()
    picture(page, "ui-blocked", folder)


def open_checks(page: "Page", ui: Ui) -> None:
    """Open the checks of human_agreement as a person does, by the tab: its address opens empty."""
    page.goto(f"{ui.address}/assets/contested/human_agreement")
    page.get_by_text("Latest materialization").first.wait_for()
    page.get_by_text("Checks", exact=True).first.click()


def recovered(page: "Page", ui: Ui, folder: Path) -> None:
    """What the pages show after the labels were given again."""
    open_checks(page, ui)
    page.get_by_text("0.88 reaches the minimum 0.75").first.wait_for()
    picture(page, "ui-recovered", folder)
