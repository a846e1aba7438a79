"""`eval-assets label` on a real pseudo-terminal, as raters use it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from eval_assets.cli.init import init
from eval_assets.labelling.session_files import SessionFolder, session_json
from tests.e2e.conftest import PROGRAM, Evaluated, clean_environment
from tests.terminal import Terminal

pytestmark = pytest.mark.slow

KEYS_SHOWN = "← →"
"""The end of the screen: only then is a key awaited."""


@pytest.fixture
def folder(tmp_path: Path) -> Evaluated:
    """Four responses, one of them trying to control the terminal, and nobody's labels."""
    evaluated = Evaluated(tmp_path / "data")
    evaluated.path.mkdir()
    evaluated.declare(
        scales={"clear": "binary", "depth": "likert5", "share": "{min: 0, max: 1, step: null}"},
        judges=(),
    )
    rows = [f"a{n},Prompt {n},Answer {n},m" for n in range(3)]
    rows.append('a3,Prompt 3,"\x1b[2Jgone\x1b]0;title\x07",m')
    header = "response_id,prompt_text,response_text,model_name"
    (evaluated.path / "responses.csv").write_text("\n".join([header, *rows]) + "\n")
    return evaluated


Labelling = Callable[..., Terminal]


@pytest.fixture
def labelling(program_folder: Path) -> Labelling:
    """Starts the program on a terminal."""

    def start(folder: Evaluated, *options: str) -> Terminal:
        return Terminal(
            [program_folder / "eval-assets", "label", "--rater", "anna", *options],
            environment=clean_environment() | {"EVAL_DATA": str(folder.path), "TERM": "xterm"},
            folder=folder.path,
        )

    return start


def session(
    folder: Evaluated, question: str, rater: str = "anna", *, run: str = ""
) -> dict[str, object]:
    state = SessionFolder(folder.path).find(f"{rater}+{question}+r1{run}")
    assert state is not None
    return session_json(state)


def ratings(folder: Evaluated, question: str) -> list[object]:
    return [label["rating"] for label in session(folder, question)["labels"]]  # type: ignore[attr-defined]


def test_a_binary_question_takes_one_key_a_label(labelling: Labelling, folder: Evaluated) -> None:
    with labelling(folder, "--dimension", "clear") as terminal:
        for number, key in enumerate("ynyn", start=1):
            terminal.expect(f"Scenario {number}/4")
            terminal.expect(KEYS_SHOWN)
            terminal.press(key)
        terminal.expect("All done")
        terminal.press("\n")
        assert terminal.exit_code() == 0

    assert ratings(folder, "clear") == [1, 0, 1, 0]
    assert session(folder, "clear")["closedAt"] is not None


def test_first_answer_to_a_repeated_response_cannot_be_looked_up(
    labelling: Labelling, folder: Evaluated
) -> None:
    names = [("a0", "shared"), ("a1", "shared"), ("a0", "repeat")]
    rows = [f"{name},anna,depth,1,{purpose}" for name, purpose in names]
    header = "response_id,rater_id,question_id,round,purpose"
    (folder.path / "assignments.csv").write_text("\n".join([header, *rows, ""]))
    with labelling(folder, "--dimension", "depth") as terminal:
        for number, key in enumerate("35", start=1):
            terminal.expect(f"Scenario {number}/3")
            terminal.expect(KEYS_SHOWN)
            terminal.press(key)
        for number in (3, 2, 2):
            terminal.expect(f"Scenario {number}/3")
            terminal.expect(KEYS_SHOWN)
            terminal.press("\x1b[D")
        terminal.expect("Scenario 2/3")
        terminal.press("q")
        assert terminal.exit_code() == 0


def test_every_answer_survives_kill_9_and_the_session_is_resumed(
    labelling: Labelling, folder: Evaluated
) -> None:
    for place, key in enumerate("351", start=1):
        with labelling(folder, "--dimension", "depth") as terminal:
            terminal.expect(KEYS_SHOWN)
            terminal.press(key)
            terminal.expect("Scenario .*/4")
            terminal.kill()
        assert len(ratings(folder, "depth")) == place

    session_id = str(session(folder, "depth")["sessionId"])
    with Terminal(
        [PROGRAM, "label", "--resume", "--session-id", session_id],
        environment=clean_environment() | {"EVAL_DATA": str(folder.path)},
        folder=folder.path,
    ) as terminal:
        terminal.expect("3 of 4 labelled")
        terminal.expect(KEYS_SHOWN)
        terminal.press("4")
        terminal.expect("All done")
        terminal.press("q")
        assert terminal.exit_code() == 0
    assert ratings(folder, "depth") == [3, 5, 1, 4]


def test_a_value_is_typed_if_the_scale_has_no_steps(
    labelling: Labelling, folder: Evaluated
) -> None:
    with labelling(folder, "--dimension", "share") as terminal:
        terminal.expect("any number from 0 to 1")
        terminal.expect("> ")
        terminal.press("2\n")
        terminal.expect("2 is not on the scale")
        terminal.press("0,25\n")
        terminal.expect("Saved: 0.25")
        terminal.expect("> ")
        terminal.press("q\n")
        assert terminal.exit_code() == 0

    assert ratings(folder, "share") == [0.25]


