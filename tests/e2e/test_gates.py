"""The gate holds on every path that leads to tuning."""

import json

import dagster as dg
import pytest

from tests.e2e.conftest import (
    AGREEING,
    BASE,
    EQUAL,
    N_RESPONSES,
    OPPOSED,
    OPPOSING,
    SAMPLE,
    Evaluated,
    failures,
    materialized,
)

BOTH = [("clarity", N_RESPONSES), ("depth", N_RESPONSES)]
"""Rows of `judge_splits` if every question passes."""

GATED = ("human_agreement", "judge_agreement")

UP_TO_TUNING = (
    *("rubric_questions", "model_responses", "human_labels", "judge_scores"),
    *("label_disagreements", *GATED, "judge_splits"),
)
"""The first asset behind the gates, and what it depends on."""


def gated_assets() -> list[str]:
    """Every asset behind a gate: downstream of a gated asset, or in the group of tuning."""
    graph = SAMPLE.resolve_asset_graph()
    behind = dg.AssetSelection.assets(*GATED).downstream() - dg.AssetSelection.assets(*GATED)
    tuning = dg.AssetSelection.groups("judge_tuning")
    return sorted(key.to_user_string() for key in (behind | tuning).resolve(graph))


THROUGH_TUNING = (*UP_TO_TUNING, *gated_assets())
"""All assets that gates may hold back, and what those depend on."""


def verdicts(folder: Evaluated) -> dict[str, str]:
    """The overall verdict of each gate, as the table holds it."""
    result = folder.rows("SELECT gate, verdict FROM gate_verdicts WHERE question_id IS NULL")
    return {str(gate): str(verdict) for gate, verdict in result}


def check_of(result: dg.ExecuteInProcessResult, name: str) -> dg.AssetCheckEvaluation:
    """The evaluation of one check in a run."""
    [actual] = [e for e in result.get_asset_check_evaluations() if e.check_name == name]
    return actual


def test_the_checks_of_gates_block_and_no_others() -> None:
    specs = [spec for check in SAMPLE.asset_checks or [] for spec in check.check_specs]

    blocking = {spec.name for spec in specs if spec.blocking}
    assert blocking == {"human_a_hh", "human_alpha", "judge_alpha"}


def test_open_gates_let_tuning_start_on_every_question(open_once: Evaluated) -> None:
    assert verdicts(open_once) == {
        "human_a_hh": "pass",
        "human_alpha": "pass",
        "judge_alpha": "pass",
    }
    assert open_once.splits() == BOTH
    assert open_once.rows("SELECT DISTINCT split FROM judge_splits ORDER BY 1") == [
        ("dev",),
        ("test",),
        ("train",),
    ]


def test_log_names_the_gates_that_are_open(
    open_folder: Evaluated, capfd: pytest.CaptureFixture[str]
) -> None:
    assert open_folder.materialize("human_agreement").success

    name = open_folder.path.name
    assert f"Open in {name}: human_a_hh and human_alpha" in capfd.readouterr().err


def test_closed_gates_leave_everything_upstream_stored_and_tuning_undone(
    closed_once: Evaluated,
) -> None:
    assert verdicts(closed_once)["human_alpha"] == "fail"
    assert closed_once.splits() == []
    for table in (
        "responses",
        "human_labels",
        "judge_scores",
        "human_agreement",
        "judge_agreement",
        "judge_human_agreement",
        "combined_scores",
        "score_summary",
    ):
        assert closed_once.rows(f"SELECT count(*) > 0 FROM {table}") == [(True,)], table  # noqa: S608
    report = (closed_once.path / "out" / "report.md").read_text()
    assert "**Can we trust our labels? FAIL.**" in report


def test_the_walk_finds_the_assets_behind_the_gates() -> None:
    assert "judge_splits" in gated_assets()
    assert not {"human_labels", "agreement_report", *GATED} & set(gated_assets())


