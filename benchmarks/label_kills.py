"""Labels after kills and faults of server, browser, tab, terminal and network, 40 of each.

Simulated raters answer with keys; a fault comes at a random moment. A label is given once the page
or the terminal went on to the next response. What was given must be stored with its value, and
nothing else but what was typed.
"""

import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from eval_assets.cli.study_files import read_study
from tests.browser.serving import Serving
from tests.e2e.conftest import PROGRAM, clean_environment
from tests.terminal import Terminal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, BrowserType, Page, Route

N_FAULTS = 40
N_RESPONSES = 600
RATERS = {kind: kind for kind in ("server", "browser", "tab", "terminal", "network")}
MOST_KEYS = 5
MOST_WAIT_SECONDS = 0.06
_PATIENCE_MS = 120_000
_LATEST_KEY_SECONDS = 0.2


@dataclass
class Answers:
    """Ratings that a simulated rater typed, and those that the program accepted."""

    rng: random.Random
    typed: dict[str, set[float]] = field(default_factory=dict)
    final: dict[str, float] = field(default_factory=dict)

    def key(self, response_id: str) -> str:
        """Return the key that the rater presses for a response."""
        rating = self.rng.randint(1, 5)
        self.typed.setdefault(response_id, set()).add(rating)
        return str(rating)

    def moment(self) -> None:
        """Wait until a random moment."""
        time.sleep(self.rng.uniform(0, MOST_WAIT_SECONDS))


