"""Runs start when files change, and at set times."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import dagster as dg
import pytest

from eval_assets.assets.automation import (
    AutomatedEvaluation,
    automation_of,
    look_for_files_of_all,
)
from eval_assets.assets.evaluation_definitions import project_definitions
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.config.operations import Schedule
from eval_assets.labelling.session_files import SessionFolder
from eval_assets.labelling.sessions import Close, Label, Session, SessionKey, TextHashes


def automated(folder: EvaluationFolder, *, schedule: Schedule | None = None) -> AutomatedEvaluation:
    evaluate = dg.define_asset_job(f"{folder.names_before}evaluate")
    return AutomatedEvaluation(folder, [evaluate], schedule)


def test_the_schedule_runs_as_declared_with_the_tag_of_the_evaluation(tmp_path: Path) -> None:
    folder = EvaluationFolder.at(tmp_path / "mine", name="mine")
    declared = Schedule(cron="30 5 * * 1-5", timezone="Europe/Berlin")
    first = automated(folder, schedule=declared)
    _, [schedule] = automation_of([first])
    at = datetime(2026, 11, 20, 5, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    with dg.build_schedule_context(scheduled_execution_time=at) as context:
        [request] = schedule.evaluate_tick(context).run_requests or []

    assert (schedule.name, schedule.job_name) == ("mine_scheduled_rerun", "mine_evaluate")
    assert (schedule.cron_schedule, schedule.execution_timezone) == (
        "30 5 * * 1-5",
        "Europe/Berlin",
    )
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
    assert request.tags.items() >= folder.run_tags.items()


def test_automation_runs_from_the_start_if_it_is_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = EvaluationFolder.at(tmp_path)

    def running(schedule: Schedule | None) -> set[str]:
        sensors, schedules = automation_of([automated(folder, schedule=schedule)])
        started = {s.name for s in sensors if s.default_status is dg.DefaultSensorStatus.RUNNING}
        is_on = dg.DefaultScheduleStatus.RUNNING
        return started | {one.name for one in schedules if one.default_status is is_on}

    assert running(None) == set()
    assert running(Schedule()) == {"scheduled_rerun", "ended_batches"}
    monkeypatch.setenv("EVAL_ALERT_URLS", "json://127.0.0.1:9/alert")
    assert running(None) == {"check_alerts"}


def test_folders_whose_names_differ_in_what_dagster_does_not_allow_keep_different_names(
    tmp_path: Path,
) -> None:
    for name in ("a.b", "a-b", "c d"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "evaluation.yaml").touch()
    folders = EvaluationFolder.all_in(tmp_path)

    assert sorted(folder.names_before for folder in folders) == ["a_b_", "a_b_2_", "c_d_"]
    assert EvaluationFolder.at(tmp_path / "a.b").names_before == ""


def look(folder: Path, cursor: str | None) -> tuple[list[str | None], str | None]:
    """Return the keys of the runs that one tick requests, and the cursor it leaves."""
    with dg.build_sensor_context(cursor=cursor) as context:
        result = look_for_files_of_all(context, [automated(EvaluationFolder.at(folder))])
        requests = (result.run_requests or []) if isinstance(result, dg.SensorResult) else []
        return [request.run_key for request in requests], context.cursor


def test_each_state_of_the_files_requests_one_run(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("one")
    first, cursor = look(tmp_path, None)
    repeat, cursor = look(tmp_path, cursor)
    labels.write_text("another")
    changed, cursor = look(tmp_path, cursor)
    (tmp_path / "responses").mkdir()
    (tmp_path / "responses" / "more.csv").write_text("x")
    added, _ = look(tmp_path, cursor)

    assert repeat == []
    assert len({*first, *changed, *added}) == 3


def test_one_sensor_runs_the_evaluation_whose_files_changed(tmp_path: Path) -> None:
    """The other one cannot be read, which stops neither."""
    for name in ("good", "broken"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "labels.csv").write_text("one")
    (tmp_path / "broken" / "evaluation.yaml").write_text("{")
    (tmp_path / "good" / "responses.csv").write_text("response_id,response_text\n1,Yes\n")
    (tmp_path / "good" / "evaluation.yaml").write_text(
        "name: good\nrubric: [{id: q, question: Is it?, scale: binary}]\n"
    )
    evaluations = [
        automated(EvaluationFolder.at(tmp_path / name, name=name)) for name in ("broken", "good")
    ]
    with dg.build_sensor_context() as first:
        look_for_files_of_all(first, evaluations)
    (tmp_path / "good" / "labels.csv").write_text("another")
    with dg.build_sensor_context(cursor=first.cursor) as second:
        result = look_for_files_of_all(second, evaluations)

    assert isinstance(result, dg.SensorResult)
    assert [request.job_name for request in result.run_requests or []] == ["good_evaluate"]
    sensors, schedules = automation_of(evaluations)
    assert [sensor.name for sensor in sensors] == ["new_files", "ended_batches", "check_alerts"]
    assert schedules == []
    with dg.build_sensor_context() as context:
        batches = sensors[1].evaluate_tick(context)
    assert batches.skip_message == "no batch is waiting to be collected"


def test_files_in_out_start_no_run(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("one")
    _, cursor = look(tmp_path, None)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_text("report")

    assert look(tmp_path, cursor)[0] == []


def label(folder: Path, *, at: datetime, closed: bool) -> None:
    """Write a session of anna's, changed at that time."""
    key = SessionKey(rater_id="anna", question_id="clarity")
    hashes = TextHashes(prompt="p", response="r", guidelines="g")
    answer = Label(response_id="a", rating=1, labelled_at=at, hashes=hashes)
    fresh = Session(key=key, started_at=at, updated_at=at, n_units=9, guideline_hash="g")
    sessions = SessionFolder(folder)
    sessions.append(fresh, answer)
    if closed:
        sessions.append(fresh, Close(at))


