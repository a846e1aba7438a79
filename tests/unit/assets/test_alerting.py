"""A change of a check's state, or a failed run, is reported once to every channel, in order."""

import json
from collections.abc import Sequence
from email.header import decode_header, make_header
from pathlib import Path

import dagster as dg
import pytest

from eval_assets.assets.alerting import look_for_alerts
from eval_assets.assets.resources import CLOSED_GATES, EvaluationFolder
from tests.instances import empty_instance
from tests.receivers import mailbox, webhook

FIGURES: dict[str, float | dg.TableMetadataValue] = {
    "value": 0.7031,
    "low": 0.669,
    "high": 0.734,
    "minimum": 0.75,
    "questions": dg.MetadataValue.table(
        [
            dg.TableRecord({"question_id": "clarity", "verdict": "fail"}),
            dg.TableRecord({"question_id": "depth", "verdict": "pass"}),
        ]
    ),
}


class Outcome(dg.ConfigurableResource[None]):
    """The state that the check is to have."""

    state: str = "passed"


@dg.asset
def measured(outcome: Outcome) -> None:
    """Something to check."""
    if outcome.state == "gate closed":
        raise dg.Failure("Gate x is closed: because", metadata={CLOSED_GATES: ["x"]})
    if outcome.state == "broken input":
        raise dg.Failure("labels.csv:7: 6 is not on the scale. Use 1 to 5.")


@dg.asset_check(asset=measured)
def good(outcome: Outcome) -> dg.AssetCheckResult:
    """A check with the state that the test wants."""
    if outcome.state == "crashed":
        raise RuntimeError("broken")
    is_warning = outcome.state == "warned"
    severity = dg.AssetCheckSeverity.WARN if is_warning else dg.AssetCheckSeverity.ERROR
    return dg.AssetCheckResult(
        passed=outcome.state == "passed",
        severity=severity,
        description=f"it {outcome.state}",
        metadata=FIGURES,
    )


@pytest.fixture
def instance() -> dg.DagsterInstance:
    """Dagster's history."""
    return empty_instance()


@pytest.fixture
def folder(tmp_path: Path) -> EvaluationFolder:
    """An evaluation of its own."""
    return declared(tmp_path / "mine")


def declared(path: Path, more: str = "") -> EvaluationFolder:
    """Return an evaluation folder that declares alerts."""
    path.mkdir()
    rubric = "rubric: [{id: clarity, question: Is it clear?, scale: binary}]"
    (path / "evaluation.yaml").write_text(f"name: {path.name}\n{rubric}\n{more}\n")
    (path / "responses.csv").write_text("response_id,prompt_text,response_text,model_name\n")
    return EvaluationFolder(data=str(path))


def come_to(state: str, instance: dg.DagsterInstance, folder: EvaluationFolder) -> str:
    """Run asset and check to this state in a run of this evaluation; return the run's id."""
    return dg.materialize(
        [measured, good],
        instance=instance,
        resources={"outcome": Outcome(state=state)},
        tags=folder.run_tags,
        raise_on_error=False,
    ).run_id


def tick(instance: dg.DagsterInstance, folder: EvaluationFolder) -> Sequence[object]:
    """Evaluate the sensor once, as after a restart; return the events that it reports."""
    definitions = dg.Definitions(
        assets=[measured], asset_checks=[good], resources={"outcome": Outcome()}
    )
    with dg.build_sensor_context(
        instance=instance, repository_def=definitions.get_repository_def()
    ) as context:
        result = look_for_alerts(context, folder)
    return result.asset_events if isinstance(result, dg.SensorResult) else []


def reported(folder: EvaluationFolder, subject: str = "measured/good") -> list[str]:
    """Return the states that were reported of a check, or of runs."""
    path = folder.out / "alerts.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    alerts = [json.loads(line) for line in lines]
    return [alert["state"] for alert in alerts if alert["subject"] == subject]


def test_each_change_of_state_is_reported_once(
    instance: dg.DagsterInstance, folder: EvaluationFolder
) -> None:
    after = []
    for states in (["passed"], ["warned"], [], ["failed", "failed"], ["crashed"], ["passed"]):
        for state in states:
            come_to(state, instance, folder)
        tick(instance, folder)
        after.append(len(reported(folder)))

    assert reported(folder) == ["warned", "failed", "crashed", "passed"]
    assert after == [0, 1, 1, 2, 3, 4]


