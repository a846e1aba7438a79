"""Waiting times of raters from a key to the next response, in browser and terminal, and on disk."""

import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np

from benchmarks.table import Row, duration, markdown
from eval_assets.cli.study_files import CurrentStudy, disagreements_now, quality_now
from eval_assets.labelling.rater_queue import label_of, now
from eval_assets.labelling.rater_view import response_views
from eval_assets.labelling.session_files import SessionFolder
from eval_assets.labelling.sessions import (
    UNDO,
    Answer,
    Label,
    Session,
    SessionKey,
    TextHashes,
)
from eval_assets.labelling.study import Study
from eval_assets.readers.evaluation.read import read_evaluation
from eval_assets.readers.responses import read_responses

PROGRAM = str(Path(sys.executable).parent / "eval-assets")
CHROMIUM = shutil.which("chromium")
NEXT_SECONDS = 0.05
FIRST_SECONDS = 30
LABEL_CPU_SECONDS = 0.01
LEAD_CPU_SECONDS = 0.5
OPEN_SECONDS = 2
N_LARGE = 10_000
MANY_LABELS = 100_000
N_RESPONSES = 500
N_KEYS = 100
RATERS = ("anna", "ben", "cleo", "dora", "eve")

# A person reads before the next key, so each is pressed after the last label was saved.
_PRESS = """async (keys) => {
    const taken = [];
    for (let n = 0; n < keys; n += 1) {
        const before = document.getElementById("unit-title").textContent;
        const started = performance.now();
        document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "4", bubbles: true}));
        while (document.getElementById("unit-title").textContent === before) {
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        }
        taken.push(performance.now() - started);
        const status = document.getElementById("status");
        while (status.dataset.state !== "saved") await new Promise((done) => setTimeout(done, 5));
    }
    return taken;
}"""


def table() -> str:
    """Measure everything and return the rows as Markdown."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = _evaluation(Path(temporary))
        rows = [*_on_disk(folder), _in_long_session(folder / "long")]
        rows += [_in_terminal(folder), *_on_lead_page(folder / "team")]
        rows += [*_in_browser(folder), _opened(folder / "large")] if CHROMIUM else []
    return markdown(rows)


def _evaluation(
    folder: Path, *, n_responses: int = N_RESPONSES, raters: Sequence[str] = RATERS
) -> Path:
    """Responses of 200 words and an evaluation of one question."""
    folder.mkdir(exist_ok=True)
    declared = (
        "name: speed\nrubric:\n  - {id: helpful, question: How helpful is it?, scale: likert5}\n"
        f"labelling: {{raters: [{', '.join(raters)}]}}\n"
    )
    (folder / "evaluation.yaml").write_text(declared)
    rows = [f"a{k},Prompt {k},{'word ' * 200}{k},m" for k in range(n_responses)]
    header = "response_id,prompt_text,response_text,model_name"
    (folder / "responses.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder


def _study(folder: Path) -> Study:
    evaluation = read_evaluation(folder)
    return Study(evaluation, response_views(evaluation, read_responses(evaluation)))


def _on_disk(folder: Path) -> Iterator[Row]:
    """Time until a label is on disk, in sessions of several sizes."""
    queue = _study(folder).queue("ben")
    durations = []
    for place, unit in enumerate(queue.units):
        started = time.perf_counter()
        queue.answer(unit, Answer(rating=4), at=now() + timedelta(seconds=place))
        durations.append(time.perf_counter() - started)
    for size in (150, N_RESPONSES):
        yield _row(
            f"a label is on disk, session of {size} labels",
            durations[size - 50 : size],
            NEXT_SECONDS,
        )


def _in_long_session(folder: Path) -> Row:
    """Processor time until a label of a long session is on disk."""
    key = SessionKey(rater_id="ben", question_id="helpful")
    hashes = TextHashes(prompt="p" * 12, response="r" * 12, guidelines="g" * 12)
    start = now()

    def label(number: int) -> Label:
        at = start + timedelta(seconds=number)
        return Label(response_id=f"a{number}", rating=4, labelled_at=at, hashes=hashes)

    session = Session(key=key, started_at=start, updated_at=start, n_units=2 * MANY_LABELS)
    session = session.after(map(label, range(MANY_LABELS)))
    sessions = SessionFolder(folder)
    sessions.append(session, label(MANY_LABELS))
    durations = []
    for number in range(MANY_LABELS + 1, MANY_LABELS + N_KEYS):
        started = time.process_time()
        sessions.append(session, label(number))
        durations.append(time.process_time() - started)
    return _row(
        f"processor time of a label, session of {MANY_LABELS:,} labels",
        durations,
        LABEL_CPU_SECONDS,
    )


def _on_lead_page(folder: Path) -> Iterator[Row]:
    """Processor time of the lead's figures: 3,000 responses, each labelled by ten raters."""
    raters = [f"r{number}" for number in range(10)]
    current = CurrentStudy(_evaluation(folder, n_responses=3000, raters=raters), database=None)
    rng = np.random.default_rng(0)
    start = now() - timedelta(days=1)
    for rater in raters:
        units = current().queue(rater).units
        labels = [
            label_of(
                unit, Answer(rating=float(rng.integers(1, 6)), seconds=20), at=start + k * UNDO
            )
            for k, unit in enumerate(units)
        ]
        session = Session(
            key=units[0].key,
            started_at=start,
            updated_at=start,
            n_units=len(units),
        )
        current().sessions.append(session.after(labels[: -N_KEYS - 1]), labels[-N_KEYS - 1])
    started = time.process_time()
    SessionFolder(folder).readable()
    yield Row(
        "processor time of reading 30,000 labels when the server starts",
        *(duration(time.process_time() - started), "", "", "", None),
    )
    queue, durations = current().queue("r3"), []
    for number, unit in enumerate(queue.units[-10:]):
        queue.answer(unit, Answer(rating=1 + number % 5), at=now())
        started = time.process_time()
        quality_now(current.files)
        disagreements_now(current.files, between_judges=[])
        durations.append(time.process_time() - started)
    yield _row(
        "processor time of the lead's page, 30,000 labels, at first",
        durations[:1],
        LEAD_CPU_SECONDS,
    )
    name = "processor time of the lead's page, 30,000 labels, after another label"
    yield _row(name, durations[1:], LEAD_CPU_SECONDS)