def test_skip_comment_confidence_issues_and_undo(labelling: Labelling, folder: Evaluated) -> None:
    with labelling(folder, "--dimension", "depth") as terminal:
        terminal.expect(KEYS_SHOWN)
        terminal.press("s")
        terminal.expect("goes back: ")
        terminal.press("1\n")
        terminal.expect(r"Saved: unclear \(something is missing\)")
        terminal.expect(KEYS_SHOWN)
        terminal.press("5")
        terminal.expect(r"Saved: 5\.")
        terminal.expect(KEYS_SHOWN)
        terminal.press("u")
        terminal.expect("Undone")
        terminal.expect(KEYS_SHOWN)
        terminal.press("c")
        terminal.expect("Confidence: high")
        terminal.press("é")
        terminal.press("c")
        terminal.expect("Confidence: medium")
        terminal.press("m")
        terminal.expect("Comment: ")
        terminal.press("too short\n")
        terminal.expect(KEYS_SHOWN)
        terminal.press("i")
        terminal.expect("between them: ")
        terminal.press("no example; no source\n")
        terminal.expect(KEYS_SHOWN)
        terminal.press("2")
        terminal.expect("Saved: 2, medium confidence")
        terminal.press("q")
        assert terminal.exit_code() == 0

    skipped, rated = session(folder, "depth")["labels"]  # type: ignore[misc]
    assert (skipped["skipped"], skipped["skipReason"]) == (True, "something is missing")  # type: ignore[has-type]
    assert rated["notes"] == "too short"  # type: ignore[has-type]
    assert rated["issues"] == ["no example", "no source"]  # type: ignore[has-type]
    assert "history" not in rated  # type: ignore[has-type]


def test_a_response_cannot_control_the_terminal(labelling: Labelling, folder: Evaluated) -> None:
    with labelling(folder, "--dimension", "clear") as terminal:
        for number in range(1, 5):
            terminal.expect(f"Scenario {number}/4")
            terminal.expect(KEYS_SHOWN)
            terminal.answer("y")
        terminal.expect("All done")

        assert "\x1b[2J" not in terminal.shown
        assert "\x1b]0;" not in terminal.shown
        assert r"\x1b[2Jgone" in terminal.shown


@pytest.mark.parametrize("columns", [20, 40, 200])
def test_lines_fit_the_window_and_follow_its_size(
    labelling: Labelling, folder: Evaluated, columns: int
) -> None:
    long = "word " * 80
    text = (folder.path / "responses.csv").read_text().replace("Answer 0", long)
    (folder.path / "responses.csv").write_text(text)
    with labelling(folder, "--dimension", "clear") as terminal:
        terminal.expect(KEYS_SHOWN)
        terminal.resize(columns=columns)
        shown_at = len(terminal.shown)
        for _ in range(3):
            terminal.answer("y")
            terminal.expect(KEYS_SHOWN)
        lines = terminal.shown[shown_at:].replace("\r", "").split("\n")

    assert lines
    texts = [re.sub("\x1b[^m]*m", "", line) for line in lines if line.startswith("  word")]
    assert all(len(line) <= columns for line in texts)


def test_held_key_labels_one_response(labelling: Labelling, folder: Evaluated) -> None:
    with labelling(folder, "--dimension", "depth") as terminal:
        terminal.expect(KEYS_SHOWN)
        terminal.press("3" * 40)
        terminal.expect("Scenario 2/4")
        terminal.expect(KEYS_SHOWN)
        terminal.press("5")
        terminal.expect("Scenario 3/4")
        terminal.expect(KEYS_SHOWN)
        terminal.press("q")
        assert terminal.exit_code() == 0

    assert ratings(folder, "depth") == [3, 5]


def test_ctrl_c_saves_and_ends(labelling: Labelling, folder: Evaluated) -> None:
    with labelling(folder, "--dimension", "clear") as terminal:
        terminal.expect(KEYS_SHOWN)
        terminal.press("y")
        terminal.expect("Scenario 2/4")
        terminal.expect(KEYS_SHOWN)
        terminal.press("\x03")
        terminal.expect("Saved: 1 of 4 labelled")
        assert terminal.exit_code() == 0


def test_two_terminals_of_one_rater_add_to_each_others_labels(
    labelling: Labelling, folder: Evaluated
) -> None:
    with (
        labelling(folder, "--dimension", "clear") as one,
        labelling(folder, "--dimension", "clear") as two,
    ):
        one.expect(KEYS_SHOWN)
        two.expect(KEYS_SHOWN)
        one.press("y")
        one.expect("Saved")
        two.press("\x1b[C")
        two.expect("Scenario 2/4")
        two.expect(KEYS_SHOWN)
        two.press("n")
        two.expect("Saved")

    assert ratings(folder, "clear") == [1, 0]


