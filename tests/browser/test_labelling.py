"""Labelling in a real browser: with keys, on a phone, by everybody, and losing nothing."""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from eval_assets.cli.init import init
from eval_assets.cli.serve import serve
from eval_assets.cli.study_files import read_study
from eval_assets.labelling.rater_queue import now
from eval_assets.labelling.session_files import SessionFolder, session_json
from eval_assets.labelling.sessions import Answer
from tests.browser.conftest import (
    CHROMIUM,
    follow,
    new_context,
    violations,
    violations_by_day_and_night,
)
from tests.browser.serving import ATTACK, DECLARED, Serving, write_evaluation

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Route

pytestmark = pytest.mark.slow

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
WIDE: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
SAVED = "#status[data-state=saved]"

Opened = Callable[..., "Page"]


@pytest.fixture
def served(tmp_path: Path, program_folder: Path) -> Iterator[Serving]:
    """A server of an evaluation with four responses, one of which attacks."""
    folder = tmp_path / "data"
    write_evaluation(folder, ["Short.", ATTACK, "Word " * 300, "Line\n" * 90])
    serving = Serving(program_folder, folder, "--labels", "--lead")
    yield serving
    serving.kill()


@pytest.fixture
def opened(browser: "Browser") -> Iterator[Opened]:
    """Open a page in a context of its own; nothing may go wrong in it."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_page(link: str, **context: Any) -> "Page":
        contexts.append(new_context(browser, **(context or WIDE)))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(link)
        page.wait_for_selector("body.ready")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def labels(
    folder: Path, question: str, rater: str = "anna", *, run: str = ""
) -> list[dict[str, Any]]:
    session = SessionFolder(folder).find(f"{rater}+{question}+r1{run}")
    return session_json(session)["labels"] if session else []


def page_with_profile(browser: "Browser", profile: Path, link: str) -> "Page":
    """Open a page in a browser of its own, whose data stay in a folder."""
    context = browser.browser_type.launch_persistent_context(
        profile, executable_path=CHROMIUM, args=["--no-sandbox"]
    )
    page = context.pages[0]
    page.goto(link)
    page.wait_for_selector("body.ready")
    return page


def kill_browser(profile: Path) -> None:
    """End the browser with this profile as `kill -9` does, all of its processes at once."""
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if f"--user-data-dir={profile}" in command.read_text():
                os.kill(int(command.parent.name), signal.SIGKILL)
    for lock in profile.glob("Singleton*"):
        lock.unlink()


def progress(page: "Page") -> str:
    text: str = page.inner_text("#progress-text")
    return text


def press(page: "Page", keys: str) -> None:
    """Press keys, and wait after each until it is saved."""
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_selector(SAVED, state="attached")


def test_one_key_is_one_label(served: Serving, opened: Opened) -> None:
    page = opened(served.links["anna"])
    press(page, "4251ynyn")

    page.wait_for_selector("#done:not([hidden])")
    assert [label["rating"] for label in labels(served.folder, "helpful")] == [4, 2, 5, 1]
    assert [label["rating"] for label in labels(served.folder, "correct")] == [1, 0, 1, 0]
    assert all(label["seconds"] is not None for label in labels(served.folder, "helpful"))


def test_a_phone_needs_no_keys(served: Serving, opened: Opened) -> None:
    page = opened(served.links["anna"], **PHONE)
    page.get_by_role("button", name="4", exact=True).tap()
    page.wait_for_selector(SAVED, state="attached")
    page.get_by_role("button", name="Unclear").tap()
    page.get_by_role("button", name="Something is missing").tap()
    page.get_by_text("2 of 8 done").wait_for()
    page.wait_for_selector(SAVED, state="attached")

    first, second = labels(served.folder, "helpful")
    assert first["rating"] == 4
    assert (second["skipped"], second["skipReason"]) == (True, "something is missing")


def test_work_opens_in_the_page_after_the_calibration(
    tmp_path: Path, program_folder: Path, opened: Opened, axe: str
) -> None:
    folder = tmp_path / "data"
    declared = DECLARED.replace("show:", "calibration: gold.csv, show:")
    write_evaluation(folder, ["One.", "Two."], declared=declared)
    header = "response_id,prompt_text,response_text,topic,captures,helpful"
    rows = "g1,Ask,Gold one,,,4\ng2,Ask,Gold two,,,4\n"
    (folder / "gold.csv").write_text(f"{header}\n{rows}")
    serving = Serving(program_folder, folder, "--labels", "--lead")
    try:
        page = opened(serving.links["anna"], bypass_csp=True, **PHONE)
        assert "2 responses with known answers" in page.inner_text("#notice")
        page.keyboard.press("4")
        page.get_by_text("1 of 2 done").wait_for()
        page.keyboard.press("1")
        page.get_by_text("2 of 2 done").wait_for()
        page.keyboard.press("u")
        page.get_by_text("1 of 2 done").wait_for()
        page.keyboard.press("4")
        page.locator("#all-saved").wait_for()
        page.get_by_role("button", name="Finish and see the result").click()
        page.get_by_text("Calibration, round 1: 2 of 2 matched.").wait_for()
        page.wait_for_selector("body.ready")
        assert progress(page) == "0 of 4 done"
        assert violations(page, axe) == []
        press(page, "35")
        assert [label["rating"] for label in labels(folder, "helpful")] == [3, 5]
        page.goto(serving.links["(lead)"])
        lead = page.inner_text("main")
        assert "ben: round 1, 0 of 2 answered, 0 matched" in lead
        assert "anna: round 1" not in lead
    finally:
        serving.kill()


def test_disagreements_are_discussed_and_adjudicated_with_both_ratings(
    tmp_path: Path, program_folder: Path, opened: Opened, axe: str
) -> None:
    folder = tmp_path / "data"
    declared = DECLARED.replace("show:", "discussion: true, show:")
    write_evaluation(folder, ["One."], declared=declared)
    study, at = read_study(folder).study, now() - timedelta(hours=1)
    for rater, rating in (("anna", 1), ("ben", 5)):
        helpful, correct = study.work(rater).units
        study.work(rater).answer(helpful, Answer(rating=rating, notes=f"<b>{rating}</b>"), at=at)
        study.work(rater).answer(correct, Answer(rating=1), at=at)
    serving = Serving(program_folder, folder, "--labels", "--lead")
    try:
        page = opened(serving.links["anna"], bypass_csp=True, **PHONE)
        assert progress(page) == "0 of 1 done"
        first = sorted(page.inner_text("#first-ratings-list").split("\n"))
        assert {line.partition(": ")[2] for line in first} == {"1. <b>1</b>", "5. <b>5</b>"}
        assert first[1].startswith("You (Rater ")
        assert violations(page, axe) == []
        press(page, "4")
        page.goto(f"{serving.links['(lead)']}/queue?by=lea")
        follow(page.locator("main a").first)
        page.get_by_label("3", exact=True).check()
        follow(page.get_by_role("button", name="Save my rating"))
        page.get_by_text("Who gave what").click()
        rows = page.locator("tbody tr").all_inner_texts()
        assert [row.split("\t")[:2] for row in rows[1:]] == [
            ["anna", "1"],
            ["ben", "5"],
            ["anna, after the discussion", "4"],
        ]
    finally:
        serving.kill()
    assert [label["rating"] for label in labels(folder, "helpful")] == [1]


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_nothing_is_wider_than_the_window(served: Serving, opened: Opened, width: int) -> None:
    page = opened(served.links["anna"], viewport={"width": width, "height": 700})
    for _ in range(4):
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
        press(page, "3")


@pytest.mark.parametrize("form", [PHONE, WIDE], ids=["phone", "wide"])
def test_the_screen_has_no_barriers(
    served: Serving, opened: Opened, axe: str, form: dict[str, Any]
) -> None:
    page = opened(served.links["anna"], bypass_csp=True, **form)
    assert violations_by_day_and_night(page, axe) == []
    page.keyboard.press("s")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    assert violations_by_day_and_night(page, axe) == []
    page.keyboard.press("Escape")
    page.locator("#unit-title").focus()
    press(page, "3333yyyy")
    page.wait_for_selector("#done:not([hidden])")
    assert violations_by_day_and_night(page, axe) == []


def test_a_screen_reader_is_told_what_happened_and_where_it_is(
    served: Serving, opened: Opened
) -> None:
    page = opened(served.links["anna"])
    press(page, "4")

    assert page.evaluate("document.activeElement.id") == "unit-title"
    assert page.inner_text("#unit-title") == "Response 2 of 4, question 1 of 2"
    assert page.get_by_role("status").inner_text() == "Saved."
    assert page.get_by_role("group", name="How helpful is the response?").count() == 1


def test_response_text_is_text(served: Serving, opened: Opened) -> None:
    page = opened(served.links["anna"])
    text = ""
    for _ in range(4):
        text += page.inner_text("#responses")
        press(page, "3")

    assert ATTACK in text
    assert page.evaluate("window.hit") is None


def test_keys_can_be_turned_off(served: Serving, opened: Opened) -> None:
    page = opened(served.links["anna"])
    page.keyboard.press("m")
    page.keyboard.press("Escape")
    page.locator("#shortcuts").uncheck()
    page.keyboard.press("4")
    page.keyboard.press("s")

    assert progress(page) == "0 of 8 done"
    assert labels(served.folder, "helpful") == []


def test_comment_issues_and_confidence_are_saved_with_the_label(
    served: Serving, opened: Opened
) -> None:
    page = opened(served.links["anna"])
    page.keyboard.press("m")
    page.keyboard.type("too y n 5 short")
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    page.keyboard.type("no source")
    page.keyboard.press("Enter")
    page.keyboard.type("no example")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    page.keyboard.press("c")
    press(page, "2")

    [label] = labels(served.folder, "helpful")
    assert label["notes"] == "too y n 5 short"
    assert label["issues"] == ["no source", "no example"]
    assert label["confidence"] == "medium"
    assert page.locator("input[name=confidence]:checked").count() == 0
    press(page, "3")
    assert [one["confidence"] for one in labels(served.folder, "helpful")] == ["medium", None]


def test_an_undo_within_a_minute_is_no_change(served: Serving, opened: Opened) -> None:
    page = opened(served.links["anna"])
    press(page, "4")
    page.keyboard.press("u")
    page.locator("#given").wait_for(state="hidden")
    press(page, "2")

    [label] = labels(served.folder, "helpful")
    assert label["rating"] == 2
    assert "history" not in label


def test_code_that_parses_but_does_not_run_has_a_key(
    tmp_path: Path, program_folder: Path, opened: Opened
) -> None:
    folder = tmp_path / "data"
    write_evaluation(folder, ["Short.", "Longer."])
    declared = (folder / "evaluation.yaml").read_text()
    (folder / "evaluation.yaml").write_text(declared.replace("id: correct", "id: code_validity"))
    serving = Serving(program_folder, folder, "--labels")
    try:
        page = opened(serving.links["anna"])
        press(page, "44pn")
        page.keyboard.press("ArrowLeft")
        assert page.inner_text("#given") == "Your answer: Does not parse"
        page.keyboard.press("ArrowLeft")
        assert page.inner_text("#given") == "Your answer: Parses, does not run"
        session_labels = labels(folder, "code_validity")
        assert [(one["codeParses"], one["codeRuns"]) for one in session_labels] == [
            (True, False),
            (False, False),
        ]
    finally:
        serving.kill()


def test_shipped_example_asks_which_component_fired_and_how_confident(
    tmp_path: Path, program_folder: Path, opened: Opened, axe: str
) -> None:
    folder = tmp_path / "study"
    CliRunner().invoke(init, [str(folder), "--example", "labelling"], catch_exceptions=False)
    serving = Serving(program_folder, folder, "--labels")
    try:
        page = opened(serving.links["anna"])
        page.keyboard.press("n")
        page.keyboard.type("skill test")
        page.keyboard.press("Enter")
        assert "0 of" in progress(page)
        page.keyboard.press("m")
        page.get_by_text(re.compile("^1 of")).wait_for()
        page.keyboard.press("y")
        assert not page.locator("#fired-row").is_visible()
        page.get_by_role("button", name="Low", exact=False).click()
        page.get_by_text(re.compile("^2 of")).wait_for()
        page.keyboard.press("n")
        assert violations(page, axe) == []
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowRight")
        assert not page.locator("#asking").is_visible()
        page.wait_for_selector(SAVED)
        answers = [
            (one["triggerCorrect"], one["triggerComponentObserved"], one["confidence"])
            for one in labels(folder, "trigger_accuracy", run="+run-1")
        ]
        assert answers == [(False, "skill test", "medium"), (True, None, "low")]
    finally:
        serving.kill()


def test_answer_panel_of_a_phone_takes_a_third_at_most(served: Serving, opened: Opened) -> None:
    page = opened(served.links["anna"], **PHONE)
    share = "document.getElementById('answer').getBoundingClientRect().height / innerHeight"
    shares = [page.evaluate(share)]
    page.click("#more summary")
    shares.append(page.evaluate(share))
    page.click("[data-key=s]")
    shares.append(page.evaluate(share))

    assert max(shares) <= 1 / 3
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_buttons_say_what_values_mean(tmp_path: Path, program_folder: Path, opened: Opened) -> None:
    folder = tmp_path / "data"
    write_evaluation(folder, ["Short."])
    declared = (folder / "evaluation.yaml").read_text()
    meanings = "5  Good: act on it.\n4  Fine.\n3  So so.\n2  Poor.\n1  Bad <b>at all</b>."
    indented = meanings.replace("\n", "\n      ")
    old = "5  The user can act on it at once.\n      1  Nothing that can be used."
    (folder / "evaluation.yaml").write_text(declared.replace(old, indented))
    serving = Serving(program_folder, folder, "--labels")
    try:
        page = opened(serving.links["anna"])
        anchors = page.locator("#choices .anchor").all_inner_texts()
        assert anchors == ["Bad <b>at all</b>", "Poor", "So so", "Fine", "Good"]
        assert page.locator("#choices button").last.get_attribute("title") == "Good: act on it."
    finally:
        serving.kill()


PAIRS = """\
name: made-up
rubric: [{id: better, question: Which is better?, type: pairwise}]
labelling: {raters: [anna, ben]}
"""


@pytest.fixture
def pairs(tmp_path: Path, program_folder: Path) -> Iterator[Serving]:
    """A server of six pairs, whose first answer is the good one."""
    folder = tmp_path / "pairs"
    folder.mkdir()
    (folder / "evaluation.yaml").write_text(PAIRS)
    rows = [f"p{n},Prompt {n},good {n},bad {n} <b>{ATTACK}</b>,m1,m2" for n in range(6)]
    header = "response_id,prompt_text,response_a,response_b,model_a,model_b"
    (folder / "responses.csv").write_text("\n".join([header, *rows]) + "\n")
    serving = Serving(program_folder, folder, "--labels")
    yield serving
    serving.kill()


def test_comparison_is_stored_by_column(pairs: Serving, opened: Opened) -> None:
    page = opened(pairs.links["anna"])
    sides = {}
    for number in range(1, 7):
        assert page.locator("#responses h3").all_inner_texts() == ["A", "B"]
        first = page.locator("#responses section").first.inner_text()
        is_first = "good" in first
        sides["p" + re.findall(r"(?:good|bad) (\d)", first)[0]] = is_first
        page.keyboard.press("e" if number == 6 else "a" if is_first else "b")
        page.get_by_text(f"{number} of 6 done").wait_for()
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#given") == "Your answer: no difference"
    fifth = "A" if list(sides.values())[4] else "B"
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#given") == f"Your answer: {fifth} is better"
    page.wait_for_selector(SAVED, state="attached")
    page.reload()
    page.wait_for_selector("body.ready")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#given") == f"Your answer: {fifth} is better"

    session_labels = labels(pairs.folder, "better")
    *_, last = sides
    assert {label["scenarioId"]: label["rating"] for label in session_labels} == {
        response: int(response == last) for response in sides
    }
    assert {label["scenarioId"]: not label["swapped"] for label in session_labels} == sides
    assert page.evaluate("window.hit ?? null") is None


def test_texts_are_side_by_side_and_stacked_on_a_phone(
    pairs: Serving, opened: Opened, axe: str
) -> None:
    for form, is_wide in ((WIDE, True), (PHONE, False)):
        page = opened(pairs.links["anna"], bypass_csp=True, **form)
        places = "sections => sections.map((one) => [one.offsetLeft, one.offsetTop])"
        first, second = page.locator("#responses section").evaluate_all(places)
        assert (first[0] < second[0], first[1] < second[1]) == (is_wide, not is_wide)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        share = "document.getElementById('answer').getBoundingClientRect().height / innerHeight"
        assert is_wide or page.evaluate(share) <= 1 / 3
        assert violations_by_day_and_night(page, axe) == []


SELECT = """\
name: made-up
rubric:
  - id: faults
    question: Which faults does it have?
    options: [wrong facts, "<b>rude</b>", vague]
    note: Where is it wrong?
  - {id: helpful, question: How helpful is the response?, scale: likert5}
