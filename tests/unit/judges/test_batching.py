"""Judging by batch, on the vendors' batch endpoints as the fake provider speaks them."""

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from eval_assets.config.judges import Judge
from eval_assets.judges import batching
from eval_assets.ledger import Batch
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.faults import Faults
from tests.fake_provider.server import RunningProvider
from tests.unit.judges.conftest import KEY, PAIR, JudgeAll, MemoryLedger, units

BY_BATCH = tuple(dataclasses.replace(judge, batch=True) for judge in PAIR)


def test_a_batch_is_submitted_waited_for_and_collected_by_later_runs(
    provider: RunningProvider,
    ledger: MemoryLedger,
    judge_all: JudgeAll,
    caplog: pytest.LogCaptureFixture,
) -> None:
    provider.behave(Behaviour(batch_polls=1))
    first = judge_all(units(10), BY_BATCH)
    assert {(s.status, s.error) for s in first.scores} == {
        ("missing", "in a batch that the vendor works on")
    }
    assert [len(batch.subjects) for batch in ledger.batches] == [10, 10]

    with caplog.at_level("INFO"):
        judge_all(units(10), BY_BATCH)
    assert caplog.text.count("10 requests of ") == 2
    assert caplog.text.count("run again later to collect the replies") == 2
    done = judge_all(units(10), BY_BATCH)
    assert {score.status for score in done.scores} == {"ok"}
    assert ledger.batches == []
    assert provider.log.completions == ()

    provider.log.clear()
    assert judge_all(units(10), BY_BATCH).scores == done.scores
    assert provider.log.n_received == 0
    # The replies are those of live calls, and so a switch between the two asks nothing again.
    assert [s.score for s in judge_all(units(10)).scores] == [s.score for s in done.scores]
    assert provider.log.n_received == 0


def test_a_batch_costs_half(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(batch_polls=0))
    judge_all(units(3), BY_BATCH)
    judge_all(units(3), BY_BATCH)
    batched = {item.call_key: item for item in ledger.attempts}
    assert all(item.in_batch for item in batched.values())
    ledger.attempts.clear()
    judge_all(units(3))
    for item in ledger.attempts:
        cost = batched[item.call_key].cost_usd
        assert cost is not None
        assert item.cost_usd == pytest.approx(2 * cost)
        assert batched[item.call_key].response_id == item.response_id
    assert provider.log.completions != ()


def test_what_failed_or_expired_in_a_batch_is_asked_again_and_nothing_else(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    faults = Faults(by_text={"(list_1)": "server_error", "(list_2)": "hang", "(list_3)": "refusal"})
    provider.behave(Behaviour(faults=faults, batch_polls=0))
    judge_all(units(5), BY_BATCH)
    provider.behave(Behaviour(batch_polls=0))
    repeat = judge_all(units(5), BY_BATCH)
    assert Counter(s.status for s in repeat.scores) == {"ok": 4, "missing": 4, "refused": 2}
    assert [len(batch.subjects) for batch in ledger.batches] == [2, 2]
    done = judge_all(units(5), BY_BATCH)
    assert Counter(s.status for s in done.scores) == {"ok": 8, "refused": 2}
    assert sum(a.status == "api_error" for a in ledger.attempts) == 4


def test_a_reply_given_twice_counts_once(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(faults=Faults(rates={"duplicate": 1.0}), batch_polls=0))
    judge_all(units(4), BY_BATCH)
    assert {score.status for score in judge_all(units(4), BY_BATCH).scores} == {"ok"}
    assert len(ledger.attempts) == 8


def test_two_results_for_one_request_count_as_none_and_are_named(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={"(list_1)": "conflict"}), batch_polls=0))
    judge_all(units(3), BY_BATCH)
    provider.behave(Behaviour(batch_polls=0))
    scores = judge_all(units(3), BY_BATCH).scores
    assert Counter(score.status for score in scores) == {"ok": 4, "missing": 2}
    [*conflicts] = [a for a in ledger.attempts if a.error and "two results" in a.error]
    assert len(conflicts) == 2
    assert all('"score"' in (a.error or "") and "Hard to say" in (a.error or "") for a in conflicts)
    assert all(a.cost_usd for a in conflicts)
    assert {score.status for score in judge_all(units(3), BY_BATCH).scores} == {"ok"}