@pytest.mark.parametrize(
    ("asset", "checks"), [*((asset, False) for asset in gated_assets()), ("judge_splits", True)]
)
def test_each_asset_behind_closed_gates_fails_alone_and_says_why(
    closed_folder: Evaluated, asset: str, *, checks: bool
) -> None:
    result = closed_folder.materialize(asset, checks=checks)

    assert not result.success
    a_hh, alpha, step = failures(result)[asset].splitlines()
    name = closed_folder.path.name
    assert a_hh.startswith(f"Gate human_a_hh of {name} is closed: 0.4")
    assert alpha.startswith(f"Gate human_alpha of {name} is closed: -0.")
    assert alpha.endswith("is below the minimum 0.667.")
    assert step.startswith("Check whether a person reads the scale in reverse, and if so have")
    assert f". Run eval-assets rubric draft clarity --data {closed_folder.path}. Then" in step
    assert step.endswith("materialize human_labels and what is downstream of it.")
    assert closed_folder.splits() == []


MEASURED_IN = {
    "human_a_hh": "human_agreement",
    "human_alpha": "human_agreement",
    "judge_alpha": "judge_agreement",
}


def test_no_asset_behind_the_gates_is_made_if_nothing_was_measured(new_folder: Evaluated) -> None:
    result = new_folder.materialize("tuned_judges")

    assert not result.success
    assert failures(result)["tuned_judges"].splitlines() == [
        f"Gate {gate} of {new_folder.path.name} is closed: not measured yet. "
        f"Run eval-assets run --data {new_folder.path}, or materialize {table} in the UI."
        for gate, table in MEASURED_IN.items()
    ]


def test_everything_with_the_checks_deselected_does_not_tune(closed_folder: Evaluated) -> None:
    result = closed_folder.materialize(*THROUGH_TUNING, checks=False)

    assert not result.success
    assert set(failures(result)) >= {"judge_splits"}
    assert closed_folder.splits() == []


def test_a_grandchild_finds_no_data_to_tune_on(closed_folder: Evaluated) -> None:
    """Alone, and with the gated asset but not what lies between: Dagster itself blocks neither."""
    splits: list[list[tuple[object, ...]]] = []

    @dg.asset(deps=["judge_splits"])
    def grandchild() -> None:
        splits.append(closed_folder.splits())

    closed_folder.materialize("grandchild", extra=[grandchild])
    closed_folder.materialize("human_agreement", "grandchild", extra=[grandchild])

    assert splits
    assert not any(splits)


def test_labels_that_changed_make_a_pass_stale_until_they_are_measured(
    open_folder: Evaluated,
) -> None:
    """Worse labels alone are stale, measured they fail; the former labels, measured, pass."""
    open_folder.label({"clarity": OPPOSING, "depth": OPPOSING})
    assert open_folder.materialize("human_labels").success
    stale = open_folder.materialize("judge_splits")
    measured = open_folder.materialize("human_agreement", "judge_splits")
    alone = open_folder.materialize("judge_splits")

    assert "is closed: stale: " in failures(stale)["judge_splits"]
    assert "judge_alpha" not in failures(stale)["judge_splits"]
    assert not measured.success
    assert check_of(measured, "human_alpha").metadata["state"].value == "FAIL"
    assert "is below the minimum" in failures(alone)["judge_splits"]

    open_folder.label({"clarity": AGREEING, "depth": AGREEING})
    assert open_folder.materialize("human_labels", "human_agreement", "judge_splits").success


