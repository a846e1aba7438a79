"""Judges that never read the responses are named as such, on whatever scale; others are not."""

from dataclasses import replace

import pytest

from benchmarks.controls import (
    FURTHER_RATERS,
    JUDGES,
    MOST_WRONG,
    PEOPLE,
    PROMPT_ONLY,
    READ_PEOPLE,
    READS,
    People,
    named,
    verdicts_on,
)
from eval_assets.verdicts import JudgeVerdict


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("people", PEOPLE, ids=lambda people: people.name)
def test_a_judge_that_never_reads_is_named_in_every_simulated_evaluation(
    people: People, judge: str
) -> None:
    for n, n_sets in ((200, 8), (72, 20)):
        verdicts = verdicts_on(people, judge, n, n_sets=n_sets)
        is_named = [verdict for verdict in verdicts.elements() if verdict.is_control]

        assert len(is_named) >= people.named[n] * n_sets
        assert len(is_named) + verdicts[JudgeVerdict.INCONCLUSIVE] == n_sets


def test_a_judge_that_reads_is_not_taken_for_one_that_never_does() -> None:
    assert named(PEOPLE[0], READS, 200, n_sets=8) == 0


@pytest.mark.slow
@pytest.mark.parametrize("judge", FURTHER_RATERS)
@pytest.mark.parametrize("people", READ_PEOPLE, ids=lambda people: people.name)
@pytest.mark.parametrize("design", [(10, 10), (30, 1)])
def test_a_judge_as_good_as_a_person_is_not_named_in_a_small_evaluation(
    people: People, judge: str, design: tuple[int, int]
) -> None:
    n_groups, n_alike = design
    alike = replace(people, n_alike=n_alike)
    n_sets = 60
    two_errors = 2 * (MOST_WRONG * (1 - MOST_WRONG) / n_sets) ** 0.5

    assert named(alike, judge, n_groups * n_alike, n_sets=n_sets) <= MOST_WRONG + two_errors


@pytest.mark.slow
@pytest.mark.parametrize("people", READ_PEOPLE[:3], ids=lambda people: people.name)
@pytest.mark.parametrize("design", [(30, 4), (30, 10)])
def test_a_judge_that_reads_only_the_prompt_does_not_match_people(
    people: People, design: tuple[int, int]
) -> None:
    n_groups, n_alike = design
    alike = replace(people, n_alike=n_alike, shared=0.8)
    verdicts = verdicts_on(alike, PROMPT_ONLY, n_groups * n_alike, n_sets=20)

    assert verdicts[JudgeVerdict.MATCHES_HUMANS] == 0
    assert verdicts[JudgeVerdict.LIKE_PROMPT] >= 18
    assert named(alike, "one more person", n_groups * n_alike, n_sets=20) <= 0.05