def test_a_reply_that_cannot_be_read_is_asked_for_more_strictly_in_the_next_batch(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(faults=Faults(by_text={"(list_1)": "prose"}), batch_polls=0))
    judge_all(units(3), BY_BATCH)
    provider.behave(Behaviour(batch_polls=0))
    judge_all(units(3), BY_BATCH)
    assert [len(batch.subjects) for batch in ledger.batches] == [1, 1]
    uploads = [item for item in provider.log.requests if b"could not be read" in item.body]
    assert len(uploads) == 2
    assert {score.status for score in judge_all(units(3), BY_BATCH).scores} == {"ok"}


def test_a_batch_that_the_vendor_does_not_know_stops_the_judge_and_is_not_paid_again(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(batch_polls=0))
    judge_all(units(2), BY_BATCH)
    lost = [dataclasses.replace(batch, batch_id="gone") for batch in ledger.batches]
    ledger.batches = lost
    provider.log.clear()
    for _ in range(2):
        summary = judge_all(units(4), BY_BATCH)
        assert all(
            judge.stopped.startswith("gone: the vendor does not know this batch of 2 requests")
            for judge in summary.models
        )
    assert ledger.batches == lost
    assert {request.method for request in provider.log.requests} == {"GET"}

    for batch in lost:
        ledger.store_batch(dataclasses.replace(batch, is_closed=True))
    judge_all(units(4), BY_BATCH)
    assert {score.status for score in judge_all(units(4), BY_BATCH).scores} == {"ok"}


@pytest.mark.parametrize("judge", BY_BATCH, ids=lambda judge: judge.provider)
def test_results_that_end_early_are_collected_later_and_not_paid_again(
    provider: RunningProvider, judge_all: JudgeAll, judge: Judge
) -> None:
    provider.behave(Behaviour(batch_polls=0))
    judge_all(units(6), [judge])
    provider.behave(Behaviour(batch_lines=3))
    summary = judge_all(units(6), [judge])
    assert "its results hold 3 of 6 requests" in summary.models[0].stopped
    assert Counter(score.status for score in summary.scores) == {"ok": 3, "missing": 3}
    provider.behave(Behaviour())
    assert {score.status for score in judge_all(units(6), [judge]).scores} == {"ok"}
    created = [r for r in provider.log.requests if r.method == "POST" and "batches" in r.path]
    assert len(created) == 1


def test_a_batch_of_another_evaluation_is_not_adopted(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    judge = BY_BATCH[1]
    provider.behave(Behaviour(batch_polls=3))
    judge_all(units(2), [judge])
    ledger.batches.clear()  # it is on another ledger

    def break_off(batch: Batch, prompts: Mapping[str, str]) -> None:
        MemoryLedger.store_batch(ledger, batch, prompts)
        raise BrokenOffError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ledger, "store_batch", break_off)
        with pytest.raises(BrokenOffError):
            judge_all(units(4)[2:], [judge])
    waiting = judge_all(units(4)[2:], [judge])
    assert {(score.status, score.error) for score in waiting.scores} == {
        ("missing", "in a batch that the vendor works on")
    }
    while {score.status for score in judge_all(units(4)[2:], [judge]).scores} != {"ok"}:
        assert {attempt.error for attempt in ledger.attempts} == set()
    created = [r for r in provider.log.requests if r.method == "POST" and "batches" in r.path]
    assert len(created) == 2