@pytest.mark.parametrize(
    "name",
    [
        "labels.csv",
        *(pytest.param(f"{of}.csv", marks=pytest.mark.slow) for of in ("responses", "scores")),
    ],
)
def test_a_file_that_changed_since_it_was_read_closes_the_gates_on_it(
    open_folder: Evaluated, name: str
) -> None:
    """Nothing was read again: the stored figures are those of the file as it was."""
    file = open_folder.path / name
    file.write_bytes(file.read_bytes() + b"\n")
    lines = failures(open_folder.materialize("judge_splits"))["judge_splits"].splitlines()
    table = {"labels.csv": "human_labels", "scores.csv": "judge_scores"}.get(name, "responses")

    of_people = ["human_a_hh", "human_alpha"] if name != "scores.csv" else []
    of_judges = ["judge_alpha"] if name != "labels.csv" else []
    assert [line.split(":")[0] for line in lines] == [
        f"Gate {gate} of {open_folder.path.name} is closed" for gate in (*of_people, *of_judges)
    ]
    assert f"stale: the files of {table} changed since they were read. Run eval" in lines[0]
    measured = "human_agreement" if of_people else "judge_agreement"
    asset = "model_responses" if table == "responses" else table
    assert lines[0].endswith(f"or materialize {asset} and {measured} in the UI.")
    shown = open_folder.call("gates", "--json")
    assert shown.returncode == 3
    states = {
        of["gate"]: {row["state"] for row in of["verdicts"]} for of in json.loads(shown.stdout)
    }
    assert {gate for gate in states if states[gate] == {"not_measured"}} == {*of_people, *of_judges}
    is_stale = name != "scores.csv"
    stale = f"human_agreement is stale: the files of {table} changed since they were read. Run"
    for command in (("irr",), ("why", "clarity")):
        assert open_folder.call(*command).stdout.startswith(stale) == is_stale
    stale_because = json.loads(open_folder.call("irr", "--json").stdout)["stale_because"]
    assert (stale_because or "").startswith(stale) == is_stale
    screen = " ".join(open_folder.call("run", "--select", "label_quality").stdout.split())
    assert ("Can we trust our labels? NOT MEASURED" in screen) == is_stale
    labels = "--" if is_stale else "PASS"
    assert f"clarity 0.96 0.89-0.98 {labels} -- --" in screen
    assert "Do next Run the evaluation on the current data. eval-assets run --data" in screen
    checked = check_of(open_folder.materialize("judge_agreement"), "judge_alpha")
    assert ("stale: the files of" in (checked.description or "")) == bool(of_judges)
    file.write_bytes(file.read_bytes()[:-1])
    assert open_folder.call("gates").returncode == 0


def test_better_labels_do_not_open_the_gate_before_they_are_measured(
    closed_folder: Evaluated,
) -> None:
    closed_folder.label({"clarity": AGREEING, "depth": AGREEING})
    assert closed_folder.materialize("human_labels").success

    assert "stale" in failures(closed_folder.materialize("judge_splits"))["judge_splits"]
    assert closed_folder.materialize("human_agreement", "judge_splits").success


def test_worse_labels_mark_the_splits_as_stale_until_the_gate_opens_again(
    open_folder: Evaluated,
) -> None:
    split = "SELECT * EXCLUDE (stale_because, is_gated) FROM judge_splits ORDER BY ALL"
    marks = "SELECT DISTINCT stale_because FROM judge_splits"
    before = open_folder.rows(split)
    open_folder.label({"clarity": OPPOSING, "depth": OPPOSING})
    result = open_folder.materialize(*UP_TO_TUNING)
    [(reason,)] = open_folder.rows(marks)

    assert not result.success
    assert verdicts(open_folder)["human_a_hh"] == "fail"
    assert open_folder.rows(split) == before
    assert str(reason).startswith("gate closed: human_a_hh: 0.4")

    open_folder.declare(gates="human_a_hh: {min: 0.1}, human_alpha: {min: -1}")
    assert open_folder.materialize("human_agreement").success
    assert open_folder.rows(marks) == [(None,)]


def test_judge_scores_that_changed_make_their_gate_stale(open_folder: Evaluated) -> None:
    open_folder.judge({"clarity": OPPOSING, "depth": OPPOSING})
    assert open_folder.materialize("judge_scores").success
    stale = failures(open_folder.materialize("judge_splits"))["judge_splits"]
    measured = open_folder.materialize("judge_agreement", "judge_splits", "agreement_report")
    report = json.loads((open_folder.path / "out" / "report.json").read_text("utf-8"))
    steps = {gate["gate"]: gate["next"] for gate in report["gates"]}

    assert stale.startswith("Gate judge_alpha of ")
    assert not measured.success
    for step in (check_of(measured, "judge_alpha").description, steps["judge_alpha"]):
        assert "Take j2 out of evaluation.yaml." in (step or "")


