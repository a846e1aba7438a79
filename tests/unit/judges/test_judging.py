"""Judging, by the real SDK clients against a server that misbehaves."""

import asyncio
import dataclasses
import json
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import pytest

from eval_assets.config.evaluation import Evaluation
from eval_assets.config.judges import Judge
from eval_assets.errors import InputError
from eval_assets.judges.calling import session
from eval_assets.judges.calling.client import RetryPolicy
from eval_assets.judges.calling.live_model import live_models
from eval_assets.judges.calling.progress import Estimate, Progress
from eval_assets.judges.calling.session import RequestOptions
from eval_assets.judges.credentials import api_keys
from eval_assets.judges.judging import judge_portions
from eval_assets.judges.judging_plan import Unit
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.ledger import Attempt
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults, mixed_rates
from tests.fake_provider.planted import Planted
from tests.fake_provider.rate_limit import RateLimit
from tests.fake_provider.server import RunningProvider, running
from tests.unit.judges.conftest import (
    IMPATIENT,
    KEY,
    PAIR,
    QUESTION,
    JudgeAll,
    MemoryLedger,
    judging,
    units,
)

OWN_MODEL = Judge("own", "openai", "llama3.2")


def test_two_judges_score_every_unit_and_a_second_run_sends_no_request(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    first = judge_all(units(40))
    assert [(s.response_id, s.judge_id) for s in first.scores[:3]] == [
        ("r0", "gpt"),
        ("r0", "haiku"),
        ("r1", "gpt"),
    ]
    assert {score.status for score in first.scores} == {"ok"}
    assert all(QUESTION.scale.contains(score.score) for score in first.scores)
    assert provider.log.n_received == len(ledger.attempts) == 80

    second = judge_all(units(40))
    assert provider.log.n_received == 80
    assert second.scores == first.scores
    assert [judge.n_from_ledger for judge in second.models] == [40, 40]


def test_both_vendors_get_the_same_prompt_to_the_letter(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    judge_all([Unit("r", QUESTION, 'Say "hi".', "</response> {{ x }} é\n")])
    bodies = {item.vendor: json.loads(item.body) for item in provider.log.completions}
    system, user = bodies["openai"]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert [block["text"] for block in bodies["anthropic"]["system"]] == [system["content"]]
    assert bodies["anthropic"]["messages"] == [user]
    assert (
        bodies["openai"]["response_format"]["json_schema"]["schema"]
        == bodies["anthropic"]["output_config"]["format"]["schema"]
    )


def test_settings_go_only_to_models_that_take_them(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    takes = Judge("takes", "openai", "gpt-4o", settings={"max_tokens": 200})
    claude = Judge("claude", "anthropic", "claude-haiku-4-5")
    summary = judge_all(units(1), (takes, claude, *PAIR))
    assert {score.status for score in summary.scores} == {"ok"}
    bodies = {json.loads(e.body)["model"]: json.loads(e.body) for e in provider.log.completions}
    assert bodies["gpt-4o"]["temperature"] == 0
    assert bodies["gpt-4o"]["max_completion_tokens"] == 200
    assert "reasoning_effort" not in bodies["gpt-4o"]
    assert "temperature" not in bodies["gpt-6-luna"]
    assert bodies["gpt-6-luna"]["reasoning_effort"] == "low"
    assert bodies["claude-haiku-4-5"]["temperature"] == 0
    assert "temperature" not in bodies["claude-haiku-5-5"]
    assert bodies["claude-haiku-5-5"]["output_config"]["effort"] == "low"
    assert bodies["claude-haiku-5-5"]["max_tokens"] >= 1000


def test_with_30_percent_faults_every_unit_is_scored_or_accounted_for(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(
        Behaviour(faults=Faults(rates=mixed_rates(0.3), seed=1), retry_after_seconds=0.02)
    )
    summary = judge_all(units(60))
    assert len(summary.scores) == 120
    assert sum(score.status == "ok" for score in summary.scores) > 96
    for score in summary.scores:
        assert (score.status == "ok") == (not math.isnan(score.score))
        assert bool(score.error) == (score.status in ("api_error", "timeout"))
    assert not any(judge.stopped for judge in summary.models)
    assert provider.log.n_received == len(ledger.attempts)
    assert Counter(a.judge_id for a in ledger.attempts) == {
        judge.model_id: judge.n_attempts for judge in summary.models
    }
    # A rerun asks only where no reply arrived, and leaves what was scored as it was.
    unanswered = {s for s in summary.scores if s.status in ("api_error", "timeout")}
    provider.behave(Behaviour())
    provider.log.clear()
    repeat = judge_all(units(60))
    assert 0 < provider.log.n_received <= 2 * len(unanswered) + 10
    assert {s.status for s in repeat.scores}.isdisjoint({"api_error", "timeout"})
    assert {s for s in summary.scores if s.status == "ok"} <= set(repeat.scores)


def test_half_a_surrogate_pair_in_a_rationale_can_be_stored(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    reply = '{"rationale": "Nice \\ud83d \\u0000", "score": 4}'
    provider.behave(Behaviour(planted=Planted(scores={}, verbatim={"(list_1)": reply})))
    summary = judge_all(units(2))
    assert [(s.score, s.rationale) for s in summary.scores[2:]] == [(4, "Nice \ufffd \ufffd")] * 2
    assert judge_all(units(2)).scores == summary.scores


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("cut_off", "truncated"),
        ("refusal", "refused"),
        ("content_filter", "content_filter"),
        ("out_of_range", "out_of_range"),
        ("bad_request", "api_error"),
        ("reset", "api_error"),
        ("server_error", "api_error"),
        ("html_page", "api_error"),
    ],
)
def test_a_unit_without_a_score_says_why_and_leaves_the_others_alone(
    provider: RunningProvider, judge_all: JudgeAll, fault: str, status: str
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={"(list_3)": fault})))  # type: ignore[dict-item]
    summary = judge_all(units(6))
    assert {s.status for s in summary.scores if s.response_id != "r3"} == {"ok"}
    assert {s.status for s in summary.scores if s.response_id == "r3"} == {status}
    assert all(math.isnan(s.score) for s in summary.scores if s.response_id == "r3")


def test_a_request_that_hangs_ends_at_its_deadline(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={"(list_0)": "hang"})))
    judge = dataclasses.replace(PAIR[0], timeout_seconds=0.1)
    retry = RetryPolicy(delays_seconds=(0.01,))
    summary = judge_all(units(2), [judge], retry=retry)
    assert [score.status for score in summary.scores] == ["timeout", "ok"]
    assert [a.status for a in ledger.attempts if a.response_id == "r0"] == ["timeout", "timeout"]


