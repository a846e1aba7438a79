"""A change of a check's state, or a failed run, is reported once to every channel."""

import json
import re
from collections.abc import Iterator
from email.header import decode_header, make_header
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner

from eval_assets.assets.alerting import alert_channels, last_run_state, send_alerts
from eval_assets.assets.resources import CLOSED_GATES, EvaluationFolder
from eval_assets.cli.alerts import alerts
from tests.instances import empty_instance
from tests.receivers import Received, mailbox, webhook


class Outcome(dg.ConfigurableResource[None]):
    """The state that the check is to have."""

    state: str = "passed"


def reached(outcome: Outcome) -> None:
    """Reach the state that the test wants."""
    if outcome.state == "gate closed":
        raise dg.Failure("Gate x is closed: because", metadata={CLOSED_GATES: ["x"]})
    if outcome.state == "broken input":
        raise dg.Failure("labels.csv:7: 6 is not on the scale. Use 1 to 5.")


measured = dg.multi_asset(name="measured", specs=[dg.AssetSpec("measured")])(reached)


@dg.asset_check(asset="measured")
def good(outcome: Outcome) -> dg.AssetCheckResult:
    """A check with the state that the test wants."""
    if outcome.state == "crashed":
        raise RuntimeError("broken")
    is_warning = outcome.state == "warned"
    severity = dg.AssetCheckSeverity.WARN if is_warning else dg.AssetCheckSeverity.ERROR
    return dg.AssetCheckResult(
        passed=outcome.state == "passed", severity=severity, description=f"it {outcome.state}"
    )


@pytest.fixture
def instance() -> dg.DagsterInstance:
    """Dagster's history."""
    return empty_instance()


@pytest.fixture
def folder(tmp_path: Path) -> EvaluationFolder:
    """An evaluation of its own."""
    return declared(tmp_path / "mine")


@pytest.fixture
def posts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Received]:
    """A receiver of JSON, the only channel."""
    with webhook() as received:
        monkeypatch.setenv("EVAL_ALERT_URLS", received.address)
        yield received


def declared(path: Path, more: str = "") -> EvaluationFolder:
    """Return an evaluation folder that declares alerts."""
    path.mkdir()
    rubric = "rubric: [{id: clarity, question: Is it clear?, scale: binary}]"
    (path / "evaluation.yaml").write_text(f"name: {path.name}\n{rubric}\n{more}\n")
    (path / "responses.csv").write_text("response_id,prompt_text,response_text,model_name\n")
    return EvaluationFolder.at(path)


def come_to(state: str, instance: dg.DagsterInstance, folder: EvaluationFolder) -> str:
    """Run asset and check to this state in a run of this evaluation; return the run's id."""
    step = dg.multi_asset(name=f"{folder.steps_before}measured", specs=[*measured.specs])(reached)
    return dg.materialize(
        [step, good],
        instance=instance,
        resources={"outcome": Outcome(state=state)},
        tags=folder.run_tags,
        raise_on_error=False,
    ).run_id


def tick(instance: dg.DagsterInstance, *folders: EvaluationFolder, cursor: str | None) -> str:
    """Evaluate the sensor once, as after a restart; return the new cursor."""
    definitions = dg.Definitions(
        assets=[measured], asset_checks=[good], resources={"outcome": Outcome()}
    )
    with dg.build_sensor_context(
        instance=instance, repository_def=definitions.get_repository_def(), cursor=cursor
    ) as context:
        send_alerts(context, folders)
        return context.cursor or ""


def titles(posts: Received, subject: str = "measured/good") -> list[str]:
    """Return what the titles say of a check, or of runs."""
    before = f"{subject} "
    lines = [str(json.loads(body)["title"]) for body in posts.bodies]
    return [line.partition(before)[2] for line in lines if before in line]


def test_each_change_of_state_is_reported_once(
    instance: dg.DagsterInstance, folder: EvaluationFolder, posts: Received
) -> None:
    after, cursor = [], None
    for states in (["passed"], ["warned"], [], ["failed", "failed"], ["crashed"], ["passed"]):
        for state in states:
            come_to(state, instance, folder)
        cursor = tick(instance, folder, cursor=cursor)
        after.append(len(titles(posts)))

    assert titles(posts) == [
        "warned",
        "failed (was warned)",
        "crashed (was failed)",
        "passed (was crashed)",
    ]
    assert after == [0, 1, 1, 2, 3, 4]


