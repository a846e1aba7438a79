"""docs/labelling.md, done by two people: one in the terminal, one on a phone, both interrupted."""

import csv
import html
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.session_files import SessionFolder
from eval_assets.labelling.study import Study
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.labelling_inputs import read_assignments
from eval_assets.readers.responses import read_responses
from eval_assets.store.connection import connect
from tests.browser.conftest import new_context
from tests.browser.serving import Serving
from tests.browser.test_labelling import PHONE, SAVED
from tests.e2e.conftest import clean_environment
from tests.terminal import Terminal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

TOP = Path(__file__).parents[2]
PAGE = TOP / "docs" / "labelling.md"
PICTURES = TOP / "docs" / "images"
MOST_BYTES = 120_000
"""Size of a picture; five of them are in the documentation."""

SELECTED = "+human_agreement,+label_disagreements"

Given = Mapping[tuple[str, str], str]
"""Ratings of one rater of the sample, by response and question."""


def prepared(top: Path, programs: Path) -> Path:
    """The evaluation that the first block of the page makes from data/sample."""
    shutil.copytree(TOP / "data" / "sample", top / "data" / "sample")
    block = re.search(r"^```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert block is not None
    path = f"{programs}:{os.environ['PATH']}"
    environment = clean_environment() | {"PATH": path}
    subprocess.run(["bash", "-euc", block[1]], cwd=top, env=environment, check=True)
    return top / "autonomy"


def given_by(rater: str) -> Given:
    with (TOP / "data" / "sample" / "labels.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["rater_id"] == rater]
    return {(row["response_id"], row["question_id"]): row["rating"] for row in rows}


def keys_of(folder: Path, rater: str, value: Given) -> list[str]:
    """The key for each unit in the rater's order; what the sample leaves unrated is a 1."""
    evaluation = read_evaluation(folder)
    shown = response_views(evaluation, read_responses(evaluation))
    study = Study(evaluation, shown, read_assignments(evaluation))
    keys = []
    for unit in study.queue(rater).units:
        rating = value[unit.response.response_id, unit.question.id] or "1"
        keys.append({"1": "y", "0": "n"}[rating] if unit.question.scale.is_binary else rating)
    return keys


def labelled(folder: Path, rater: str) -> int:
    sessions = SessionFolder(folder).all()
    return sum(len(session.labels) for session in sessions if session.key.rater_id == rater)


def picture(page: "Page", name: str, folder: Path) -> None:
    """Take a picture, for the documentation if EVAL_ASSETS_PICTURES is set."""
    path = (PICTURES if os.environ.get("EVAL_ASSETS_PICTURES") else folder) / f"{name}.png"
    place = page.locator("pre") if page.locator("pre").count() else page
    place.screenshot(path=path)
    assert 0 < (PICTURES / path.name).stat().st_size < MOST_BYTES
    assert f"images/{name}.png" in PAGE.read_text("utf-8")


def test_two_people_label_the_sample_and_lose_nothing(
    tmp_path: Path, program_folder: Path, browser: "Browser"
) -> None:
    folder = prepared(tmp_path, program_folder)
    in_terminal(folder, program_folder, keys_of(folder, "anna", given_by("r1")), browser)
    on_phone(folder, program_folder, keys_of(folder, "ben", given_by("r2")), browser)
    assert (labelled(folder, "anna"), labelled(folder, "ben")) == (36, 36)

    run(folder, program_folder)
    with connect(folder / "out" / "eval.duckdb") as connection:
        [[n_labels]] = connection.execute("SELECT count(*) FROM human_labels").fetchall()
        [[n_pairs]] = connection.execute(
            "SELECT n_pairs FROM human_agreement WHERE scope = 'overall'"
        ).fetchall()
    assert (n_labels, n_pairs) == (72, 36)

    adjudicated(folder, program_folder, browser)
    run(folder, program_folder)
    with connect(folder / "out" / "eval.duckdb") as connection:
        settled = connection.execute(
            "SELECT source, value FROM reference_values WHERE source = 'consensus'"
        ).fetchall()
        [[n_again]] = connection.execute("SELECT count(*) FROM human_labels").fetchall()
    assert len(settled) == 1
    assert n_again == 72


def run(folder: Path, programs: Path) -> None:
    """Measure agreement; on so few labels a gate may stay closed."""
    command = [str(programs / "eval-assets"), "run", "--data", str(folder), "--select", SELECTED]
    done = subprocess.run(
        command, env=clean_environment(), cwd=folder.parent, capture_output=True, check=False
    )
    assert done.returncode in {0, 3}, done.stderr.decode()


def in_terminal(folder: Path, programs: Path, keys: list[str], browser: "Browser") -> None:
    """Anna labels, is killed after ten labels, and goes on."""
    command = [str(programs / "eval-assets"), "label", "--data", str(folder), "--rater", "anna"]
    start, shown = 0, ""
    for stop in (10, len(keys)):
        with Terminal(command, environment=clean_environment(), folder=folder) as terminal:
            for place in range(start, stop):
                terminal.expect(f"Scenario {place + 1}/{len(keys)}")
                terminal.expect("← →")
                terminal.answer(keys[place])
                terminal.expect("Saved: ")
            shown = shown or terminal.shown
            terminal.kill()
        assert labelled(folder, "anna") == stop
        start = stop
    page = browser.new_page(viewport={"width": 720, "height": 420})
    text = re.sub("\x1b\\[[0-9;]*m", "", shown).replace("\r", "")
    screen = "── Scenario 9/" + text.split("── Scenario 9/")[1].split("── Scenario 10/")[0]
    style = "margin:0;padding:16px;background:#12171c;color:#e8edf2;font:14px/1.4 monospace"
    page.set_content(f'<body style="margin:0"><pre style="{style}">{html.escape(screen)}</pre>')
    picture(page, "terminal", folder.parent)
    page.close()


def on_phone(folder: Path, programs: Path, keys: list[str], browser: "Browser") -> None:
    """Ben labels on a phone; both the server and the browser are killed, and he goes on."""
    serving = Serving(programs, folder, "--labels", "--lead")
    try:
        for start, stop in ((0, 14), (14, len(keys))):
            context = new_context(browser, **PHONE)
            page = context.new_page()
            page.goto(serving.links["ben"])
            page.wait_for_selector("body.ready")
            page.get_by_text(f"{start} of {len(keys)} done").wait_for()
            for place in range(start, stop):
                tap(page, keys[place])
                page.wait_for_selector(SAVED, state="attached")
                if place == 3:
                    picture(page, "phone", folder.parent)
            context.close()
            serving.kill()
            assert labelled(folder, "ben") == stop
            serving.start()
        wide(serving, browser, folder)
    finally:
        serving.kill()


def tap(page: "Page", key: str) -> None:
    name = {"y": "Yes", "n": "No"}.get(key, key)
    page.locator("#choices").get_by_role("button", name=re.compile(rf"^{name}\b")).tap()


def wide(serving: Serving, browser: "Browser", folder: Path) -> None:
    """A picture of the screen as one rater sees it at a desk."""
    context = new_context(browser, viewport={"width": 1100, "height": 640})
    page = context.new_page()
    page.goto(serving.links["anna"])
    page.wait_for_selector("body.ready")
    page.keyboard.press("ArrowLeft")
    picture(page, "browser", folder.parent)
    context.close()


def adjudicated(folder: Path, programs: Path, browser: "Browser") -> None:
    """The lead settles the worst disagreement."""
    serving = Serving(programs, folder, "--lead")
    context = new_context(browser, viewport={"width": 900, "height": 640})
    page: Any = context.new_page()
    try:
        page.goto(serving.links["(lead)"])
        picture(page, "lead", folder.parent)
        page.get_by_role("link", name="Disagreements", exact=True).click()
        page.get_by_label("Who adjudicates").fill("lea")
        page.get_by_role("button", name="Continue").click()
        page.locator("main ol a").first.click()
        page.locator("input[name=value]").first.check()
        page.get_by_role("button", name="Save my rating").click()
        picture(page, "adjudication", folder.parent)
        settle = page.locator("form").filter(has_text="Consensus")
        settle.locator("input[name=value]").first.check()
        settle.get_by_label("Why").fill("The response decides for the user.")
        settle.get_by_role("button", name="Settle").click()
        page.get_by_text("by lea: The response decides").wait_for()
    finally:
        context.close()
        serving.kill()