def test_judges_that_were_exchanged_make_their_gate_stale_until_they_are_asked(
    open_folder: Evaluated,
) -> None:
    open_folder.declare(judges=("j1", "another"))
    tuning = failures(open_folder.materialize("judge_splits"))["judge_splits"]
    measuring = failures(open_folder.materialize("judge_agreement"))["judge_agreement"]

    assert tuning.startswith("Gate judge_alpha of ")
    assert measuring.startswith("judge_scores: holds scores of other judges than are declared now")


@pytest.mark.parametrize("assets", [[], ["rubric_questions"]], ids=["declared", "stored"])
def test_a_scale_that_changed_makes_a_pass_stale(open_folder: Evaluated, assets: list[str]) -> None:
    """As soon as it is declared otherwise, and after the questions are stored again."""
    open_folder.declare(scales={"clarity": "likert5", "depth": "{min: 1, max: 9}"})
    if assets:
        assert open_folder.materialize(*assets).success
    result = open_folder.materialize("judge_splits")

    assert "is closed: stale: " in failures(result)["judge_splits"]


def test_labels_are_not_measured_on_a_scale_that_does_not_hold_them(
    open_folder: Evaluated,
) -> None:
    """Ratings of 5 on a scale that now ends at 4: left out, they could not disagree."""
    open_folder.declare(scales={"clarity": "likert5", "depth": "{min: 1, max: 4}"})
    result = open_folder.materialize("human_agreement")

    assert failures(result)["human_agreement"].startswith(
        "human_labels: holds ratings of depth that are not on its scale as declared now"
    )


def test_a_question_that_was_added_makes_a_pass_stale(open_folder: Evaluated) -> None:
    scales = {"clarity": "likert5", "depth": "likert5", "tone": "binary"}
    open_folder.declare(scales=scales)

    assert "stale" in failures(open_folder.materialize("judge_splits"))["judge_splits"]


@pytest.mark.parametrize("gate", ["human_a_hh", "human_alpha", "judge_alpha"])
def test_a_minimum_that_is_raised_closes_the_gate_at_once(
    open_folder: Evaluated, gate: str
) -> None:
    open_folder.declare(gates=f"{gate}: {{min: 0.999}}")
    result = open_folder.materialize("judge_splits")

    line, step = failures(result)["judge_splits"].splitlines()
    assert line.startswith(f"Gate {gate} of {open_folder.path.name} is closed: 0.9")
    assert line.endswith("is below the minimum 0.999.")
    read_again = "judge_scores" if gate == "judge_alpha" else "human_labels"
    assert step.endswith(f"Then materialize {read_again} and what is downstream of it.")


def test_a_minimum_that_is_lowered_opens_the_gate_at_once(closed_folder: Evaluated) -> None:
    closed_folder.declare(gates="human_a_hh: {min: 0.1}, human_alpha: {min: -1}")

    assert closed_folder.materialize("judge_splits").success
    assert closed_folder.splits() == BOTH


def test_the_rater_without_whom_the_others_agree_is_named(new_folder: Evaluated) -> None:
    """Rewriting the question would change nothing."""
    ratings = (*AGREEING, OPPOSED)
    new_folder.label({"clarity": ratings, "depth": ratings})

    shown = new_folder.call("run")
    assert shown.returncode == 3
    assert "Go through examples of each score with r3, clarity first" in shown.stdout
    assert "rubric draft" not in shown.stdout
    diagnosis = new_folder.call("why", "clarity").stdout
    assert diagnosis.startswith("clarity: without r3 the others agree, alpha 0.9")


def test_ratings_that_are_all_equal_are_not_evaluable(new_folder: Evaluated) -> None:
    """A^HH is 1 and alpha undefined: perfect agreement on nothing does not open the gate."""
    new_folder.label({"clarity": EQUAL, "depth": EQUAL})
    result = new_folder.materialize(*UP_TO_TUNING)

    assert not result.success
    assert verdicts(new_folder)["human_alpha"] == "not_evaluable"
    assert new_folder.rows(
        "SELECT value FROM gate_verdicts WHERE gate = 'human_alpha' AND question_id IS NULL"
    ) == [(None,)]
    alone = failures(new_folder.materialize("judge_splits"))["judge_splits"]
    assert "alpha is undefined, since all ratings are equal" in alone


