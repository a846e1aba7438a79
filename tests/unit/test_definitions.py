"""Definitions that Dagster loads: of one evaluation folder, and of a folder of several."""

import shutil
from pathlib import Path

import dagster as dg
import pytest

from eval_assets.assets.evaluation_definitions import project_definitions

DATA = Path(__file__).parents[2] / "data"


def definitions(folder: Path) -> dg.Definitions:
    return project_definitions(folder)


def keys(result: dg.Definitions) -> set[str]:
    """Return the keys of all assets as text."""
    return {key.to_user_string() for key in result.resolve_asset_graph().get_all_asset_keys()}


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """A folder of two evaluations and of files that are none."""
    for name in ("sample", "contested"):
        shutil.copytree(DATA / name, tmp_path / name, ignore=shutil.ignore_patterns("out"))
    (tmp_path / "notes").mkdir()
    (tmp_path / "README.md").touch()
    return tmp_path


def test_one_folder_has_assets_without_prefix() -> None:
    result = definitions(DATA / "sample")
    repository = result.get_repository_def()

    assert {"human_agreement", "judge_splits"} <= keys(result)
    assert {sensor.name for sensor in repository.sensor_defs} >= {"new_files", "check_alerts"}
    schedules = {schedule.name for schedule in repository.schedule_defs}
    assert schedules == {"scheduled_rerun"}
    assert {"evaluate", "score"} <= {job.name for job in repository.get_all_jobs()}


@pytest.mark.parametrize(
    "name", ["2026 tickets", "_drafts", "\N{LATIN SMALL LETTER U WITH DIAERESIS}n", "\u65e5\u672c"]
)
def test_folder_of_any_name_has_jobs(tmp_path: Path, name: str) -> None:
    shutil.copytree(DATA / "sample", tmp_path / name, ignore=shutil.ignore_patterns("out"))

    file = tmp_path / name / "evaluation.yaml"
    file.write_text(file.read_text().replace("name: autonomy-and-agency", f"name: {name}"))

    for folder in (tmp_path, tmp_path / name):
        assert definitions(folder).get_repository_def().get_all_jobs()


def test_each_evaluation_of_a_folder_has_all_of_them_under_its_name(several: Path) -> None:
    single = keys(definitions(several / "sample"))
    result = definitions(several)
    repository = result.get_repository_def()

    assert keys(result) == {f"{name}/{key}" for name in ("sample", "contested") for key in single}
    checks = {check.asset_key.path[0] for check in repository.asset_graph.asset_check_keys}
    assert checks == {"sample", "contested"}
    names = [sensor.name for sensor in repository.sensor_defs]
    names += [schedule.name for schedule in repository.schedule_defs]
    schedules = [f"{name}_scheduled_rerun" for name in ("contested", "sample")]
    sensors = ["check_alerts", "input_files", "new_files"]
    assert sorted(names) == sorted([*sensors, *schedules])
    asset_keys = result.resolve_job_def("sample_evaluate").asset_layer.selected_asset_keys
    assert {key.path[0] for key in asset_keys} == {"sample"}
    for job in ("evaluate", "score"):
        parts = [result.resolve_job_def(f"{name}_{job}") for name in ("contested", "sample")]
        keys_of_parts = [part.asset_layer.selected_asset_keys for part in parts]
        of_all = result.resolve_job_def(job).asset_layer.selected_asset_keys
        assert of_all == set().union(*keys_of_parts)
        assert len(of_all) == 2 * len(keys_of_parts[0])


def test_each_step_has_the_name_of_its_evaluation(several: Path) -> None:
    """Dagster would number steps of one name, those of checks in an order by hash seed."""
    result = definitions(several)
    materializations = [
        (definition.node_def.name, {key.path[0] for key in definition.keys})
        for definition in result.assets or []
        if isinstance(definition, dg.AssetsDefinition) and definition.is_executable
    ]
    checked = [
        (definition.node_def.name, {key.asset_key.path[0] for key in definition.check_keys})
        for definition in result.asset_checks or []
    ]
    steps = {node.name for node in result.resolve_implicit_global_asset_job_def().nodes}

    assert len(checked) >= 10
    assert all({name.partition("__")[0]} == of for name, of in [*materializations, *checked])
    assert steps == {name for name, _ in [*materializations, *checked]}
    assert len(steps) == len(materializations) + len(checked)


def test_a_folder_that_is_added_appears_when_definitions_are_loaded_again(several: Path) -> None:
    shutil.copytree(several / "sample", several / "pilot")

    assert "pilot/human_agreement" in keys(definitions(several))