def test_a_thinking_block_first_is_skipped(provider: RunningProvider, judge_all: JudgeAll) -> None:
    provider.behave(Behaviour(faults=Faults(rates={"thinking_first": 1.0})))
    assert {score.status for score in judge_all(units(3)).scores} == {"ok"}


def test_a_reply_that_cannot_be_read_is_asked_for_once_more_and_more_strictly(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    script = {KEY: ["prose", None, "prose", "prose"]}
    provider.behave(Behaviour(faults=Faults(script=script)))  # type: ignore[arg-type]
    judge = dataclasses.replace(PAIR[0], max_in_flight=1)
    summary = judge_all(units(1), [judge])
    assert summary.scores[0].status == "ok"
    plain, strict = (json.loads(item.body)["messages"] for item in provider.log.completions)
    assert strict[0] == plain[0]
    assert strict[1]["content"].startswith(plain[1]["content"])  # a cached prefix stays one
    assert "could not be read" in strict[1]["content"]
    summary = judge_all(units(2)[1:], [judge])
    assert summary.scores[0].status == "unparsable"
    assert provider.log.n_received == len(ledger.attempts) == 4


def test_what_cannot_be_read_is_asked_again_by_the_next_run_once_and_on_demand(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    judge = dataclasses.replace(PAIR[0], max_in_flight=1)
    provider.behave(Behaviour(faults=Faults(by_text={"(list_0)": "prose"})))
    for n_received in (2, 3, 3):
        assert judge_all(units(1), [judge]).scores[0].status == "unparsable"
        assert provider.log.n_received == n_received

    provider.behave(Behaviour())
    statuses = frozenset({"unparsable"})
    assert judge_all(units(1), [judge], ask_again=statuses).scores[0].status == "ok"
    assert judge_all(units(1), [judge], ask_again=statuses).scores[0].status == "ok"
    assert judge_all(units(1), [judge]).scores[0].status == "ok"
    assert provider.log.n_received == 4


def test_what_is_off_the_scale_is_asked_again_on_demand_alone(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    judge = dataclasses.replace(PAIR[0], max_in_flight=1)
    provider.behave(Behaviour(faults=Faults(by_text={"(list_0)": "out_of_range"})))
    for _ in range(2):
        assert judge_all(units(1), [judge]).scores[0].status == "out_of_range"
    assert provider.log.n_received == 1

    provider.behave(Behaviour())
    statuses = frozenset({"out_of_range"})
    assert judge_all(units(1), [judge], ask_again=statuses).scores[0].status == "ok"
    assert judge_all(units(1), [judge]).scores[0].status == "ok"
    assert provider.log.n_received == 2


def test_if_asking_again_fails_the_earlier_reply_stays(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    judge = dataclasses.replace(PAIR[0], max_in_flight=1)
    provider.behave(Behaviour(faults=Faults(by_text={"(list_0)": "prose"})))
    judge_all(units(1), [judge])
    provider.behave(Behaviour(faults=Faults(by_text={"(list_0)": "bad_request"})))
    assert judge_all(units(1), [judge]).scores[0].status == "unparsable"


@pytest.mark.parametrize("fault", ["quota", "no_credit", "unauthorized", "forbidden"])
def test_no_money_or_no_permission_stops_that_judge_at_once_and_no_other(
    provider: RunningProvider, judge_all: JudgeAll, fault: str
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={'"gpt-6-luna"': fault})))  # type: ignore[dict-item]
    judges = [dataclasses.replace(j, max_in_flight=4) for j in PAIR]
    gpt, haiku = judge_all(units(60), judges).models
    assert (gpt.statuses, gpt.n_attempts <= 4) == ({"api_error": 60}, True)
    assert gpt.stopped.startswith(("401", "403", "429"))
    assert "\n" not in gpt.stopped
    assert (haiku.statuses, haiku.stopped) == ({"ok": 60}, "")


@pytest.mark.slow
def test_an_endpoint_that_is_down_stops_the_judge_before_every_unit_was_tried(
    judge_all: JudgeAll,
) -> None:
    down = dataclasses.replace(PAIR[0], base_url="http://127.0.0.1:9/v1")
    (judge,) = judge_all(units(500), [down]).models
    assert judge.statuses == {"api_error": 500}
    assert "20 requests in a row failed" in judge.stopped
    assert judge.n_attempts < 1000


def test_judge_that_answers_none_of_a_few_requests_is_stopped(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={'"gpt-6-luna"': "bad_request"})))
    judge, other = judge_all(units(3)).models
    assert judge.stopped.startswith("no request was answered, the last failed with: 400")
    assert not other.stopped