def test_a_gate_that_warns_says_so_and_blocks_nothing(new_folder: Evaluated) -> None:
    new_folder.label({"clarity": OPPOSING, "depth": OPPOSING})
    new_folder.declare(
        gates="human_a_hh: {min: 0.75, severity: warn}, human_alpha: {min: 0.667, severity: warn}"
    )
    result = new_folder.materialize(*UP_TO_TUNING)

    assert result.success
    warned = check_of(result, "human_alpha")
    assert (warned.passed, warned.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert new_folder.splits() == BOTH


@pytest.mark.parametrize(
    ("judges", "assets"), [(["j1"], UP_TO_TUNING), ([], ())], ids=["one", "none"]
)
def test_below_two_judges_only_the_humans_gates_apply(
    new_folder: Evaluated, judges: list[str], assets: tuple[str, ...]
) -> None:
    """Without judges everything is made all the same."""
    new_folder.declare(judges=judges)
    result = new_folder.materialize(*assets)

    assert result.success
    assert check_of(result, "judge_alpha").passed
    assert "judge_alpha" not in verdicts(new_folder)
    assert new_folder.splits() == BOTH


def test_a_statistic_in_percent_closes_its_gate_in_every_output(new_folder: Evaluated) -> None:
    """Overall and by question, with a check of its own."""
    new_folder.declare(gates="exact_agreement: {min: 99.5}, kappa: {min: 0.1}")
    result = new_folder.materialize(*UP_TO_TUNING, "agreement_report")
    closed, opened = (check_of(result, name) for name in ("exact_agreement", "kappa"))
    printed = new_folder.call("gates").stdout
    listed = json.loads(new_folder.call("gates", "--json").stdout)

    assert not result.success
    assert (closed.passed, opened.passed) == (False, True)
    assert "% is below the minimum 99.5 %" in str(closed.description)
    assert "99.5 %" in printed
    report = json.loads((new_folder.path / "out" / "report.json").read_text("utf-8"))
    assert report["labels"]["verdict"] == "fail"
    assert [gate["gate"] for gate in listed] == [
        *("human_a_hh", "human_alpha", "judge_alpha", "exact_agreement", "kappa")
    ]
    assert new_folder.rows(
        "SELECT question_id, verdict FROM gate_verdicts WHERE gate = 'exact_agreement' ORDER BY 1"
    ) == [("clarity", "fail"), ("depth", "fail"), (None, "fail")]
    new_folder.declare(gates="exact_agreement: {min: 0.75}")
    refused = new_folder.call("gates")
    assert refused.returncode == 1
    assert "0.75 cannot be a minimum of this gate. Use a number from 1 to 100" in refused.stderr


def test_a_gate_that_applies_no_longer_takes_back_its_verdicts(open_folder: Evaluated) -> None:
    before = verdicts(open_folder)
    open_folder.declare(judges=["j1"])
    assert open_folder.materialize("judge_scores", "judge_agreement").success

    assert "judge_alpha" in before
    assert "judge_alpha" not in verdicts(open_folder)


def test_kappa_between_judges_is_one_figure_in_every_table(open_once: Evaluated) -> None:
    agreement = "SELECT kappa_macro, kappa_micro FROM judge_agreement WHERE scope = 'overall'"
    validation = "SELECT kappa_macro, kappa_micro FROM dual_judge_validation"

    assert open_once.rows(agreement) == open_once.rows(validation)
    assert None not in open_once.rows(agreement)[0]


def test_a_question_below_the_minimum_warns_and_is_left_out_of_tuning(
    new_folder: Evaluated,
) -> None:
    new_folder.declare(
        scales={"clarity": "likert5", "depth": "likert5", "tone": "likert5"},
        gates="human_a_hh: {min: 0.75}, human_alpha: {min: 0.5}",
    )
    half = [value if k % 4 else 6 - value for k, value in enumerate(BASE)]
    new_folder.label({"clarity": AGREEING, "depth": AGREEING, "tone": (BASE, half)})
    new_folder.judge({"clarity": AGREEING, "depth": AGREEING, "tone": AGREEING})
    result = new_folder.materialize(*UP_TO_TUNING)

    assert result.success
    check = check_of(result, "human_alpha")
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert "Left out of tuning: tone (0." in (check.description or "")
    assert new_folder.splits() == BOTH
    assert new_folder.rows("SELECT DISTINCT question_id FROM gate_verdicts WHERE is_closed") == [
        ("tone",)
    ]


def test_a_check_closes_the_gates_if_each_fails_on_another_question(
    new_folder: Evaluated,
) -> None:
    """A^HH leaves out clarity, alpha nothing, the judges depth: the last check must say so."""
    new_folder.declare(
        gates="human_a_hh: {min: 0.6}, human_alpha: {min: -1}, judge_alpha: {min: -0.5}"
    )
    new_folder.label({"clarity": OPPOSING, "depth": AGREEING})
    new_folder.judge({"clarity": AGREEING, "depth": OPPOSING})
    result = new_folder.materialize(
        "human_labels",
        "judge_scores",
        "rubric_questions",
        "model_responses",
        "label_disagreements",
        "human_agreement",
        "judge_agreement",
    )

    is_error = {
        check.check_name: check.severity is dg.AssetCheckSeverity.ERROR and not check.passed
        for check in result.get_asset_check_evaluations()
    }
    assert is_error["human_a_hh"] or is_error["judge_alpha"]
    assert not result.success
    assert new_folder.rows(
        "SELECT gate FROM gate_verdicts WHERE is_closed AND question_id IS NULL ORDER BY 1"
    ) == [("human_a_hh",), ("judge_alpha",)]
    alone = failures(new_folder.materialize("judge_splits"))["judge_splits"]
    assert "No question passes every gate" in alone
    assert new_folder.splits() == []


def test_checks_carry_what_they_judged(open_folder: Evaluated) -> None:
    result = open_folder.materialize("human_agreement")
    metadata = check_of(result, "human_alpha").metadata

    [(value, low, high)] = open_folder.rows(
        "SELECT alpha, alpha_low, alpha_high FROM human_agreement WHERE scope = 'overall'"
    )
    rounded = [metadata[name].value for name in ("value", "low", "high")]
    assert rounded == pytest.approx([value, low, high], abs=0.0005)
    assert [len(str(end)) for end in rounded] == [5, 5, 5]
    assert metadata["state"].value == "PASS"
    assert metadata["minimum"].value == 0.667
    assert metadata["n"].value == N_RESPONSES
    table = metadata["questions"]
    assert isinstance(table, dg.TableMetadataValue)
    questions = [record.data for record in table.records]
    assert [(q["question_id"], q["verdict"]) for q in questions] == [
        ("clarity", "pass"),
        ("depth", "pass"),
    ]
    assert all(len(str(question["value"])) <= len("-0.123") for question in questions)
    for title in ("Most frequent value", "A^HH by chance", "Exact agreement"):
        assert title in str(metadata["figures"].value)


@pytest.mark.slow
def test_held_out_tests_that_are_too_small_are_explained_wherever_certificates_are(
    open_folder: Evaluated,
) -> None:
    result = open_folder.materialize("judge_certificates")
    reported = (open_folder.path / "out" / "report.md").read_text("utf-8")
    printed = open_folder.call("certificates").stdout

    reasons = open_folder.rows("SELECT DISTINCT reason FROM tuned_judge_evaluation")
    [[reason]] = reasons
    assert reason == "12 response groups, and 60 are needed to hold out a test"
    for text in (printed, reported):
        message = f"held-out tests of clarity and depth were not evaluated: {reason}."
        assert message in " ".join(text.split())
    metadata = materialized(result, "judge_certificates").metadata
    assert str(reason) in str(metadata["not_evaluated"].value)


def test_certificates_state_the_gates_that_hold_them_back(closed_folder: Evaluated) -> None:
    done = closed_folder.call("certificates")

    assert done.returncode == 0
    assert done.stdout == (
        "No judge was tested: raters do not agree enough.\n"
        f"Do next  eval-assets gates --data {closed_folder.path}\n"
    )
