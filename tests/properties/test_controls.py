"""Judges that never read the responses are named as such, on whatever scale."""

import pytest

from benchmarks.controls import JUDGES, PEOPLE, READS, People, named


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("people", PEOPLE, ids=lambda people: people.name)
def test_a_judge_that_never_reads_is_named_in_every_simulated_evaluation(
    people: People, judge: str
) -> None:
    assert named(people, judge, 200, n_sets=8) == 1
    assert named(people, judge, 72, n_sets=20) >= 0.95


def test_a_judge_that_reads_is_not_taken_for_one_that_never_does() -> None:
    assert named(PEOPLE[0], READS, 200, n_sets=8) == 0
