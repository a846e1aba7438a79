from collections import Counter
from itertools import combinations

import pytest

from eval_assets.labelling.assignments import (
    Assignment,
    AssignmentPlan,
    assign,
    reassign,
    shared_responses,
    stratified_sample,
)

STRATA = {f"r{k:03}": "ab"[k % 3 == 0] for k in range(120)}
RATERS = ("anna", "ben", "cleo")


def by_rater(assignments: list[Assignment], purpose: str) -> dict[str, set[str]]:
    return {
        rater: {a.response_id for a in assignments if (a.rater_id, a.purpose) == (rater, purpose)}
        for rater in RATERS
    }


def test_everybody_labels_everything_by_default() -> None:
    assignments = assign(STRATA, AssignmentPlan(raters=RATERS), existing=[])

    assert all(len(of) == 120 for of in by_rater(assignments, "shared").values())


def test_a_share_goes_to_everybody_and_the_rest_is_split_evenly() -> None:
    plan = AssignmentPlan(raters=RATERS, n_responses=60, overlap=0.5)
    assignments = assign(STRATA, plan, existing=[])
    shared, single = by_rater(assignments, "shared"), by_rater(assignments, "single")

    assert shared["anna"] == shared["ben"] == shared["cleo"]
    assert len(shared["anna"]) == 30
    assert [len(single[rater]) for rater in RATERS] == [10, 10, 10]
    assert len(set.union(shared["anna"], *single.values())) == 60


def test_raters_meet_the_same_responses_in_orders_of_their_own() -> None:
    assignments = assign(STRATA, AssignmentPlan(raters=RATERS, n_responses=20), existing=[])
    orders = {r: [a.response_id for a in assignments if a.rater_id == r] for r in RATERS}

    assert len({tuple(order) for order in orders.values()}) == 3


def test_the_same_seed_gives_the_same_assignments_and_another_seed_gives_others() -> None:
    def drawn(seed: int) -> list[Assignment]:
        return assign(STRATA, AssignmentPlan(raters=RATERS, n_responses=30, seed=seed), existing=[])

    assert drawn(1) == drawn(1)
    assert set(drawn(1)) != set(drawn(2))


def test_assignments_stay_as_they_are_when_responses_are_added() -> None:
    plan = AssignmentPlan(raters=RATERS, overlap=0.5)
    before = assign(STRATA, plan, existing=[])
    more = STRATA | {f"new{k}": "a" for k in range(10)}

    added = assign(more, plan, existing=before)

    assert {one.response_id for one in added} == {f"new{k}" for k in range(10)}


def test_a_second_call_adds_nothing_once_the_number_is_reached() -> None:
    plan = AssignmentPlan(raters=RATERS, n_responses=50)
    before = assign(STRATA, plan, existing=[])

    assert assign(STRATA, plan, existing=before) == []