def test_an_alert_holds_figures_questions_run_and_since_when(
    instance: dg.DagsterInstance, folder: EvaluationFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_UI_URL", "https://dagster.example.org/")
    come_to("failed", instance, folder)
    run_id = come_to("failed", instance, folder)
    tick(instance, folder)
    [line] = (folder.out / "alerts.jsonl").read_text("utf-8").splitlines()
    alert = json.loads(line)
    runs = {run.dagster_run.run_id: run for run in instance.get_run_records()}

    assert {name: alert[name] for name in ("value", "low", "high", "minimum")} == {
        name: FIGURES[name] for name in ("value", "low", "high", "minimum")
    }
    assert (alert["evaluation"], alert["questions"]) == ("mine", ["clarity"])
    assert alert["run_url"] == f"https://dagster.example.org/runs/{run_id}"
    assert alert["since"][:10] == runs[run_id].create_timestamp.date().isoformat()


def test_alerts_go_by_the_runs_of_their_own_evaluation(
    instance: dg.DagsterInstance, folder: EvaluationFolder, tmp_path: Path
) -> None:
    """One history, two folders: neither a failure nor an all-clear of one reaches the other."""
    second_folder = declared(tmp_path / "others")
    come_to("failed", instance, second_folder)
    tick(instance, folder)
    assert reported(folder) == []
    come_to("warned", instance, folder)
    come_to("passed", instance, second_folder)
    tick(instance, folder)
    tick(instance, second_folder)

    assert (reported(folder), reported(second_folder)) == (["warned"], [])


def test_a_failure_before_many_runs_of_another_evaluation_is_still_found(
    instance: dg.DagsterInstance,
    folder: EvaluationFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("eval_assets.assets.check_history._PAGE", 2)
    come_to("failed", instance, folder)
    second_folder = declared(tmp_path / "others")
    for _ in range(4):
        come_to("passed", instance, second_folder)
    tick(instance, folder)

    assert reported(folder) == ["failed"]


def test_a_run_that_fails_is_reported_unless_a_gate_ended_it(
    instance: dg.DagsterInstance, folder: EvaluationFolder
) -> None:
    for state in ("passed", "gate closed", "broken input", "broken input", "passed"):
        come_to(state, instance, folder)
        tick(instance, folder)
    lines = (folder.out / "alerts.jsonl").read_text("utf-8").splitlines()
    reasons = [json.loads(line)["reason"] for line in lines if '"run"' in line]

    assert reported(folder, "run") == ["failed", "passed"]
    assert reasons[0] == "labels.csv:7: 6 is not on the scale. Use 1 to 5."


@pytest.mark.parametrize(
    ("alerts", "expected"),
    [
        ("{severity: error}", (["failed", "passed"], ["failed", "passed"])),
        ("{checks: [another]}", ([], ["failed", "passed"])),
        ("{checks: all, failed_runs: false}", (["warned", "failed", "passed"], [])),
    ],
)
def test_only_what_the_evaluation_asks_for_is_reported(
    instance: dg.DagsterInstance,
    tmp_path: Path,
    alerts: str,
    expected: tuple[list[str], list[str]],
) -> None:
    folder = declared(tmp_path / "asking", f"alerts: {alerts}")
    for state in ("warned", "failed", "broken input", "passed"):
        come_to(state, instance, folder)
        tick(instance, folder)

    assert (reported(folder), reported(folder, "run")) == expected


def test_channels_that_refuse_get_every_alert_later_once_and_in_order(
    instance: dg.DagsterInstance, folder: EvaluationFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with webhook(refusing=2) as posts, mailbox(refusing=1) as mails:
        monkeypatch.setenv("EVAL_ALERT_WEBHOOK", posts.address)
        monkeypatch.setenv("EVAL_ALERT_URLS", mails.address)
        tick(instance, folder)
        verdicts = []
        for state in ("failed", "failed", "passed", "passed"):
            come_to(state, instance, folder)
            [*events] = tick(instance, folder)
            verdicts += [e.passed for e in events if isinstance(e, dg.AssetCheckEvaluation)]

    states = [json.loads(body)["state"] for body in posts.bodies]
    subjects = [str(make_header(decode_header(mail["Subject"]))) for mail in mails.mails]
    assert states == ["failed", "passed"]
    assert subjects == [
        "mine: measured/good failed",
        "mine: measured/good passed (was failed)",
    ]
    assert verdicts[0] is False
    assert verdicts[-1] is True


def test_a_channel_that_is_new_gets_nothing_of_the_past(
    instance: dg.DagsterInstance, folder: EvaluationFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    come_to("failed", instance, folder)
    tick(instance, folder)
    with webhook() as posts:
        monkeypatch.setenv("EVAL_ALERT_WEBHOOK", posts.address)
        tick(instance, folder)
        come_to("passed", instance, folder)
        tick(instance, folder)

    assert [json.loads(body)["state"] for body in posts.bodies] == ["passed"]