@pytest.mark.slow
def test_overload_without_a_hint_never_stops_a_judge(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    faults = Faults(script={KEY: ["rate_limit_without_hint", "unavailable", "overloaded"] * 20})
    provider.behave(Behaviour(faults=faults))
    summary = judge_all(units(20))
    assert {score.status for score in summary.scores} == {"ok"}
    assert len(ledger.attempts) == 40 + 60


def test_a_vendor_that_stays_overloaded_is_given_up_in_the_end(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(faults=Faults(by_key={KEY: "rate_limit_without_hint"})))
    retry = dataclasses.replace(IMPATIENT, patience_seconds=0.3)
    (judge,) = judge_all(units(30), PAIR[:1], retry=retry).models
    assert judge.statuses == {"api_error": 30}
    assert judge.stopped.startswith("overloaded for")


@pytest.fixture(scope="module")
def unit_usd() -> dict[str, float]:
    """Mean cost of a unit by judge."""
    with running(Behaviour()) as provider:
        models = judging(provider, MemoryLedger())(units(100)).models
    return {judge.model_id: (judge.spent_usd or 0) / 100 for judge in models}


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.4, 0.8])
def test_at_least_90_percent_of_a_small_cap_are_used_and_never_more(
    ledger: MemoryLedger, judge_all: JudgeAll, unit_usd: dict[str, float], share: float
) -> None:
    cap = share * 200 * sum(unit_usd.values())
    judges = [dataclasses.replace(judge, settings={"max_tokens": 100}) for judge in PAIR]
    judge_all(units(200), judges, budget_usd=cap)
    spent = sum(attempt.cost_usd or 0 for attempt in ledger.attempts)
    assert 0.9 * cap <= spent <= cap