labelling: {raters: [anna, ben]}
"""


@pytest.fixture
def options(tmp_path: Path, program_folder: Path) -> Iterator[Serving]:
    """A server of three responses with a multi-select question."""
    folder = tmp_path / "options"
    write_evaluation(folder, ["One.", "Two.", "Three."], declared=SELECT)
    serving = Serving(program_folder, folder, "--labels")
    yield serving
    serving.kill()


def test_options_are_selected_with_keys_and_saved_together(
    options: Serving, opened: Opened
) -> None:
    page = opened(options.links["anna"])
    assert page.inner_text("#unit-title") == "Response 1 of 3, question 1 of 2"
    page.keyboard.press("1")
    page.keyboard.press("3")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.get_by_text("1 of 6 done").wait_for()
    page.get_by_label("<b>rude</b>").check()
    page.keyboard.press("m")
    page.keyboard.type("in line 3")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.get_by_text("2 of 6 done").wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("3 of 6 done").wait_for()
    page.keyboard.press("u")
    page.get_by_text("2 of 6 done").wait_for()
    page.keyboard.press("2")
    page.get_by_role("button", name="Save", exact=False).first.click()
    page.get_by_text("3 of 6 done").wait_for()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#given") == "Your answer: wrong facts, <b>rude</b>"
    assert page.input_value("#notes") == "in line 3"
    assert page.get_by_label("Where is it wrong? (M)").is_visible()
    assert page.locator("#choices :checked").count() == 2
    page.wait_for_selector(SAVED, state="attached")
    page.reload()
    page.wait_for_selector("body.ready")
    assert progress(page) == "3 of 6 done"

    by_response = {
        name: labels(options.folder, f"faults%2F{name}")
        for name in ("wrong%20facts", "%3Cb%3Erude%3C%2Fb%3E", "vague")
    }
    rated = [[label["rating"] for label in of] for of in by_response.values()]
    assert rated == [[0, 1, 0], [0, 1, 1], [1, 0, 0]]
    assert [label["notes"] for label in by_response["vague"]] == ["", "in line 3", ""]
    assert [label["seconds"] is None for of in by_response.values() for label in of] == (
        [False] * 3 + [True] * 6
    )


@pytest.mark.parametrize("form", [PHONE, WIDE], ids=["phone", "wide"])
def test_options_have_no_barriers(
    options: Serving, opened: Opened, axe: str, form: dict[str, Any]
) -> None:
    page = opened(options.links["anna"], bypass_csp=True, **form)
    page.keyboard.press("1")
    page.get_by_text("wrong facts").first.click()
    page.get_by_text("vague").first.click()

    assert page.locator("#choices :checked").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert violations_by_day_and_night(page, axe) == []


def test_first_answer_to_a_repeated_response_cannot_be_looked_up(
    served: Serving, opened: Opened
) -> None:
    rows = [f"{name},anna,helpful,1," for name in ("a0", "a1", "a2", "a0")]
    rows = [f"{row}{'repeat' if n == 3 else 'shared'}" for n, row in enumerate(rows)]
    header = "response_id,rater_id,question_id,round,purpose"
    (served.folder / "assignments.csv").write_text("\n".join([header, *rows, ""]))
    page = opened(served.links["anna"])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#unit-title") == "Response 1 of 4"
    press(page, "421")
    titles = []
    for _ in range(4):
        titles.append(page.inner_text("#unit-title"))
        page.keyboard.press("ArrowLeft")

    assert titles == [f"Response {n} of 4" for n in (4, 3, 2, 2)]


def test_a_later_answer_is_kept_beside_the_first(served: Serving, opened: Opened) -> None:
    page = opened(served.links["anna"])
    press(page, "4")
    path = served.folder / "sessions" / "anna+helpful+r1.json"
    path.write_text(
        re.sub('"timestamp": "[^"]*"', '"timestamp": "2026-01-01T00:00:00Z"', path.read_text())
    )
    page.reload()
    page.wait_for_selector("body.ready")
    page.keyboard.press("ArrowLeft")
    assert "Your answer: 4" in page.inner_text("#given")
    page.keyboard.press("2")
    page.wait_for_selector(SAVED, state="attached")

    [label] = labels(served.folder, "helpful")
    assert (label["rating"], [one["rating"] for one in label["history"]]) == (4, [2])


def test_labels_given_while_the_server_is_dead_arrive_when_it_is_back(
    served: Serving, opened: Opened
) -> None:
    page = opened(served.links["anna"])
    press(page, "4")
    served.kill()
    page.keyboard.press("2")
    page.wait_for_selector("#status.bad")
    page.keyboard.press("5")
    page.get_by_text("Not saved yet: 2.").wait_for()
    served.start()
    page.wait_for_selector(SAVED, state="attached")

    # By time of arrival less age, answers that lie closer than a request takes may change places.
    assert sorted(label["rating"] for label in labels(served.folder, "helpful")) == [2, 4, 5]


LOGIN_PAGE = "<!doctype html><title>Log in</title>"


@pytest.mark.parametrize("status", [200, 422, 502])
def test_label_is_kept_whatever_a_proxy_answers(
    served: Serving, opened: Opened, status: int
) -> None:
    page = opened(served.links["anna"])
    page.route("**/labels", lambda route: route.fulfill(status=status, body=LOGIN_PAGE))
    page.keyboard.press("4")
    page.wait_for_selector("#status.bad")
    page.keyboard.press("2")
    page.get_by_text("Not saved yet: 2.").wait_for()
    page.reload()
    page.wait_for_selector("body.ready")
    assert progress(page) == "2 of 8 done"
    page.unroute("**/labels")
    page.wait_for_selector(SAVED, state="attached")
    press(page, "5")

    # By time of arrival less age, answers that lie closer than a request takes may change places.
    assert sorted(label["rating"] for label in labels(served.folder, "helpful")) == [2, 4, 5]
    assert page.inner_text("#unsaved") == ""


def test_nothing_counts_as_saved_while_a_later_label_is_on_its_way(
    served: Serving, opened: Opened
) -> None:
    page = opened(served.links["anna"])
    post, answers = re.compile("/labels$"), re.compile("/answers")
    waiting: list[Route] = []

    def hold(route: "Route") -> None:
        waiting.append(route)

    page.route(answers, hold)
    page.route(post, lambda route: route.fulfill(json={"done": 0}, response=route.fetch()), times=1)
    with page.expect_request(answers):  # the server seems to miss an answer
        page.keyboard.press("4")
    with page.expect_request(post) as request:
        page.route(post, hold)
        page.keyboard.press("2")
        page.get_by_text("2 of 8 done").wait_for()
        waiting.pop(0).continue_()
        page.unroute(answers)
    page.evaluate("new Promise(requestAnimationFrame)")

    assert page.get_attribute("#status", "data-state") == "saving"
    assert page.inner_text("#status") != "Saved."
    assert json.loads(request.value.post_data or "")["rating"] == 2
    waiting.pop().continue_()
    page.unroute(post)
    page.wait_for_selector(SAVED, state="attached")
    assert [label["rating"] for label in labels(served.folder, "helpful")] == [4, 2]


def test_refused_label_is_listed_and_can_be_saved_to_a_file(
    served: Serving, opened: Opened, tmp_path: Path
) -> None:
    page = opened(served.links["anna"])
    post = re.compile("/labels$")
    page.route(post, lambda route: route.continue_(post_data=_off_the_scale(route)), times=1)
    press(page, "42")
    page.locator("#refused-title").click()
    assert "Response 1 of 4, question 1 of 2: 4. Refused: 9 is not" in page.inner_text("#refused")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save them to a file").click()
    download.value.save_as(tmp_path / "refused.jsonl")

    [refused] = (tmp_path / "refused.jsonl").read_text().splitlines()
    assert json.loads(refused)["rating"] == 4
    assert [label["rating"] for label in labels(served.folder, "helpful")] == [2]
    assert progress(page) == "1 of 8 done"


def _off_the_scale(route: "Route") -> str:
    return json.dumps({**(route.request.post_data_json or {}), "rating": 9})


def test_label_is_on_disk_before_the_next_response_is_shown(
    served: Serving, browser: "Browser", tmp_path: Path
) -> None:
    link = served.links["anna"]
    profile = tmp_path / "profile"
    page = page_with_profile(browser, profile, link)
    served.kill()
    for number, key in enumerate("42", start=1):
        page.keyboard.press(key)
        page.get_by_text(f"{number} of 8 done").wait_for()
    kill_browser(profile)
    served.start()
    page = page_with_profile(browser, profile, link)

    assert progress(page) == "2 of 8 done"
    page.context.close()


def test_labels_that_waited_arrive_through_a_new_link(served: Serving, opened: Opened) -> None:
    page = opened(served.links["anna"])
    options = ["--data", str(served.folder), "--port", str(served.port)]
    CliRunner().invoke(serve, [*options, "--revoke", "anna"], standalone_mode=False)
    page.keyboard.press("4")
    page.get_by_text("this link is not valid any more").wait_for()
    done = CliRunner().invoke(serve, [*options, "--new-link", "anna"], standalone_mode=False)
    page.goto(done.stdout.split()[1])
    page.wait_for_selector(SAVED, state="attached")

    assert [label["rating"] for label in labels(served.folder, "helpful")] == [4]


def test_running_server_follows_assignments(served: Serving, opened: Opened) -> None:
    page = opened(served.links["anna"])
    assert progress(page) == "0 of 8 done"
    (served.folder / "assignments.csv").write_text("response_id,rater_id\na1,anna\n")
    page.reload()
    page.wait_for_selector("body.ready")

    assert progress(page) == "0 of 2 done"


def test_other_window_learns_of_an_answer(served: Serving, browser: "Browser") -> None:
    context = new_context(browser, **WIDE)
    one, two = context.new_page(), context.new_page()
    for page in (one, two):
        page.goto(served.links["anna"])
        page.wait_for_selector("body.ready")
    press(one, "4")

    two.get_by_text("Your answer: 4").wait_for()
    assert progress(two) == "1 of 8 done"
    context.close()


def test_what_was_saved_survives_both_ends_being_killed(
    served: Serving, browser: "Browser", opened: Opened
) -> None:
    context = new_context(browser, **WIDE)
    page = context.new_page()
    page.goto(served.links["anna"])
    page.wait_for_selector("body.ready")
    press(page, "42")
    context.close()
    served.kill()
    served.start()
    page = opened(served.links["anna"])

    assert progress(page) == "2 of 8 done"
    assert page.inner_text("#unit-title") == "Response 3 of 4, question 1 of 2"


def test_two_windows_of_one_rater_add_to_each_others_labels(
    served: Serving, browser: "Browser"
) -> None:
    context = new_context(browser, **WIDE)
    one, two = context.new_page(), context.new_page()
    for page in (one, two):
        page.goto(served.links["anna"])
        page.wait_for_selector("body.ready")
    press(one, "4")
    two.keyboard.press("ArrowRight")
    press(two, "2")
    two.get_by_text("2 of 8 done").wait_for()
    context.close()

    assert [label["rating"] for label in labels(served.folder, "helpful")] == [4, 2]


def test_a_value_without_a_key_is_typed(
    tmp_path: Path, program_folder: Path, opened: Opened
) -> None:
    declared = DECLARED.replace("scale: likert5", "scale: {min: 0, max: 1, step: null}")
    write_evaluation(tmp_path / "typed", ["a", "b"], declared=declared)
    serving = Serving(program_folder, tmp_path / "typed", "--labels")
    try:
        page = opened(serving.links["anna"])
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        assert page.inner_text("#status") == "Use any number from 0 to 1."
        page.locator("#typed").fill("0,25")
        page.keyboard.press("Enter")
        page.wait_for_selector(SAVED, state="attached")
        assert [label["rating"] for label in labels(serving.folder, "helpful")] == [0.25]
    finally:
        serving.kill()


@pytest.mark.parametrize("form", [PHONE, WIDE], ids=["phone", "wide"])
def test_the_leads_pages_have_no_barriers(
    served: Serving, browser: "Browser", opened: Opened, axe: str, form: dict[str, Any]
) -> None:
    for rater, keys in (("anna", "1145yyyn"), ("ben", "5145yyny")):
        press(opened(served.links[rater]), keys)
    context = new_context(browser, bypass_csp=True, **form)
    page = context.new_page()
    page.goto(served.links["(lead)"])
    assert violations(page, axe) == []
    follow(page.get_by_role("link", name="Disagreements", exact=True))
    page.get_by_label("Who adjudicates").fill("lea")
    follow(page.get_by_role("button", name="Continue"))
    assert violations(page, axe) == []
    follow(page.locator("main ol a").first)
    assert violations(page, axe) == []
    page.locator("input[name=value]").last.check()
    follow(page.get_by_role("button", name="Save my rating"))
    assert violations(page, axe) == []
    page.get_by_text("Who gave what").click()
    assert page.get_by_role("row", name="ben").count() == 1
    assert violations(page, axe) == []
    context.close()