@pytest.mark.parametrize(
    ("minutes", "closed", "runs"), [(1, False, 0), (9, False, 0), (11, False, 1), (1, True, 1)]
)
def test_a_session_starts_a_run_once_it_is_closed_or_has_rested(
    tmp_path: Path, minutes: int, runs: int, *, closed: bool
) -> None:
    label(tmp_path, at=datetime.now(tz=UTC) - timedelta(minutes=minutes), closed=closed)
    requested, cursor = look(tmp_path, None)

    assert len(requested) == runs
    assert (cursor == "{}") == (runs == 0)


def test_nothing_runs_while_somebody_labels_and_what_changed_meanwhile_is_run_later(
    tmp_path: Path,
) -> None:
    now = datetime.now(tz=UTC)
    label(tmp_path, at=now, closed=False)
    (tmp_path / "responses.csv").write_text("changed")
    meanwhile, cursor = look(tmp_path, None)
    label(tmp_path, at=now, closed=True)
    later, _ = look(tmp_path, cursor)

    assert (len(meanwhile), len(later)) == (0, 1)


def test_a_damaged_session_keeps_no_run_from_starting(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "x.json").write_text("{")

    assert len(look(tmp_path, None)[0]) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".~lock.labels.csv#", "ada"),
        ("~$labels.xlsx", "ada"),
        ("labels/more.csv.part", "half"),
        ("labels/empty.csv", ""),
        (".git/index", "x"),
        ("ledger.sqlite-wal", "x"),
    ],
)
def test_locks_hidden_half_written_and_own_files_start_no_run(
    tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / "labels.csv").write_text("one")
    _, cursor = look(tmp_path, None)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(content)

    assert look(tmp_path, cursor)[0] == []


def test_changed_labels_run_what_is_downstream_of_labels(tmp_path: Path) -> None:
    sample = Path(__file__).parents[3] / "data" / "sample"
    folder = shutil.copytree(sample, tmp_path / "e", ignore=shutil.ignore_patterns("out"))
    evaluation = EvaluationFolder.at(folder)
    repository = project_definitions(folder).get_repository_def()
    with dg.DagsterInstance.ephemeral() as instance:

        def requested(cursor: str | None) -> tuple[dg.RunRequest, str | None]:
            with dg.build_sensor_context(
                instance=instance, cursor=cursor, repository_def=repository
            ) as context:
                result = look_for_files_of_all(context, [automated(evaluation)])
                assert isinstance(result, dg.SensorResult)
                [request] = result.run_requests or []
                return request, context.cursor

        first, last_cursor = requested(None)
        with (folder / "labels.csv").open("a") as labels:
            labels.write("\n")
        second, last_cursor = requested(last_cursor)
        with (folder / "labels.csv").open("a") as labels:
            labels.write("\n")
        (folder / "prompt.txt").write_text("Rate it.")
        third, _ = requested(last_cursor)

    assert first.asset_selection is None
    assert third.asset_selection is None
    selected = {key.to_user_string() for key in second.asset_selection or ()}
    assert selected >= {"human_labels", "human_agreement", "judge_splits", "agreement_report"}
    assert not selected & {"judge_scores", "model_responses", "label_files"}