LONG_REPLY = json.dumps({"rationale": "very long " * 1200, "score": 3})


def planted_long(*numbers: int) -> Behaviour:
    """Replies of 3,000 tokens to some units, of which no reply before gives a sign."""
    texts = {f"sorted(list_{number})": LONG_REPLY for number in numbers}
    return Behaviour(planted=Planted(scores={}, verbatim=texts))


@pytest.mark.slow
def test_replies_that_suddenly_become_long_do_not_exceed_the_cap(
    provider: RunningProvider,
    ledger: MemoryLedger,
    judge_all: JudgeAll,
    unit_usd: dict[str, float],
) -> None:
    cap = 0.5 * 400 * unit_usd["gpt"]
    provider.behave(planted_long(*range(100, 400)))
    summary = judge_all(units(400), PAIR[:1], budget_usd=cap)
    spent = sum(attempt.charged_usd or 0 for attempt in ledger.attempts)
    assert 0.9 * cap <= spent <= cap
    assert summary.counted_usd == pytest.approx(spent)
    assert {score.status for score in summary.scores} == {"ok", "budget_stopped"}


def test_a_lost_connection_is_charged_by_estimate_with_the_difference(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={"(list_19)": "reset"})))
    [judge] = judge_all(units(20), [dataclasses.replace(PAIR[0], max_in_flight=1)]).models
    lost = [attempt for attempt in ledger.attempts if attempt.error]
    dearest = max(attempt.cost_usd or 0 for attempt in ledger.attempts)
    assert lost
    for attempt in lost:
        assert attempt.charged_usd is not None
        assert dearest < attempt.charged_usd < 6 * dearest
    assert judge.estimated_usd == pytest.approx(sum(a.charged_usd or 0 for a in lost))
    assert judge.uncertain_usd > judge.estimated_usd


def test_a_gateway_that_repeats_a_reply_shifts_no_score(
    provider: RunningProvider,
    judge_all: JudgeAll,
    ledger: MemoryLedger,
    caplog: pytest.LogCaptureFixture,
) -> None:
    judge = dataclasses.replace(PAIR[0], max_in_flight=1)
    right = {s.response_id: s.score for s in judge_all(units(30), [judge]).scores}
    repeat = [dataclasses.replace(unit, first_replicate=1) for unit in units(30)]
    provider.behave(Behaviour(shift_on="(list_15)"))
    first = judge_all(repeat, [judge])
    assert Counter(score.status for score in first.scores) == {"ok": 30}
    assert caplog.text.count("the gateway repeats replies") == 1
    assert all(attempt.raw_reply for attempt in ledger.attempts)
    assert provider.openai_base_url in caplog.text
    assert {score.response_id: score.score for score in first.scores} == right


