"""Runs start when files change, and at set times."""

import shutil
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import dagster as dg
import pytest

from eval_assets.assets.automation import files_sensor, schedule_of, sensors_of
from eval_assets.assets.evaluation_definitions import project_definitions
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.config.operations import Schedule
from eval_assets.labelling.session_files import SessionFolder
from eval_assets.labelling.sessions import Close, Label, Session, SessionKey, TextHashes


@dg.asset
def nothing() -> None:
    """An asset for jobs."""


def test_the_schedule_runs_as_declared_with_the_tag_of_the_evaluation(tmp_path: Path) -> None:
    folder = EvaluationFolder.at(tmp_path / "mine", name="mine")
    declared = Schedule(cron="30 5 * * 1-5", timezone="Europe/Berlin")
    schedule = schedule_of(folder, declared=declared)
    jobs = [dg.define_asset_job("mine_evaluate")]
    at = datetime(2026, 11, 20, 5, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    with (
        dg.instance_for_test() as instance,
        dg.build_schedule_context(instance, scheduled_execution_time=at) as context,
    ):
        [request] = schedule.evaluate_tick(context).run_requests or []
        instance.create_run_for_job(
            dg.Definitions(jobs=jobs, assets=[nothing]).resolve_job_def("mine_evaluate"),
            status=dg.DagsterRunStatus.STARTED,
        )
        tick = schedule.evaluate_tick(context)

    assert (schedule.name, schedule.job_name) == ("mine_scheduled_rerun", "mine_evaluate")
    assert (schedule.cron_schedule, schedule.execution_timezone) == (
        "30 5 * * 1-5",
        "Europe/Berlin",
    )
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
    assert request.tags.items() >= folder.run_tags.items()
    assert "has not ended" in (tick.skip_message or "")
    assert not tick.run_requests


def test_automation_runs_from_the_start_if_it_is_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = EvaluationFolder.at(tmp_path)

    def running(schedule: Schedule | None) -> set[str]:
        started = {
            sensor.name
            for sensor in sensors_of([folder])
            if sensor.default_status is dg.DefaultSensorStatus.RUNNING
        }
        timing = schedule_of(folder, declared=schedule)
        is_on = timing.default_status is dg.DefaultScheduleStatus.RUNNING
        return started | ({timing.name} if is_on else set())

    assert running(None) == {"input_files"}
    assert running(Schedule()) == {"input_files", "scheduled_rerun"}
    monkeypatch.setenv("EVAL_ALERT_URLS", "json://127.0.0.1:9/alert")
    assert running(None) == {"input_files", "check_alerts"}


def test_folders_whose_names_differ_in_what_dagster_does_not_allow_keep_different_names(
    tmp_path: Path,
) -> None:
    for name in ("a.b", "a-b", "c d"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "evaluation.yaml").touch()
    folders = EvaluationFolder.all_in(tmp_path)

    assert sorted(folder.names_before for folder in folders) == ["a_b_", "a_b_2_", "c_d_"]
    assert EvaluationFolder.at(tmp_path / "a.b").names_before == ""


def recorded(instance: dg.DagsterInstance, *folders: EvaluationFolder) -> set[str]:
    """Return the assets whose files one tick records, which are then recorded."""
    sensor = files_sensor(folders, name="input_files")
    with dg.build_sensor_context(instance) as context:
        tick = sensor.evaluate_tick(context)
    for event in tick.asset_events:
        assert isinstance(event, dg.AssetObservation)
        instance.report_runless_asset_event(event)
    assert not tick.run_requests
    return {event.asset_key.to_user_string() for event in tick.asset_events}


def declare(folder: Path) -> EvaluationFolder:
    """Write an evaluation with one response and one label."""
    folder.mkdir(exist_ok=True)
    (folder / "responses.csv").write_text("response_id,response_text\n1,Yes\n")
    (folder / "labels.csv").write_text("response_id,rater_id,q\n1,anna,1\n")
    (folder / "evaluation.yaml").write_text(
        "name: good\nrubric: [{id: q, question: Is it?, scale: binary}]\n"
    )
    return EvaluationFolder.at(folder)


def test_each_version_of_a_file_is_recorded_once(tmp_path: Path) -> None:
    folder = declare(tmp_path)
    with dg.DagsterInstance.ephemeral() as instance:
        first = recorded(instance, folder)
        repeat = recorded(instance, folder)
        (tmp_path / "labels.csv").write_text("response_id,rater_id,q\n1,anna,0\n")
        changed = recorded(instance, folder)
        (tmp_path / "prompt.txt").write_text("Rate it.")
        prompt = recorded(instance, folder)
        (tmp_path / "labels.csv").unlink()
        removed = recorded(instance, folder)

    assert len(first) == 5
    assert (repeat, changed, prompt) == (set(), {"label_files"}, {"evaluation_file"})
    assert removed == {"label_files"}


def test_an_evaluation_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    good = declare(tmp_path / "good")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "evaluation.yaml").write_text("{")
    broken = EvaluationFolder.at(tmp_path / "broken", name="broken")
    with dg.DagsterInstance.ephemeral() as instance:
        assert len(recorded(instance, broken, good)) == 6
        (tmp_path / "good" / "labels.csv").write_text("response_id,rater_id,q\n1,anna,0\n")
        assert recorded(instance, broken, good) == {"label_files"}


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
    ("minutes", "closed", "is_read"),
    [(1, False, False), (9, False, False), (11, False, True), (1, True, True)],
)
def test_a_session_is_recorded_once_it_is_closed_or_has_rested(
    tmp_path: Path, minutes: int, *, closed: bool, is_read: bool
) -> None:
    folder = declare(tmp_path)
    with dg.DagsterInstance.ephemeral() as instance:
        recorded(instance, folder)
        label(tmp_path, at=datetime.now(tz=UTC) - timedelta(minutes=minutes), closed=closed)

        assert recorded(instance, folder) == ({"label_files"} if is_read else set())