def test_replies_for_units_that_a_run_does_not_ask_about_are_kept_as_theirs(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(batch_polls=0))
    judge_all(units(3), BY_BATCH)
    judge_all(units(1), BY_BATCH)
    assert sorted((a.response_id, a.question_id, a.judge_id) for a in ledger.attempts) == [
        (unit.response_id, unit.question.id, judge.id) for unit in units(3) for judge in PAIR
    ]
    provider.log.clear()
    assert {score.status for score in judge_all(units(3), BY_BATCH).scores} == {"ok"}
    assert provider.log.n_received == 0


def test_a_batch_stays_within_the_budget(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(batch_polls=0))
    summary = judge_all(units(20), BY_BATCH[:1], budget_usd=0.01)
    assert {score.status for score in summary.scores} == {"missing", "budget_stopped"}
    n_submitted = len(ledger.batches[0].subjects)
    judge_all(units(20), BY_BATCH[:1], budget_usd=0.0)
    assert sum(attempt.cost_usd or 0 for attempt in ledger.attempts) <= 0.01
    assert len(ledger.attempts) == n_submitted < 20


@pytest.mark.parametrize("judges", [BY_BATCH, BY_BATCH[::-1]], ids=["cheap first", "dear first"])
def test_a_budget_keeps_pairs_of_batched_judges_together(
    provider: RunningProvider,
    ledger: MemoryLedger,
    judge_all: JudgeAll,
    judges: tuple[Judge, ...],
) -> None:
    provider.behave(Behaviour(batch_polls=0))
    uneven = [
        dataclasses.replace(unit, response_text=unit.response_text * (1 + number % 7))
        for number, unit in enumerate(units(30))
    ]
    summary = judge_all(uneven, judges, budget_usd=0.05)
    submitted = {
        judge.id: {
            score.response_id
            for score in summary.scores
            if score.judge_id == judge.id and score.status == "missing"
        }
        for judge in judges
    }
    assert submitted["gpt"] == submitted["haiku"]
    assert 5 < len(submitted["gpt"]) < 30
    assert summary.n_budget_stopped == 2 * (30 - len(submitted["gpt"]))
    assert [len(batch.subjects) for batch in ledger.batches] == [len(submitted["gpt"])] * 2
    assert sum(batch.most_usd for batch in ledger.batches) <= 0.05


def test_settings_go_into_batches_as_into_requests(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    sampling = dataclasses.replace(BY_BATCH[1], model="claude-haiku-4-5")
    judge_all(units(1), [BY_BATCH[0], sampling])
    ledger.batches.clear()
    judge_all(units(1), [PAIR[0], dataclasses.replace(PAIR[1], model="claude-haiku-4-5")])
    (upload, create) = (e for e in provider.log.requests if e.path in {"/v1/files", BATCHES})
    line = next(part for part in upload.body.splitlines() if part.startswith(b'{"custom_id"'))
    (entry,) = json.loads(create.body)["requests"]
    live = {item.vendor: json.loads(item.body) for item in provider.log.completions}
    assert json.loads(line)["body"] == live["openai"]
    assert entry["params"] == live["anthropic"]
    assert entry["params"]["temperature"] == 0


BATCHES = "/v1/messages/batches"


def test_a_vendor_that_refuses_the_batch_stops_the_judge(
    provider: RunningProvider, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(faults=Faults(by_key={KEY: "unauthorized"})))
    summary = judge_all(units(2), BY_BATCH)
    assert {score.status for score in summary.scores} == {"api_error"}
    assert all(judge.stopped.startswith("401") for judge in summary.models)


def test_large_batches_are_split(
    monkeypatch: pytest.MonkeyPatch, judge_all: JudgeAll, ledger: MemoryLedger
) -> None:
    monkeypatch.setattr(batching, "_MOST_REQUESTS", 4)
    judge_all(units(10), BY_BATCH[:1])
    assert [len(batch.subjects) for batch in ledger.batches] == [4, 4, 2]


class BrokenOffError(RuntimeError):
    """The end of a process."""


@pytest.mark.parametrize("judge", BY_BATCH, ids=lambda judge: judge.provider)
@pytest.mark.parametrize("is_submitted", [False, True])
def test_a_batch_of_a_run_that_broke_off_is_looked_for_and_submitted_once(
    provider: RunningProvider,
    ledger: MemoryLedger,
    judge_all: JudgeAll,
    judge: Judge,
    *,
    is_submitted: bool,
) -> None:
    def break_off(batch: Batch, *prompts: Any) -> None:
        if batch.batch_id is None:
            MemoryLedger.store_batch(ledger, batch, *prompts)
        if is_submitted == (batch.batch_id is not None):
            raise BrokenOffError

    provider.behave(Behaviour(batch_polls=0))
    judge_all(units(2), [judge])  # another batch of two requests, which is not the one
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ledger, "store_batch", break_off)
        with pytest.raises(BrokenOffError):
            judge_all(units(4), [judge])
    for _ in range(2):
        last = judge_all(units(4), [judge])

    assert {score.status for score in last.scores} == {"ok"}
    created = [
        item.path
        for item in provider.log.requests
        if item.method == "POST" and item.path.endswith("/batches")
    ]
    assert len(created) == 2
    assert ledger.batches == []