def _opened(folder: Path) -> Row:
    """Time until a page of many responses shows the first."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not in every environment

    large = _evaluation(folder, n_responses=N_LARGE)
    with _served(large) as links, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        durations = []
        for rater in RATERS:
            page = browser.new_page(viewport={"width": 390, "height": 844})
            opened = time.perf_counter()
            page.goto(links[rater])
            page.wait_for_selector("body.ready")
            durations.append(time.perf_counter() - opened)
        browser.close()
    return _row(
        f"browser: from the link to the first of {N_LARGE:,} responses", durations, OPEN_SECONDS
    )


def _in_terminal(folder: Path) -> Row:
    """Time from a key to the complete next screen, on a pseudo-terminal."""
    ours, program_end = os.openpty()
    command = [PROGRAM, "label", "--data", str(folder), "--rater", "cleo"]
    process = subprocess.Popen(  # noqa: S603 - our own program
        command, stdin=program_end, stdout=program_end, start_new_session=True
    )
    os.close(program_end)
    durations = []
    try:
        _read_until(ours, "← →")
        for _ in range(N_KEYS):
            started = time.perf_counter()
            os.write(ours, "é4".encode())  # another key in between: 4 is not held down
            _read_until(ours, "← →")
            durations.append(time.perf_counter() - started)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return _row("terminal: from a key to the next response, label saved", durations, NEXT_SECONDS)


def _read_until(descriptor: int, text: str) -> None:
    output = b""
    while text.encode() not in output:
        ready, _, _ = select.select([descriptor], [], [], 60)
        if not ready:
            raise TimeoutError(f"{text} was not shown")
        output += os.read(descriptor, 65536)


def _in_browser(folder: Path) -> Iterator[Row]:
    """Time from a key to the painted next response, and from the link to the first saved label."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not in every environment

    with _served(folder) as links, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        first = []
        for rater in ("dora", "eve"):
            page = browser.new_page(viewport={"width": 390, "height": 844})
            opened = time.perf_counter()
            page.goto(links[rater])
            page.wait_for_selector("body.ready")
            page.keyboard.press("4")
            page.wait_for_selector("#status[data-state=saved]", state="attached")
            first.append(time.perf_counter() - opened)
        yield _row(
            f"browser: from the link to the first saved label, {N_RESPONSES} responses",
            first,
            FIRST_SECONDS,
        )
        durations = [milliseconds / 1000 for milliseconds in page.evaluate(_PRESS, N_KEYS)]
        yield _row("browser: from a key to the painted next response", durations, NEXT_SECONDS)
        browser.close()


@contextmanager
def _served(folder: Path) -> Iterator[dict[str, str]]:
    command = [PROGRAM, "serve", "--labels", "--port", "0", "--data", str(folder)]
    process = subprocess.Popen(  # noqa: S603 - our own program
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        links = {}
        for line in process.stdout or ():
            if not (result := re.fullmatch(r"(\S+)\s+(http\S+)\s*", line)):
                break
            links[result[1]] = result[2]
        yield links
    finally:
        process.kill()
        process.wait()


def _row(work: str, durations: Sequence[float], most: float) -> Row:
    """Median and 95th percentile of some times."""
    half, most_of_them = np.quantile(durations, [0.5, 0.95])
    ours = f"{duration(float(half))}, p95 {duration(float(most_of_them))}"
    return Row(work, ours, "", "", f"p95 {duration(most)}", bool(most_of_them <= most))
