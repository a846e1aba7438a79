import json
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_assets.stats import MonotoneMap
from eval_assets.tuning.claim_results import (
    MOST_EVALUATIONS,
    coarse_gain,
    evaluation_significance,
)
from eval_assets.tuning.history import (
    SHOWN,
    HeldOutEvaluation,
    QuestionTest,
    accepted_version,
    certified_version,
)
from eval_assets.tuning.versions import JudgeVersion
from tests.unit.tuning.made_up import certificate

READ_AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
GPT = JudgeVersion("gpt", "1.0.0", "declared", None, "f")
MAPPED = replace(
    GPT,
    version="1.0.1",
    step="calibration",
    maps={"q": MonotoneMap((1.0,), (2.0,), target=None, low=1, high=5)},
)


def reading(
    number: int, *, seal: int = 1, verdict: str = "inconclusive", **fields: object
) -> HeldOutEvaluation:
    inputs = {
        "candidates": (GPT,),
        "groups": ("g1", "g2"),
        "content": f"content {seal} {number}",
        "rows": ({"judge_id": "gpt", "version": "1.0.0", "verdict": verdict},),
        "certificates": {},
    }
    return HeldOutEvaluation(
        "q",
        seal,
        number,
        0.025,
        read_at=READ_AT + timedelta(days=number),
        **{**inputs, **fields},  # type: ignore[arg-type]
    )


def test_the_first_seal_has_not_been_read() -> None:
    seal = QuestionTest.of([])

    assert (seal.number, seal.next_number, seal.spent_groups) == (1, 1, frozenset())
    assert seal.is_due([GPT], n_groups=20, on_request=False)


def test_readings_count_up_under_one_seal() -> None:
    seal = QuestionTest.of([reading(2), reading(1)])

    assert (seal.number, seal.next_number) == (1, 3)
    assert seal.spent_groups == frozenset()


@pytest.mark.parametrize("last", [MOST_EVALUATIONS, SHOWN])
def test_a_spent_or_opened_seal_ends_and_its_groups_no_longer_count(last: int) -> None:
    seal = QuestionTest.of([reading(1, groups=("g1",)), reading(last, groups=("g1", "g2"))])

    assert (seal.number, seal.evaluations, seal.next_number) == (2, (), 1)
    assert seal.spent_groups == {"g1", "g2"}


@pytest.mark.parametrize(
    ("candidates", "n_groups", "on_request", "due"),
    [
        ([GPT], 2, False, False),
        ([MAPPED], 2, False, False),  # another map alone comes with every new label
        ([GPT], 3, False, True),  # the test has grown by half
        ([GPT], 2, True, True),
        ([replace(GPT, prompt_text="New.")], 2, False, True),
        ([replace(GPT, fingerprint="g")], 2, False, True),
        ([GPT, replace(GPT, judge_id="other")], 2, False, True),
    ],
)
def test_new_labels_alone_do_not_use_up_the_seal(
    candidates: list[JudgeVersion], n_groups: int, *, on_request: bool, due: bool
) -> None:
    assert (
        QuestionTest.of([reading(1)]).is_due(candidates, n_groups=n_groups, on_request=on_request)
        == due
    )


def test_a_reading_survives_json() -> None:
    original = reading(3, candidates=(GPT, MAPPED), certificates={"gpt": certificate()})
    fields = json.loads(json.dumps(original.as_json()))

    read = HeldOutEvaluation.from_json(
        fields, question_id="q", seal=1, number=3, level=0.025, read_at=original.read_at
    )
    assert read == original
    assert read.as_json() == original.as_json()
    assert [version.definition_hash for version in read.candidates] == [
        version.definition_hash for version in original.candidates
    ]


def test_the_version_accepted_last_is_the_judge_as_it_stands() -> None:
    newer = replace(GPT, version="1.1.0")
    rows = ({"judge_id": "gpt", "version": "1.1.0", "verdict": "accepted"},)
    evaluations = [
        reading(1, verdict="accepted"),
        reading(2, candidates=(newer,), rows=rows),
        reading(3),
    ]

    assert accepted_version(evaluations, "gpt") == newer
    assert accepted_version(evaluations[:1], "gpt") == GPT
    assert accepted_version(evaluations, "other") is None