@pytest.mark.parametrize("overlap", [0.0, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("per_rater", [1, 7, 40])
def test_no_rater_gets_more_than_the_limit(overlap: float, per_rater: int) -> None:
    plan = AssignmentPlan(raters=RATERS, overlap=overlap, per_rater=per_rater)
    assignments = assign(STRATA, plan, existing=[])

    loads = Counter(one.rater_id for one in assignments)
    assert max(loads.values(), default=0) <= per_rater
    assert not assign(STRATA, plan, existing=assignments)


def test_a_new_round_assigns_again() -> None:
    before = assign(STRATA, AssignmentPlan(raters=RATERS, n_responses=10), existing=[])
    repeat = assign(STRATA, AssignmentPlan(raters=RATERS, n_responses=10, round=2), existing=before)

    assert {one.round for one in repeat} == {2}
    assert len(repeat) == 30


def test_strata_are_sampled_in_proportion_or_equally() -> None:
    def sizes(allocation: str) -> Counter[str]:
        drawn = stratified_sample(STRATA, n=30, allocation=allocation, seed=3)  # type: ignore[arg-type]
        return Counter(STRATA[response] for response in drawn)

    assert sizes("proportional") == {"a": 20, "b": 10}
    assert sizes("equal") == {"a": 15, "b": 15}


def test_equal_shares_stop_at_what_a_stratum_has() -> None:
    drawn = stratified_sample(
        {"x": "small", **dict.fromkeys("abcdefgh", "large")}, n=6, allocation="equal", seed=1
    )

    assert "x" in drawn
    assert len(drawn) == 6


def test_the_first_part_of_a_sample_is_spread_over_the_strata_too() -> None:
    drawn = stratified_sample(STRATA, n=60, allocation="proportional", seed=5)

    first = Counter(STRATA[response] for response in drawn[:15])
    assert abs(first["a"] - 10) <= 1


def test_repeats_are_in_the_second_half_in_their_own_order() -> None:
    orders = []
    for rater in ("anna", "ben", "cleo", "dora"):
        plan = AssignmentPlan(raters=[rater], n_responses=60, repeat_share=0.2)
        assignments = assign(STRATA, plan, existing=[])
        order = [one.response_id for one in assignments]
        places = [place for place, one in enumerate(assignments) if one.purpose == "repeat"]
        firsts = [order.index(order[place]) for place in places]

        assert len(assignments) == 72
        assert len(places) == 12
        assert min(places) >= 30
        assert places[0] < 60
        assert max(firsts) < 20
        orders.append(firsts != sorted(firsts))
    assert all(orders)


def test_every_response_can_be_repeated() -> None:
    plan = AssignmentPlan(raters=["anna"], n_responses=9, repeat_share=1)
    assignments = assign(STRATA, plan, existing=[])
    repeats = [one.response_id for one in assignments if one.purpose == "repeat"]
    place = {(one.response_id, one.purpose == "repeat"): n for n, one in enumerate(assignments)}

    assert len({*repeats}) == 9
    assert all(place[name, False] < place[name, True] for name in repeats)


@pytest.mark.parametrize(
    "wrong",
    [
        {"raters": []},
        {"raters": ["a", "a"]},
        {"raters": ["a"], "overlap": 1.1},
        {"raters": ["a"], "repeat_share": -0.1},
        {"raters": ["a"], "n_responses": 0},
        {"raters": ["a", "b"], "raters_per_response": 3},
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"rater|overlap|repeat_share|n_responses"):
        AssignmentPlan(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("n_raters", "k", "n"), [(10, 3, 150), (10, 2, 45), (6, 4, 30), (5, 3, 7)])
def test_teams_have_even_loads_and_pairs(n_raters: int, k: int, n: int) -> None:
    raters = [f"r{number}" for number in range(n_raters)]
    strata = {f"a{number}": "" for number in range(n)}
    plan = AssignmentPlan(raters=raters, overlap=0.0, raters_per_response=k)
    assignments = assign(strata, plan, existing=[])
    loads = Counter(one.rater_id for one in assignments)
    pairs = shared_responses(assignments)
    numbers = [pairs[frozenset(pair)] for pair in combinations(raters, 2)]
    expected = n * k * (k - 1) / (n_raters * (n_raters - 1))

    assert set(Counter(one.response_id for one in assignments).values()) == {k}
    assert {one.purpose for one in assignments} == {"shared"}
    assert max(loads.values()) - min(loads[rater] for rater in raters) <= 2
    assert expected - 2 < min(numbers)
    assert max(numbers) < expected + 2


def test_teams_go_on_evenly_when_responses_are_added() -> None:
    plan = AssignmentPlan(raters=RATERS, overlap=0.0, raters_per_response=2)
    before = assign(dict(list(STRATA.items())[:10]), plan, existing=[])
    added = assign(STRATA, plan, existing=before)

    loads = Counter(one.rater_id for one in [*before, *added])
    assert sum(loads.values()) == 240
    assert max(loads.values()) - min(loads.values()) <= 2


def test_no_rater_of_a_team_gets_more_than_the_limit() -> None:
    plan = AssignmentPlan(raters=RATERS, overlap=0.0, raters_per_response=2, per_rater=7)
    assignments = assign(STRATA, plan, existing=[])

    assert max(Counter(one.rater_id for one in assignments).values()) <= 7
    assert set(Counter(one.response_id for one in assignments).values()) == {2}


def test_open_assignments_go_to_the_least_loaded_rater_who_has_not_the_response() -> None:
    assignments = [
        Assignment("a", "anna"),
        Assignment("a", "ben"),
        Assignment("b", "anna"),
        Assignment("c", "anna", purpose="single"),
        Assignment("c", "anna", purpose="repeat"),
        Assignment("d", "anna"),
        Assignment("d", "ben"),
        Assignment("d", "cleo"),
        Assignment("b", "anna", round=2),
    ]
    labelled = {"b": ["q1"]}
    result = reassign(
        assignments,
        "anna",
        to=["anna", "ben", "cleo"],
        round=1,
        questions_of=lambda one: (
            labelled.get(one.response_id, []),
            [q for q in ("q1", "q2") if q not in labelled.get(one.response_id, [])],
        ),
    )

    assert result.taken_over == [
        Assignment("a", "cleo"),
        Assignment("b", "ben", "q2"),
        Assignment("c", "cleo", purpose="single"),
    ]
    assert [(one.response_id, one.purpose) for one in result.dropped] == [
        ("c", "repeat"),
        ("d", "shared"),
    ]
    assert result.assignments == [
        Assignment("a", "ben"),
        Assignment("b", "anna", "q1"),
        Assignment("d", "ben"),
        Assignment("d", "cleo"),
        Assignment("b", "anna", round=2),
        *result.taken_over,
    ]