def test_an_alert_names_evaluation_check_reason_time_and_page(
    instance: dg.DagsterInstance,
    folder: EvaluationFolder,
    posts: Received,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EVAL_UI_URL", "https://dagster.example.org/")
    come_to("failed", instance, folder)
    tick(instance, folder, cursor=None)
    [alert] = map(json.loads, posts.bodies)

    assert alert["title"] == "mine: measured/good failed"
    page = "https://dagster.example.org/assets/measured?view=checks&checkDetail=good"
    assert re.fullmatch(
        rf"it failed\n\d{{4}}-\d\d-\d\d \d\d:\d\d UTC, {re.escape(page)}",
        alert["message"],
    )
    assert alert["type"] == "failure"


def test_a_check_that_did_not_run_again_keeps_its_state(
    instance: dg.DagsterInstance, folder: EvaluationFolder, posts: Received
) -> None:
    """Of the second run only the plan of the check is recorded."""
    come_to("failed", instance, folder)
    come_to("broken input", instance, folder)
    tick(instance, folder, cursor=None)

    assert (titles(posts), titles(posts, "run")) == (["failed"], ["failed"])


def test_alerts_go_by_the_runs_of_their_own_evaluation(
    instance: dg.DagsterInstance, folder: EvaluationFolder, tmp_path: Path, posts: Received
) -> None:
    """One history, two folders: neither a failure nor an all-clear of one reaches the other."""
    other = declared(tmp_path / "others")
    come_to("failed", instance, other)
    cursor = tick(instance, folder, cursor=None)
    assert posts.bodies == []
    come_to("warned", instance, folder)
    come_to("passed", instance, other)
    tick(instance, folder, cursor=cursor)

    assert titles(posts, "mine: measured/good") == ["warned"]


def test_a_run_of_another_evaluation_alone_is_none_of_this_one(
    instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    """Of a job over both, whose names begin alike."""
    first, second = (
        EvaluationFolder.at(declared(tmp_path / name).path, name=name) for name in ("a", "a__b")
    )

    @dg.multi_asset(
        name=f"{second.steps_before}measured", specs=[dg.AssetSpec(second.key("measured"))]
    )
    def broken() -> None:
        raise ValueError

    tags = first.run_tags | second.run_tags
    dg.materialize([broken], instance=instance, tags=tags, raise_on_error=False)

    assert last_run_state(instance, first) is None
    state = last_run_state(instance, second)
    assert state is not None
    assert state.state == "failed"


def test_a_run_that_fails_is_reported_unless_a_gate_ended_it(
    instance: dg.DagsterInstance, folder: EvaluationFolder, posts: Received
) -> None:
    cursor = None
    for state in ("passed", "gate closed", "broken input", "broken input", "passed"):
        come_to(state, instance, folder)
        cursor = tick(instance, folder, cursor=cursor)
    reasons = [json.loads(body)["message"].splitlines()[0] for body in posts.bodies]

    assert titles(posts, "run") == ["failed", "passed (was failed)"]
    assert reasons[0] == "labels.csv:7: 6 is not on the scale. Use 1 to 5."


def test_a_broken_evaluation_file_is_an_alert_on_its_run(
    instance: dg.DagsterInstance, folder: EvaluationFolder, posts: Received
) -> None:
    (folder.path / "evaluation.yaml").write_text("rubrik: []")
    come_to("broken input", instance, folder)
    tick(instance, folder, cursor=None)

    assert titles(posts, "mine: run") == ["failed"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("{severity: error}", ["failed", "passed (was failed)"]),
        ("{checks: [another]}", []),
        ("{checks: all}", ["warned", "failed (was warned)", "passed (was failed)"]),
    ],
)
def test_only_what_the_evaluation_asks_for_is_reported(
    instance: dg.DagsterInstance,
    tmp_path: Path,
    posts: Received,
    settings: str,
    expected: list[str],
) -> None:
    folder, cursor = declared(tmp_path / "asking", f"alerts: {settings}"), None
    for state in ("warned", "failed", "passed"):
        come_to(state, instance, folder)
        cursor = tick(instance, folder, cursor=cursor)

    assert titles(posts) == expected


def test_a_channel_that_refuses_gets_an_alert_at_the_next_tick_and_no_other_gets_it_twice(
    instance: dg.DagsterInstance, folder: EvaluationFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with webhook(refusing=2) as posts, mailbox(refusing=1) as mails, webhook() as accepting:
        addresses = (posts.address, mails.address, "nonsense://x", accepting.address)
        monkeypatch.setenv("EVAL_ALERT_URLS", " ".join(addresses))
        cursor, n_posts = None, []
        for state in ("failed", "", "", "passed"):
            if state:
                come_to(state, instance, folder)
            cursor = tick(instance, folder, cursor=cursor)
            n_posts.append(len(posts.bodies))

    subjects = [str(make_header(decode_header(mail["Subject"]))) for mail in mails.mails]
    assert n_posts == [0, 0, 1, 2]
    assert titles(posts) == titles(accepting) == ["failed", "passed (was failed)"]
    assert subjects == [
        "mine: measured/good failed",
        "mine: measured/good passed (was failed)",
    ]


def test_neither_names_nor_the_cursor_hold_credentials(
    instance: dg.DagsterInstance, folder: EvaluationFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with webhook() as posts:
        address = posts.address.replace("//", "//bob:secret@")
        monkeypatch.setenv("EVAL_ALERT_URLS", f"{address} mailto://anna:secret@127.0.0.1:1 secret")
        come_to("failed", instance, folder)
        cursor = tick(instance, folder, cursor=None)

    names = [channel.name for channel in alert_channels()]
    assert len(posts.bodies) == 1
    assert not any("secret" in text for text in (cursor, *names))


def test_the_command_tries_each_channel(
    folder: EvaluationFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tried() -> tuple[int, list[str], list[str]]:
        arguments = ["test", "--data", str(folder.path)]
        done = CliRunner().invoke(alerts, arguments, standalone_mode=False)
        return done.return_value, done.stdout.splitlines(), done.stderr.splitlines()

    monkeypatch.delenv("EVAL_ALERT_URLS", raising=False)
    assert tried() == (1, [], ["No channel is named: set EVAL_ALERT_URLS."])
    with webhook(refusing=1) as posts:
        monkeypatch.setenv("EVAL_ALERT_URLS", posts.address)
        results = [tried() for _ in range(2)]

    assert [code for code, _, _ in results] == [1, 0]
    assert results[0][2] == [f"{posts.address} did not accept the alert"]
    assert json.loads(posts.bodies[0])["title"] == "mine: test"