def test_refused_responses_block_no_others(provider: RunningProvider, judge_all: JudgeAll) -> None:
    """Neither in the run that finds out, nor in the next one."""
    long = [
        dataclasses.replace(unit, response_text=f"LONG {unit.response_text}" * 9)
        for unit in units(40)
    ]
    to_rate = [*long, *units(90)[40:]]
    provider.behave(Behaviour(faults=Faults(by_text={"LONG": "bad_request"}), latency_seconds=0.01))
    for n_ok in (50, 60):
        summary = judge_all([*to_rate, *units(100)[90 : 40 + n_ok]])
        assert [judge.stopped for judge in summary.models] == ["", ""]
        assert Counter(s.status for s in summary.scores) == {"api_error": 80, "ok": 2 * n_ok}


@pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")  # the SDK knows it, too
def test_a_model_that_does_not_exist_stops_its_judge(judge_all: JudgeAll) -> None:
    retired = Judge("old", "anthropic", "claude-3-5-haiku-20241022")
    (judge,) = judge_all(units(3), [retired]).models
    assert judge.stopped.startswith("404 not_found_error")


def test_the_budget_holds_to_the_cent_and_the_rest_says_so(
    provider: RunningProvider,
    ledger: MemoryLedger,
    judge_all: JudgeAll,
    unit_usd: dict[str, float],
) -> None:
    provider.behave(Behaviour(latency_seconds=0.005))
    cost = 120 * sum(unit_usd.values())
    summary = judge_all(units(120), budget_usd=cost / 2 + 0.006)
    spent = sum(attempt.cost_usd or 0 for attempt in ledger.attempts)
    assert 0 < spent <= cost / 2 + 0.006
    assert {score.status for score in summary.scores} == {"ok", "budget_stopped"}
    assert summary.n_budget_stopped == sum(s.status == "budget_stopped" for s in summary.scores)
    assert summary.budget_left_usd == pytest.approx(cost / 2 + 0.006 - spent)
    # With more money the next run asks for the rest alone.
    n_scored, n_before = len(ledger.attempts), provider.log.n_received
    assert {score.status for score in judge_all(units(120)).scores} == {"ok"}
    assert provider.log.n_received - n_before == 240 - n_scored


def test_a_budget_that_runs_out_leaves_pairs_of_scores(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(latency_seconds=0.005))
    # Two calls a time fit, as dear as they may become; with all of gpt's first, haiku gets none.
    summary = judge_all(units(100), budget_usd=0.005)
    scored = {
        j: {s.response_id for s in summary.scores if s.judge_id == j and s.status == "ok"}
        for j in ("gpt", "haiku")
    }
    assert summary.n_budget_stopped > 0
    assert len(scored["gpt"] & scored["haiku"]) > 0.8 * len(scored["gpt"] | scored["haiku"])


