"""Judging in shards, with the result of judging in one."""

import dagster as dg
import pytest

from eval_assets.assets import live_judging
from eval_assets.assets.evaluation_definitions import project_definitions
from eval_assets.assets.judging import ASK_AGAIN_TAG
from tests.e2e.conftest import N_RESPONSES, Evaluated, materialized
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults, mixed_rates
from tests.fake_provider.server import RunningProvider, running

pytestmark = pytest.mark.slow

N_RATINGS = 2 * 2 * N_RESPONSES
"""Of two judges, on two questions."""

LIVE = """judges:
  - {id: gpt, provider: openai, model: gpt-6-luna}
  - {id: haiku, provider: anthropic, model: claude-haiku-5-5}
gates: {judge_alpha: {min: -1}}
"""


@pytest.fixture
def live_folder(new_folder: Evaluated, monkeypatch: pytest.MonkeyPatch) -> Evaluated:
    """A folder with two live judges."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-secret-of-the-tests")
    declared = new_folder.path / "evaluation.yaml"
    head, _, _ = declared.read_text().partition("judges:")
    declared.write_text(head + LIVE)
    return new_folder


def score(
    folder: Evaluated,
    provider: RunningProvider,
    monkeypatch: pytest.MonkeyPatch,
    *,
    shards: int,
    tags: dict[str, str] | None = None,
) -> dg.ExecuteInProcessResult:
    """Run everything through the agreement of judges, in so many shards."""
    for name, value in provider.environment.items():
        monkeypatch.setenv(name, value)
    declared = folder.path / "evaluation.yaml"
    head, _, _ = declared.read_text().partition("judging:")
    declared.write_text(f"{head}judging: {{shards: {shards}}}\n")
    definitions = project_definitions(folder.path)
    selected = dg.AssetSelection.assets("judge_agreement", "judge_human_agreement").upstream()
    return definitions.resolve_job_def("evaluate").execute_in_process(
        asset_selection=sorted(
            selected.materializable().resolve(definitions.resolve_asset_graph())
        ),
        raise_on_error=False,
        tags=tags,
    )


def figures(folder: Evaluated) -> list[tuple[object, ...]]:
    """Return scores and what they amount to."""
    scores = "response_id, question_id, judge_id, score, status, raw_output"
    result = folder.rows(f"SELECT {scores} FROM judge_scores ORDER BY ALL")  # noqa: S608 - our own
    for table in ("judge_agreement", "judge_human_agreement"):
        result += folder.rows(f"SELECT * FROM {table} ORDER BY ALL")  # noqa: S608 - likewise
    return result


def test_shards_ask_nothing_twice_and_end_with_the_scores_of_one_part(
    live_folder: Evaluated, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(Behaviour()) as provider:
        with monkeypatch.context() as in_small_portions:
            in_small_portions.setattr(live_judging, "_UNITS_AT_ONCE", 7)
            in_shards = score(live_folder, provider, monkeypatch, shards=3)
        assert in_shards.success
        assert len(provider.log.completions) == N_RATINGS
        sharded = figures(live_folder)

        steps = {event.step_key for event in in_shards.all_events if event.is_step_success}
        name = live_folder.path.name
        shards = {f"{name}__judge_scores.{name}__judge_shard_{k}_of_3" for k in (1, 2, 3)}
        assert shards <= steps
        materialization = materialized(in_shards, "judge_scores")
        assert materialization.metadata["n_ok"].value == N_RATINGS
        version = (materialization.tags or {})["dagster/data_version"]

        (live_folder.path / "ledger.sqlite").unlink()
        in_one = score(live_folder, provider, monkeypatch, shards=1)
        assert figures(live_folder) == sharded
        tags = materialized(in_one, "judge_scores").tags or {}
        assert tags["dagster/data_version"] == version


def test_no_portion_is_empty_behind_the_last_unit(
    live_folder: Evaluated, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(live_judging, "_UNITS_AT_ONCE", N_RESPONSES)
    with running(Behaviour()) as provider, caplog.at_level("INFO"):
        assert score(live_folder, provider, monkeypatch, shards=1).success
    portions = [m for m in caplog.messages if m.startswith("units ")]
    n = N_RESPONSES
    assert portions == [f"units 1 to {n}", f"units {n + 1} to {2 * n}"]


def test_what_a_shard_left_unanswered_is_asked_by_whoever_collects(
    live_folder: Evaluated, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = Faults(rates=mixed_rates(0.2), seed=3)
    with running(Behaviour(faults=faults, retry_after_seconds=0.1)) as provider:
        assert score(live_folder, provider, monkeypatch, shards=3).success
    ((n, n_ok),) = live_folder.rows("SELECT count(*), count(score) FROM judge_scores")
    assert n == N_RATINGS
    assert isinstance(n_ok, int)
    assert n_ok > 0.8 * N_RATINGS
    ((n_twice,),) = live_folder.rows(
        "SELECT count(*) FROM (FROM judge_calls SELECT call_key WHERE raw_output IS NOT NULL "
        "GROUP BY call_key HAVING count(*) > 1)"
    )
    assert n_twice == 0


def test_what_could_not_be_read_is_asked_again_on_demand(
    live_folder: Evaluated, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses = "SELECT count(*) FROM judge_scores WHERE status = 'out_of_range'"
    with running(Behaviour(faults=Faults(rates={"out_of_range": 0.3}, seed=3))) as provider:
        score(live_folder, provider, monkeypatch, shards=3)
        ((n_before,),) = live_folder.rows(statuses)
        provider.behave(Behaviour())
        n_received = provider.log.n_received
        score(live_folder, provider, monkeypatch, shards=3)
        assert provider.log.n_received == n_received
        tags = {ASK_AGAIN_TAG: "out_of_range"}
        score(live_folder, provider, monkeypatch, shards=3, tags=tags)
        n_again = provider.log.n_received - n_received

    assert isinstance(n_before, int)
    assert n_again == n_before > 0
    assert live_folder.rows(statuses) == [(0,)]


def test_a_budget_holds_for_all_shards_together(
    live_folder: Evaluated, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = live_folder.path / "evaluation.yaml"
    # The most that a pair may cost is a small part of what a shard may spend.
    text = declared.read_text().replace(
        "}\n  - {id: haiku", ", settings: {max_tokens: 64}}\n  - {id: haiku"
    )
    text = text.replace("5-5}", "5-5, settings: {max_tokens: 64}}")
    declared.write_text(text + "budget_usd: 0.003\n")
    with running(Behaviour()) as provider:
        score(live_folder, provider, monkeypatch, shards=4)
    ((spent,),) = live_folder.rows("SELECT sum(cost_usd) FROM judge_calls")
    assert isinstance(spent, float)
    assert 0.002 < spent <= 0.003
    ((n_stopped,),) = live_folder.rows(
        "SELECT count(*) FROM judge_scores WHERE status = 'budget_stopped'"
    )
    assert isinstance(n_stopped, int)
    assert 0 < n_stopped < N_RATINGS