def test_a_broken_file_takes_down_its_own_evaluation_only(
    several: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = several / "contested" / "evaluation.yaml"
    broken.write_text(broken.read_text().replace("likert5", "likert55"))
    result = definitions(several)
    assert {key for key in keys(result) if key.startswith("contested")} == {"contested/evaluation"}
    [warning] = caplog.messages
    assert "likert55" in warning
    assert result.resolve_job_def("contested_score")
    run = result.resolve_implicit_global_asset_job_def().execute_in_process(
        asset_selection=[
            dg.AssetKey(["sample", "rubric_questions"]),
            dg.AssetKey(["contested", "evaluation"]),
        ],
        raise_on_error=False,
    )

    failed = {
        event.step_failure_data.user_failure_data.description
        for event in run.all_events
        if event.is_step_failure and event.step_failure_data.user_failure_data
    }
    [message] = failed
    assert message is not None
    assert "evaluation.yaml" in message
    assert "likert55" in message
    [done] = run.get_asset_materialization_events()
    assert done.asset_key == dg.AssetKey(["sample", "rubric_questions"])


def test_schedule_is_that_of_the_file(several: Path) -> None:
    inputs = several / "sample" / "evaluation.yaml"
    with inputs.open("a") as lines:
        lines.write('schedule: {cron: "30 5 * * 1", timezone: Europe/Berlin}\n')
    result = definitions(several)
    schedule = result.resolve_schedule_def("sample_scheduled_rerun")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 5 * * 1", "Europe/Berlin")


def test_shards_are_steps_of_their_own_before_one_that_collects(several: Path) -> None:
    declared = several / "sample" / "evaluation.yaml"
    declared.write_text(declared.read_text() + "judging: {shards: 3}\n")
    result = definitions(several)

    steps = (
        result.resolve_job_def("sample_evaluate").get_job_index().job_snapshot.node_defs_snapshot
    )
    names = {op.name for op in steps.op_def_snaps}
    assert {f"sample__judge_shard_{k}_of_3" for k in (1, 2, 3)} <= names
    assert "sample__collect_judge_scores" in names
    plain = definitions(DATA / "sample").resolve_asset_graph()
    sharded = definitions(several / "sample").resolve_asset_graph()
    key = dg.AssetKey("judge_scores")
    for of_asset in (
        "parent_keys",
        "child_keys",
        "check_keys",
        "group_name",
        "kinds",
        "description",
    ):
        assert getattr(sharded.get(key), of_asset) == getattr(plain.get(key), of_asset)


def pools(result: dg.Definitions) -> dict[str, str | None]:
    """Return the pool of each asset of one op."""
    graph = result.resolve_asset_graph()
    return {
        key.to_user_string(): next(iter(graph.get(key).pools or ()), None)
        for key in graph.get_all_asset_keys()
        if graph.get(key).is_materializable
    }


def test_recorded_judges_take_no_pool() -> None:
    assert set(pools(definitions(DATA / "sample")).values()) == {None}


@pytest.fixture
def live(tmp_path: Path) -> Path:
    """The sample with two live judges."""
    shutil.copytree(DATA / "sample", tmp_path / "live", ignore=shutil.ignore_patterns("out"))
    declaration = tmp_path / "live" / "evaluation.yaml"
    text = declaration.read_text("utf-8")
    before, _, _ = text.partition("\njudges:")
    declaration.write_text(
        f"{before}\njudges:\n  - {{id: gpt, provider: openai, model: gpt-6-luna}}\n"
        "  - {id: own, provider: openai, model: gpt-6-sol, api_key_env: TEAM_KEY}\n"
    )
    return tmp_path / "live"


def test_live_judges_take_the_pool_of_their_keys(live: Path) -> None:
    pool_of = pools(definitions(live))

    assert pool_of["judge_scores"] == "OPENAI_API_KEY+TEAM_KEY"
    assert {name for name, pool in pool_of.items() if pool} == {
        *("generated_responses", "judge_scores", "judge_drift")
    }


def test_live_and_recorded_judges_fit_into_one_folder(live: Path) -> None:
    shutil.copytree(DATA / "sample", live.parent / "recorded")
    shutil.copytree(live, live.parent / "also-live")

    job = definitions(live.parent).resolve_implicit_global_asset_job_def()

    assert {key.path[0] for key in job.asset_layer.executable_asset_keys} == {
        *("live", "recorded", "also-live")
    }


def test_report_waits_for_certificates(live: Path) -> None:
    """It shows them, and a closed gate in front of them must not hold it back."""
    priorities = [
        definitions(folder).resolve_assets_def("agreement_report").op.tags.get("dagster/priority")
        for folder in (DATA / "sample", live)
    ]

    assert priorities == ["-1", "-1"]