def test_judges_of_unequal_price_share_a_budget_unit_by_unit(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    """A cheap judge that runs ahead would use up what its partner needs, and leave no pair."""
    provider.behave(Behaviour(latency_seconds=0.002))
    dear = Judge("dear", "openai", "gpt-6.1-terra", max_in_flight=2)
    summary = judge_all(units(100), (dear, PAIR[1]), budget_usd=0.04)
    scored = {
        j: {s.response_id for s in summary.scores if s.judge_id == j and s.status == "ok"}
        for j in ("dear", "haiku")
    }
    assert scored["dear"] == scored["haiku"]
    assert 2 < len(scored["dear"]) < 100
    assert sum(attempt.cost_usd or 0 for attempt in ledger.attempts) <= 0.04
    assert summary.n_budget_stopped == 2 * (100 - len(scored["dear"]))


def test_a_capped_run_needs_prices(judge_all: JudgeAll) -> None:
    with pytest.raises(InputError, match=r"budget_usd: the price of llama3\.2 is not known"):
        judge_all(units(1), [OWN_MODEL], budget_usd=1.0)
    (judge,) = judge_all(units(1), [OWN_MODEL]).models
    assert judge.spent_usd is None
    assert judge.estimate.cost_usd is None


def test_replicates_are_all_asked_kept_and_put_together_as_stated(
    ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    judge = dataclasses.replace(PAIR[0], replicates=3, aggregate="median")
    (score,) = judge_all(units(1), [judge]).scores
    assert sorted(attempt.replicate for attempt in ledger.attempts) == [0, 1, 2]
    assert len({attempt.call_key for attempt in ledger.attempts}) == 3
    assert len(score.runs or ()) == 3
    assert len(json.loads(score.raw_output)) == 3
    assert score.spread == 0


def test_responses_with_the_same_text_are_asked_about_once(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    same = [Unit(f"r{i}", QUESTION, "Sort it.", "x.sort()") for i in range(20)]
    summary = judge_all(same, PAIR[:1])
    assert provider.log.n_received == 1
    assert len({score.score for score in summary.scores}) == 1


def test_portions_are_scored_like_one_and_a_stopped_judge_is_asked_no_more(
    provider: RunningProvider, ledger: MemoryLedger
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={"(list_3)": "unauthorized"})))
    evaluation = Evaluation("test", Path(), (QUESTION,), judges=PAIR)
    portions: list[list[tuple[str, str]]] = []
    rows = units(60)
    summary = asyncio.run(
        judge_portions(
            (rows[start : start + 20] for start in (0, 20, 40)),
            live_models(
                evaluation,
                evaluation.live_judges,
                environ=provider.environment,
                today=date(2026, 11, 21),
            ),
            ledger,
            keep=lambda scores: portions.append([(s.response_id, s.judge_id) for s in scores]),
            template=PromptTemplate.load(None),
            options=RequestOptions(api_keys(PAIR, environ=provider.environment)),
        )
    )
    assert [len(scores) for scores in portions] == [40, 40, 40]
    requested = [(unit.response_id, judge.id) for unit in rows for judge in PAIR]
    assert [score for part in portions for score in part] == requested
    assert [sum(judge.statuses.values()) for judge in summary.models] == [60, 60]
    assert all(judge.stopped for judge in summary.models)
    assert provider.log.n_received <= 40, "nothing is asked after the first portion"
    assert not summary.scores


@pytest.mark.slow
def test_a_vendors_limit_is_found_without_losing_a_unit(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    limit = RateLimit(requests=30, window_seconds=0.2)
    provider.behave(Behaviour(limit=limit, latency_seconds=0.01))
    retry = RetryPolicy(delays_seconds=(0.1, 0.2, 0.4, 0.8), longest_wait_seconds=1.0)
    (judge,) = judge_all(units(150), PAIR[:1], retry=retry).models
    assert judge.statuses == {"ok": 150}
    assert judge.n_attempts < 3 * 150  # windows pass by the clock, also while others compute


def test_judges_of_one_model_share_what_its_vendor_allows(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(latency_seconds=0.05))
    one = dataclasses.replace(PAIR[0], max_in_flight=4)
    other = Judge("other", "openai", "gpt-6-luna", settings={"effort": "high"})
    summary = judge_all(units(30), (one, other))
    assert {score.status for score in summary.scores} == {"ok"}
    assert provider.log.n_received == 60
    assert provider.log.max_in_flight <= 4


def test_estimates_are_reported_before_the_first_request_and_progress_after(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    reports: list[tuple[int, Progress | Estimate]] = []
    judge_all(units(10), report=lambda item: reports.append((provider.log.n_received, item)))
    (n0, gpt), (n1, haiku), (_, end) = reports
    assert (n0, n1) == (0, 0)
    assert isinstance(gpt, Estimate)
    assert isinstance(haiku, Estimate)
    large = dataclasses.replace(gpt, n_requests=2832, input_tokens=113038, output_tokens=1000)
    assert "2,832 requests, about 113,038 tokens in and 1,000 out" in str(large)
    assert gpt.n_requests == haiku.n_requests == 10
    assert gpt.cost_usd is not None
    assert gpt.cost_usd > 0
    assert isinstance(end, Progress)
    assert (end.n_done, end.n_failed, end.n_total) == (20, 0, 20)


@pytest.mark.parametrize("is_batched", [False, True])
def test_budget_below_the_estimate_is_reported_before_the_first_request(
    provider: RunningProvider, judge_all: JudgeAll, *, is_batched: bool
) -> None:
    reports: list[tuple[int, object]] = []
    judges = [dataclasses.replace(judge, batch=is_batched) for judge in PAIR]
    judge_all(
        units(10),
        judges,
        budget_usd=0.0001,
        report=lambda item: reports.append((provider.log.n_received, item)),
    )

    [(n_received, warning)] = [(n, item) for n, item in reports if isinstance(item, str)]
    estimates = [item for _, item in reports if isinstance(item, Estimate)]
    assert n_received == 0
    estimated_usd = sum(estimate.cost_usd or 0 for estimate in estimates)
    assert warning.startswith(
        f"the budget leaves 0.0001 USD, the estimate is {estimated_usd:.4f} USD"
    )


def test_a_run_that_finds_everything_in_the_ledger_connects_to_nobody(
    judge_all: JudgeAll, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = judge_all(units(3))

    def refuse(_: object, *, api_key: str, keys: object) -> None:
        raise AssertionError(f"connected with {api_key} of {keys}")

    monkeypatch.setattr(session, "connect", refuse)
    assert judge_all(units(3)).scores == first.scores


def test_the_key_is_nowhere_but_in_the_request(
    provider: RunningProvider,
    ledger: MemoryLedger,
    judge_all: JudgeAll,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", logger="eval_assets")
    faults = Faults(rates=mixed_rates(0.5), by_text={"(list_1)": "unauthorized"})
    provider.behave(Behaviour(faults=faults))
    summary = judge_all(units(20))
    assert {request.key for request in provider.log.requests} == {KEY}
    shown = repr((summary, ledger.attempts, RequestOptions({"gpt": KEY}), caplog.text))
    assert KEY not in shown
    assert KEY.removeprefix("sk-") not in shown


def test_a_run_cut_short_keeps_what_had_arrived_and_the_next_one_completes_it(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(latency_seconds=0.05))
    environ = provider.environment
    evaluation = Evaluation("test", Path(), (QUESTION,), judges=PAIR)

    async def cut_short() -> None:
        task = asyncio.create_task(
            judge_portions(
                [units(200)],
                live_models(
                    evaluation, evaluation.live_judges, environ=environ, today=date(2026, 11, 21)
                ),
                ledger,
                template=PromptTemplate.load(None),
                options=RequestOptions(api_keys(PAIR, environ=environ)),
            )
        )
        while len(ledger.attempts) < 50:  # noqa: ASYNC110 - the ledger knows no events
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cut_short())
    given_up = [item for item in ledger.attempts if item.raw_output is None]
    assert {item.error for item in given_up} == {"given up when the run was interrupted"}
    assert all(item.charged_usd for item in given_up)  # they may be billed
    n_kept = len(ledger.attempts) - len(given_up)
    assert 50 <= n_kept < 400
    assert len(ledger.attempts) >= provider.log.n_received
    n_before = provider.log.n_received
    assert {score.status for score in judge_all(units(200)).scores} == {"ok"}
    assert provider.log.n_received - n_before == 400 - n_kept


def test_a_ledger_that_cannot_be_written_ends_the_run_with_one_error(
    judge_all: JudgeAll, ledger: MemoryLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(ledger, "record", full)
    with pytest.raises(OSError, match="no space left"):
        judge_all(units(50))


def test_nothing_is_sent_while_the_ledger_does_not_store_what_arrives(
    judge_all: JudgeAll,
    ledger: MemoryLedger,
    provider: RunningProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n_received, store = [0], ledger.record

    def fill(attempts: Sequence[Attempt], prompts: Mapping[str, str]) -> None:
        if len(ledger.attempts) < 20:
            store(attempts, prompts)
            return
        while n_received[-1] != provider.log.n_received:
            n_received.append(provider.log.n_received)
            time.sleep(0.5)
        raise OSError("no space left")

    monkeypatch.setattr(ledger, "record", fill)
    provider.behave(Behaviour(latency_seconds=0.4))
    with pytest.raises(OSError, match="no space left"):
        judge_all(units(400), [dataclasses.replace(PAIR[0], max_in_flight=None)])
    assert provider.log.n_received == n_received[-1] < 100


@pytest.mark.parametrize("text", ["record", "replies"])
def test_a_ledger_that_fails_also_ends_a_run_whose_requests_wait_for_the_budget(
    judge_all: JudgeAll,
    ledger: MemoryLedger,
    provider: RunningProvider,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
) -> None:
    def gone(*_: object) -> None:
        raise OSError("the server is gone")

    monkeypatch.setattr(ledger, text, gone)
    with pytest.raises(OSError, match="the server is gone"):
        judge_all(units(50), budget_usd=0.01)
    assert provider.log.n_received < 50, "what cannot be kept is not asked for"


def test_a_backup_judge_scores_only_units_that_another_judge_left_without_a_score(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={"sorted(list_3)": "refusal"})))
    backup = Judge("backup", "openai", "gpt-4o-mini", backup=True)

    summary = judge_all(units(6), (*PAIR, backup))

    by_backup = [score for score in summary.scores if score.judge_id == "backup"]
    assert [score.response_id for score in by_backup] == ["r3"]
    assert {s.status for s in summary.scores if s.response_id != "r3"} == {"ok"}


def test_an_overloaded_vendor_is_given_up_where_somebody_waits(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={"(list_1)": "overloaded"})))
    retry = dataclasses.replace(IMPATIENT, counts_overload=True)
    scores = judge_all(units(2), retry=retry).scores
    assert [score.status for score in scores] == ["ok", "ok", "api_error", "api_error"]
    assert sum(attempt.response_id == "r1" for attempt in ledger.attempts) == 2 * 5


def test_a_process_that_slept_reads_its_replies_before_they_are_late(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    """The loop stands still for longer than the timeout, while the replies arrive."""
    provider.behave(Behaviour(latency_seconds=0.3))
    judges = [dataclasses.replace(judge, timeout_seconds=1.0, max_in_flight=16) for judge in PAIR]
    environment = provider.environment
    addresses = {
        "gpt": environment["OPENAI_BASE_URL"],
        "haiku": environment["ANTHROPIC_BASE_URL"],
    }
    for judge in judges:  # known, so that no request is sent alone
        ledger.in_flight[addresses[judge.id].rstrip("/"), judge.model or ""] = 16
    is_asleep: list[bool] = []

    def sleep_once(_: object) -> None:
        if not is_asleep:
            is_asleep.append(True)
            asyncio.get_running_loop().call_later(0.2, sleep_until_answered)

    def sleep_until_answered() -> None:
        deadline = time.monotonic() + 2.0
        while time.monotonic() < deadline or provider.log.n_in_flight:
            time.sleep(0.01)

    summary = judge_all(units(10), judges, report=sleep_once)

    assert Counter(score.status for score in summary.scores) == {"ok": 20}
    assert {attempt.status for attempt in ledger.attempts} == {"ok"}


def test_an_attempt_that_may_be_billed_is_charged_by_the_mean_of_replies(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    judge = dataclasses.replace(PAIR[0], max_in_flight=1)
    faults = Faults(by_text={"list_9)": "server_error"})
    provider.behave(Behaviour(faults=faults))

    judge_all(units(10), [judge])

    known = [attempt.cost_usd for attempt in ledger.attempts if attempt.cost_usd is not None]
    charged = [attempt.charged_usd for attempt in ledger.attempts if attempt.cost_usd is None]
    assert len(known) == 9
    assert charged == pytest.approx([1.25 * sum(known) / 9] * 5)


def test_a_document_that_is_always_refused_does_not_hold_the_others(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={"list_9)": "unavailable"})))

    summary = judge_all(units(10), [PAIR[0]])

    assert Counter(score.status for score in summary.scores) == {"ok": 9, "api_error": 1}