@pytest.mark.parametrize("judge", BY_BATCH, ids=lambda judge: judge.provider)
def test_batch_that_was_created_with_a_server_error_is_not_paid_twice(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll, judge: Judge
) -> None:
    provider.behave(Behaviour(batch_error=True, batch_polls=0))
    assert {score.status for score in judge_all(units(4), [judge]).scores} == {"api_error"}

    provider.behave(Behaviour(batch_polls=0))
    done = judge_all(units(4), [judge])

    assert {score.status for score in done.scores} == {"ok"}
    assert ledger.batches == []
    requests = provider.log.requests
    assert sum(r.method == "POST" and r.path.endswith("/batches") for r in requests) == 1


def test_a_batch_that_the_vendor_refuses_stops_its_judge_with_the_reason(
    provider: RunningProvider,
    ledger: MemoryLedger,
    judge_all: JudgeAll,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batching, "in_batches", lambda requested: [[*requested, requested[0]]])
    provider.behave(Behaviour(batch_polls=0))
    judge_all(units(2), BY_BATCH[:1])
    summary = judge_all(units(2), BY_BATCH[:1])

    [judge] = summary.models
    assert judge.stopped.startswith("the batch failed: line 3: Each line needs a custom_id")
    assert {score.status for score in summary.scores} == {"api_error"}
    assert {attempt.raw_output for attempt in ledger.attempts} == {None}
    assert ledger.batches == []


def test_units_with_one_text_are_one_request_of_a_batch(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(batch_polls=0))
    twins = [units(1)[0], dataclasses.replace(units(1)[0], response_id="twin")]
    judge_all(twins, BY_BATCH)
    assert {score.status for score in judge_all(twins, BY_BATCH).scores} == {"ok"}
    assert len(ledger.attempts) == 2


def test_a_judge_that_is_asked_live_again_waits_for_its_batch_and_pays_nothing_twice(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(batch_polls=1))
    judge_all(units(2), BY_BATCH)
    live = judge_all(units(3))
    assert Counter(score.status for score in live.scores) == {"missing": 4, "ok": 2}
    assert {score.status for score in judge_all(units(3)).scores} == {"ok"}
    assert len(provider.log.completions) == 2
    assert ledger.batches == []


def test_what_another_run_has_in_flight_is_in_no_batch(
    provider: RunningProvider, ledger: MemoryLedger, judge_all: JudgeAll
) -> None:
    provider.behave(Behaviour(batch_polls=1000))
    judge_all(units(2), BY_BATCH[:1])
    repeat = judge_all(units(3), BY_BATCH[:1])
    assert [score.status for score in repeat.scores] == ["missing"] * 3
    assert [len(batch.subjects) for batch in ledger.batches] == [2, 1]