def table() -> str:
    """Cause all faults and return what was lost as Markdown."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not in every environment

    lines = ["| fault | faults | labels given | lost | stored but not typed | damaged files |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as started:
        folder = _evaluation(Path(temporary) / "data")
        serving = Serving(PROGRAM.parent, folder, "--labels")
        try:
            for number, (kind, faults) in enumerate(_FAULTS.items()):
                answers = Answers(random.Random(number))  # noqa: S311 - no secrets
                faults(serving, started.chromium, answers, Path(temporary) / "profile")
                lines.append(_row(kind, folder, answers))
        finally:
            serving.kill()
    return "\n".join(lines)


def _evaluation(folder: Path) -> Path:
    folder.mkdir()
    declared = (
        "name: kills\nrubric:\n  - {id: helpful, question: How helpful is it?, scale: likert5}\n"
        f"labelling: {{raters: [{', '.join(RATERS)}]}}\n"
    )
    (folder / "evaluation.yaml").write_text(declared)
    rows = [f"a{number},Prompt,a{number},m" for number in range(N_RESPONSES)]
    header = "response_id,prompt_text,response_text,model_name"
    (folder / "responses.csv").write_text("\n".join([header, *rows, ""]))
    return folder


def _row(kind: str, folder: Path, answers: Answers) -> str:
    """Compare stored labels with the accepted and the typed ones."""
    study = read_study(folder).study
    session_labels = {
        study.work(kind).units[index].response.response_id: label
        for index, label in study.work(kind).labels().items()
    }
    lost = [
        name
        for name, rating in answers.final.items()
        if name not in session_labels or session_labels[name].rating != rating
    ]
    untyped = [
        name
        for name, label in session_labels.items()
        if label.history or label.rating not in answers.typed.get(name, ())
    ]
    n_damaged = len(study.sessions.readable()[1])
    counts = (N_FAULTS, len(answers.final), len(lost), len(untyped), n_damaged)
    return f"| {kind} | {' | '.join(map(str, counts))} |"


def _label(page: "Page", answers: Answers, *, most: int = MOST_KEYS) -> None:
    """Answer some responses without waiting until any is saved."""
    for _ in range(answers.rng.randint(1, most)):
        name = page.inner_text("#responses .text").strip()
        key = answers.key(name)
        page.keyboard.press(key)
        page.wait_for_function(
            "name => document.querySelector('#responses .text').textContent !== name", arg=name
        )
        answers.final[name] = float(key)


def _settle(page: "Page") -> None:
    """Wait until the server has everything."""
    page.wait_for_function("document.getElementById('unsaved').textContent === ''")
    page.wait_for_selector("#status:not([data-state=saving])", state="attached")


def _open(context: "BrowserContext", link: str) -> "Page":
    context.set_default_timeout(_PATIENCE_MS)
    page = context.new_page()
    page.goto(link)
    page.wait_for_selector("body.ready")
    return page


@contextmanager
def _browser(chromium: "BrowserType") -> Iterator["Browser"]:
    browser = chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
    yield browser
    browser.close()


def _server_faults(
    serving: Serving, chromium: "BrowserType", answers: Answers, profile: Path
) -> None:
    """Kill the server while labels travel; the rater goes on, and it comes back."""
    del profile
    with _browser(chromium) as browser:
        page = _open(browser.new_context(bypass_csp=True), serving.links["server"])
        for _ in range(N_FAULTS):
            _label(page, answers)
            answers.moment()
            serving.kill()
            _label(page, answers, most=2)
            serving.start()
            _settle(page)


def _browser_faults(
    serving: Serving, chromium: "BrowserType", answers: Answers, profile: Path
) -> None:
    """Kill all processes of the browser, every other time offline, and open the link again."""
    for number in range(N_FAULTS):
        context = _with_profile(chromium, profile)
        page = _open(context, serving.links["browser"])
        context.set_offline(bool(number % 2))
        _label(page, answers)
        answers.moment()
        _kill_browser(profile)
    context = _with_profile(chromium, profile)
    _settle(_open(context, serving.links["browser"]))
    context.close()


def _with_profile(chromium: "BrowserType", profile: Path) -> "BrowserContext":
    """Return a browser of its own, whose data stay in a folder."""
    return chromium.launch_persistent_context(
        profile,
        executable_path=shutil.which("chromium"),
        args=["--no-sandbox"],
        bypass_csp=True,
    )


def _kill_browser(profile: Path) -> None:
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if f"--user-data-dir={profile}" in command.read_text():
                os.kill(int(command.parent.name), signal.SIGKILL)
    for lock in profile.glob("Singleton*"):
        lock.unlink()


def _tab_faults(serving: Serving, chromium: "BrowserType", answers: Answers, profile: Path) -> None:
    """Close the tab while labels travel, and open the link in another."""
    del profile
    with _browser(chromium) as browser:
        context = browser.new_context(bypass_csp=True)
        for _ in range(N_FAULTS):
            page = _open(context, serving.links["tab"])
            _label(page, answers)
            answers.moment()
            page.close()
        _settle(_open(context, serving.links["tab"]))


def _network_faults(
    serving: Serving, chromium: "BrowserType", answers: Answers, profile: Path
) -> None:
    """Cut the connection, answer as a proxy does, or lose the reply after the label was stored."""
    del profile
    faults: tuple[Callable[..., object], ...] = (
        lambda route: route.abort(),
        lambda route: route.fulfill(status=200, body="<!doctype html><title>Log in</title>"),
        lambda route: route.fulfill(status=502, body="Bad gateway"),
        _lost_reply,
    )
    with _browser(chromium) as browser:
        page = _open(browser.new_context(bypass_csp=True), serving.links["network"])
        for number in range(N_FAULTS):
            _label(page, answers, most=2)
            page.route("**/labels", faults[number % len(faults)])
            _label(page, answers)
            answers.moment()
            page.unroute("**/labels")
            _settle(page)


def _lost_reply(route: "Route") -> None:
    """Send the request and drop the reply, unless the fault has ended meanwhile."""
    from playwright.sync_api import Error  # noqa: PLC0415 - not in every environment

    with suppress(Error):
        route.fetch()
        route.abort()


def _terminal_faults(
    serving: Serving, chromium: "BrowserType", answers: Answers, profile: Path
) -> None:
    """Kill the program while a key is on its way, and start it again."""
    del chromium, profile
    command = [str(PROGRAM), "label", "--data", str(serving.folder), "--rater", "terminal"]
    for _ in range(N_FAULTS):
        with Terminal(command, environment=clean_environment(), folder=serving.folder) as terminal:
            for _ in range(answers.rng.randint(1, MOST_KEYS)):
                name = _shown_response(terminal)
                key = answers.key(name)
                terminal.answer(key)
                terminal.expect("Saved: ")
                answers.final[name] = float(key)
            terminal.answer(answers.key(_shown_response(terminal)))
            time.sleep(answers.rng.uniform(0, _LATEST_KEY_SECONDS) ** 2)
            terminal.kill()


def _shown_response(terminal: Terminal) -> str:
    name = terminal.expect(r"(?<=  )a\d+(?=\r?\n)")
    terminal.expect("← →")
    return name


_FAULTS = {
    "server": _server_faults,
    "browser": _browser_faults,
    "tab": _tab_faults,
    "terminal": _terminal_faults,
    "network": _network_faults,
}