def test_the_version_certified_last_is_the_current_one() -> None:
    newer = replace(GPT, version="1.1.0")
    evaluations = [
        reading(1, certificates={"gpt": certificate()}),
        reading(2, candidates=(newer,), certificates={"gpt": certificate()}),
        reading(3),
    ]

    assert certified_version(evaluations, "gpt", fingerprint=GPT.fingerprint) == newer
    assert certified_version(evaluations[:1], "gpt", fingerprint=GPT.fingerprint) == GPT
    assert certified_version(evaluations, "gpt", fingerprint="of another model") is None
    assert certified_version(evaluations, "other", fingerprint=GPT.fingerprint) is None


def test_half_of_the_responses_make_the_same_test() -> None:
    responses = {f"r{k}": f"text {k}" for k in range(20)}
    record = reading(1, responses=responses)
    half = {name: text for name, text in responses.items() if int(text.split()[1]) < 10}
    other_responses = {f"other {k}": f"another text {k}" for k in range(10)}

    assert record.is_of(responses)
    assert record.is_of(half | other_responses)
    assert not record.is_of({name: responses[name] for name in list(half)[:9]} | other_responses)
    assert not reading(1).is_of(responses)


def test_a_response_is_the_same_by_text_and_without_texts_by_id() -> None:
    texts = {f"r{k}": f"text {k}" for k in range(20)}
    ids = dict.fromkeys(texts, "")

    assert reading(1, responses=texts).is_of({f"renamed {k}": t for k, t in texts.items()})
    assert reading(1, responses=texts).is_of(ids)
    assert reading(1, responses=ids).is_of(texts)
    assert not reading(1, responses=texts).is_of({name: f"new {t}" for name, t in texts.items()})


def test_a_reading_that_the_ledger_lacks_keeps_its_number() -> None:
    assert QuestionTest.of([reading(1), reading(3)]).next_number == 4


def test_readings_under_another_name_count() -> None:
    evaluations = [reading(1), reading(4)]
    seal = QuestionTest.of(evaluations, [reading(2), reading(3)])

    assert seal.evaluations == tuple(evaluations)
    assert seal.next_number == 5
    spent = QuestionTest.of([], [reading(k) for k in range(1, MOST_EVALUATIONS + 1)])
    assert (spent.number, spent.next_number) == (2, 1)
    assert spent.spent_groups == {"g1", "g2"}


def test_names_that_were_read_apart_do_not_get_more_readings_together() -> None:
    apart = [reading(k) for k in range(1, 13)]
    seal = QuestionTest.of(apart, apart)

    assert (seal.number, seal.next_number) == (2, 1)
    assert seal.spent_groups == {"g1", "g2"}


def test_a_reading_that_was_cut_off_counts_and_is_made_again() -> None:
    seal = QuestionTest.of([reading(1, rows=())])

    assert seal.next_number == 2
    assert seal.is_due([GPT], n_groups=2, on_request=False)


def test_all_readings_together_stay_below_five_percent() -> None:
    total = sum(evaluation_significance(k, n_candidates=1) for k in range(1, MOST_EVALUATIONS + 1))

    assert total == pytest.approx(0.05 * MOST_EVALUATIONS / (MOST_EVALUATIONS + 1))


def test_candidates_of_one_reading_share_its_level() -> None:
    assert evaluation_significance(1, n_candidates=1) == 0.025
    assert evaluation_significance(3, n_candidates=4) == pytest.approx(0.05 / 12 / 4)


@pytest.mark.parametrize("reading", [0, 6])
def test_a_spent_seal_has_no_further_reading(reading: int) -> None:
    with pytest.raises(ValueError, match=f"evaluations are 1 to 5, got {reading}"):
        evaluation_significance(reading, n_candidates=1)


def test_a_reading_takes_a_candidate() -> None:
    with pytest.raises(ValueError, match="n_candidates must be at least 1, got 0"):
        evaluation_significance(1, n_candidates=0)


@given(st.floats(min_value=-2, max_value=2))
def test_a_coarse_gain_is_a_step_of_two_hundredths_and_near(gain: float) -> None:
    coarse = coarse_gain(gain)

    assert abs(coarse - gain) <= 0.01 + 1e-12
    assert round(coarse / 0.02) * 0.02 == pytest.approx(coarse)
    assert math.copysign(1, coarse) == 1 or coarse < 0  # no "-0.0"


def test_an_undefined_gain_stays_undefined() -> None:
    assert math.isnan(coarse_gain(math.nan))