def test_a_damaged_session_stops_nothing(tmp_path: Path) -> None:
    folder = declare(tmp_path)
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "x.json").write_text("{")
    with dg.DagsterInstance.ephemeral() as instance:
        assert recorded(instance, folder)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".~lock.labels.csv#", "ada"),
        ("~$labels.xlsx", "ada"),
        ("labels/more.csv.part", "half"),
        ("prompts/empty.txt", ""),
        (".git/index", "x"),
        ("ledger.sqlite-wal", "x"),
        ("out/report.html", "x"),
    ],
)
def test_locks_hidden_half_written_and_own_files_are_no_input(
    tmp_path: Path, name: str, content: str
) -> None:
    folder = declare(tmp_path)
    with dg.DagsterInstance.ephemeral() as instance:
        recorded(instance, folder)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)

        assert recorded(instance, folder) == set()


class Automated:
    """A copy of data/sample, everything of which ran before the automation was switched on."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance) -> None:
        """Run it and switch the automation on."""
        sample = Path(__file__).parents[3] / "data" / "sample"
        self.folder = shutil.copytree(sample, folder, ignore=shutil.ignore_patterns("out"))
        self.instance = instance
        self.definitions = project_definitions(self.folder)
        self.cursor: Any = None
        graph = self.definitions.resolve_asset_graph()
        assert self.run(graph.materializable_asset_keys).success

    def run(self, keys: Iterable[dg.AssetKey]) -> dg.ExecuteInProcessResult:
        """Make assets."""
        return self.definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=self.instance, asset_selection=sorted(keys), raise_on_error=False
        )

    def requested(self) -> set[str]:
        """Return the assets that the automation requests."""
        recorded(self.instance, EvaluationFolder.at(self.folder))
        result = dg.evaluate_automation_conditions(
            self.definitions,
            self.instance,
            asset_selection=dg.AssetSelection.all(),
            cursor=self.cursor,
        )
        self.cursor = result.cursor
        return {of.key.to_user_string() for of in result.results if of.true_subset.size}

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace text in one of its files."""
        path = self.folder / name
        path.write_text(path.read_text().replace(old, new))


def keys(names: Iterable[str]) -> list[dg.AssetKey]:
    """Return the keys of assets; their checks are made with them."""
    return [dg.AssetKey(name) for name in names if ":" not in name]


BEHIND = {"judge_splits", "score_calibration", "tuned_judges", "judge_certificates"}


@pytest.mark.slow
def test_what_changes_is_made_up_to_a_closed_gate_and_behind_it_once_it_opens(
    tmp_path: Path,
) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        automated = Automated(tmp_path / "sample", instance)
        assert automated.requested() == set()
        automated.run(keys(["human_labels"]))
        assert automated.requested() == set()  # with equal rows

        with (automated.folder / "labels.csv").open("a") as labels:
            labels.write("\n")
        downstream = automated.requested()
        assert downstream >= {"human_labels", "human_agreement", "agreement_report", *BEHIND}
        assert not downstream & {"judge_scores", "model_responses"}
        assert automated.run(keys(downstream)).success
        assert automated.requested() == set()

        automated.replace("evaluation.yaml", "human_alpha: {min: 0.667", "human_alpha: {min: 0.999")
        requested = automated.requested()
        assert requested >= {"rubric_questions", "judge_scores", *BEHIND}
        result = automated.run(keys(requested))
        materializations = {
            event.asset_key.to_user_string()
            for event in result.get_asset_materialization_events()
            if event.asset_key
        }
        assert not result.success
        assert requested - materializations >= BEHIND
        assert automated.requested() == set()

        label_file = automated.folder / "labels.csv"
        label_file.write_text("".join(label_file.read_text().splitlines(keepends=True)[:-2]))
        relabelled = automated.requested()
        assert relabelled >= {"human_labels", "human_agreement", "human_agreement:human_alpha"}
        stopped = automated.run(keys(relabelled))
        assert not stopped.success
        # The check of what is held back is made by the step of the gates.
        assert "certificates_valid" in {
            check.check_name for check in stopped.get_asset_check_evaluations()
        }
        assert automated.requested() == set()

        automated.replace("evaluation.yaml", "human_alpha: {min: 0.999", "human_alpha: {min: 0.1")
        reopened = automated.requested()
        assert reopened >= {"human_agreement", "agreement_report"}
        assert reopened >= BEHIND
        assert automated.run(keys(reopened)).success
        last = instance.get_latest_materialization_event(dg.AssetKey("judge_certificates"))
        gates = instance.get_latest_materialization_event(dg.AssetKey("human_agreement"))
        assert last is not None
        assert gates is not None
        assert last.timestamp > gates.timestamp
        assert automated.requested() == set()