def test_terminal_goes_on_from_the_calibration_to_the_work(
    labelling: Labelling, folder: Evaluated
) -> None:
    declared = folder.path / "evaluation.yaml"
    text = declared.read_text()
    declared.write_text(f"{text}\nlabelling: {{raters: [anna], calibration: gold.csv}}\n")
    rows = "g1,Ask,Gold,4,1\ng2,Ask,Gold,2,2\n"
    (folder.path / "gold.csv").write_text(
        f"response_id,prompt_text,response_text,depth,round\n{rows}"
    )
    with labelling(folder, "--dimension", "depth") as terminal:
        for key, sentence in (("1", "0 of 1 matched, 80% are required"), ("2", "1 of 1 matched")):
            terminal.expect("Scenario 1/1")
            terminal.expect(KEYS_SHOWN)
            terminal.press(key)
            terminal.expect("All done")
            terminal.press("\n")
            terminal.expect(sentence)
        terminal.expect("Scenario 1/4")
        terminal.expect(KEYS_SHOWN)
        terminal.press("5")
        terminal.expect("Scenario 2/4")
        terminal.press("q")
        assert terminal.exit_code() == 0

    assert ratings(folder, "depth") == [5]


def test_comparison_is_stored_by_column(labelling: Labelling, folder: Evaluated) -> None:
    declared = "name: n\nrubric: [{id: better, question: Which?, type: pairwise}]\n"
    (folder.path / "evaluation.yaml").write_text(declared)
    rows = [f"p{n},Prompt {n},good {n},bad {n},m1,m2" for n in range(4)]
    header = "response_id,prompt_text,response_a,response_b,model_a,model_b"
    (folder.path / "responses.csv").write_text("\n".join([header, *rows]) + "\n")
    with labelling(folder) as terminal:
        for number in range(1, 5):
            terminal.expect(f"Scenario {number}/4")
            first = terminal.expect("good|bad")
            terminal.expect("A A is better  E no difference  B B is better")
            terminal.expect(KEYS_SHOWN)
            terminal.answer("a" if first == "good" else "b")
        terminal.expect("All done")
        terminal.press("\n")
        assert terminal.exit_code() == 0

    assert ratings(folder, "better") == [0, 0, 0, 0]


def test_options_are_selected_and_saved_together(labelling: Labelling, folder: Evaluated) -> None:
    faults = "{id: faults, question: Which faults?, options: [wrong, rude], note: Where}"
    (folder.path / "evaluation.yaml").write_text(f"name: n\nrubric: [{faults}]\n")
    with labelling(folder) as terminal:
        for number, (keys, words) in enumerate(
            (("1", "wrong"), ("12", "wrong, rude"), ("", "none of these"), ("2", "rude")), start=1
        ):
            terminal.expect(f"Scenario {number}/4")
            terminal.expect("1 wrong  2 rude  Enter Save")
            terminal.expect(KEYS_SHOWN)
            for key in keys:
                terminal.press(key)
                terminal.expect("Selected: ")
            if number == 4:
                terminal.press("m")
                terminal.expect("Where: ")
                terminal.press("line 3\n")
                terminal.expect(KEYS_SHOWN)
            terminal.answer("\n")
            terminal.expect(f"Saved: {words}")
        terminal.expect("All done")
        terminal.press("u")
        terminal.expect("Undone")
        terminal.expect(KEYS_SHOWN)
        terminal.press("s")
        terminal.expect("goes back: ")
        terminal.press("1\n")
        terminal.expect("unclear")
        terminal.press("q")
        assert terminal.exit_code() == 0

    assert ratings(folder, "faults%2Fwrong") == [1, 1, 0, None]
    assert ratings(folder, "faults%2Frude") == [0, 1, 0, None]


def test_shipped_example_asks_which_component_fired_and_how_confident(
    labelling: Labelling, tmp_path: Path
) -> None:
    study = Evaluated(tmp_path / "study")
    CliRunner().invoke(init, [str(study.path), "--example", "labelling"], catch_exceptions=False)
    with labelling(study, "--dimension", "trigger-accuracy") as terminal:
        terminal.expect("plugin: ")
        terminal.expect("Prompt")
        terminal.expect("expected")
        terminal.expect("plugin_description")
        terminal.expect(KEYS_SHOWN)
        terminal.press("n")
        terminal.expect("Which component fired")
        terminal.press("skill test\n")
        terminal.expect("How confident are you")
        terminal.press("m")
        terminal.expect("Saved: No, medium confidence")
        terminal.expect(KEYS_SHOWN)
        terminal.press("y")
        terminal.expect("How confident are you")
        terminal.press("q")
        terminal.expect(KEYS_SHOWN)
        terminal.press("q")
        assert terminal.exit_code() == 0

    state = session(study, "trigger_accuracy", run="+run-1")
    keys = ("triggerCorrect", "triggerComponentObserved", "confidence")
    answers = [tuple(label[key] for key in keys) for label in state["labels"]]  # type: ignore[attr-defined]
    assert answers == [(False, "skill test", "medium")]
