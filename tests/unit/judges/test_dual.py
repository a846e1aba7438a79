"""Two judges: where they differ, and when one is enough."""

import math

import pytest

from eval_assets.evaluation import Staged
from eval_assets.judges.documents import Document, checked_query, units_of
from eval_assets.judges.dual import Pair, Stage, disagreements, next_stage, spot_checks
from eval_assets.scale import Scale

UNIT = Scale(low=0, high=1)
WIDE = Scale.from_steps(low=1, high=5)


def pairs(*scores: tuple[float, float], group: str = "q", scale: Scale = UNIT) -> list[Pair]:
    return [
        Pair(f"{group}{i}", "relevance", group, scale, first, second)
        for i, (first, second) in enumerate(scores)
    ]


def test_opposite_scores_disagree_even_where_their_means_are_equal() -> None:
    # Differences 1 and 1: mean 1, though both judges' means are 0.5.
    found = disagreements(pairs((1, 0), (0, 1)))
    assert [(each.scope, each.difference) for each in found] == [
        ("group", 1.0),
        ("response", 1.0),
        ("response", 1.0),
    ]


def test_the_limits_themselves_are_no_disagreement() -> None:
    assert disagreements(pairs((0.3, 0.0))) == []
    assert disagreements(pairs((0.8, 0.5), (0.9, 0.6))) == []
    found = disagreements(pairs((0.7, 0.3)))  # 0.4 is above 0.3 and not above 0.4
    assert [each.scope for each in found] == ["response"]


def test_differences_are_taken_on_the_declared_scale() -> None:
    # 1 point of 4 is 0.25, 2 points are 0.5; their mean is 0.375.
    found = disagreements(pairs((1, 2), (5, 3), scale=WIDE))
    assert [(each.scope, each.response_id, each.difference) for each in found] == [
        ("response", "q1", 0.5)
    ]


@pytest.mark.parametrize(
    ("stage", "kappa", "exact", "n", "expected"),
    [
        ("both", 0.85, 0.9, 100, "one"),
        ("both", 0.849, 0.9, 100, "both"),
        ("both", 0.99, 0.9, 99, "both"),
        ("both", math.nan, 1.0, 100, "both"),
        ("one", 0.70, 0.9, 20, "one"),
        ("one", 0.699, 0.9, 20, "both"),
        ("one", 0.0, 0.5, 4, "one"),
        ("one", math.nan, 1.0, 20, "one"),
        ("one", math.nan, 0.9, 20, "both"),
    ],
)
def test_a_stage_changes_only_on_evidence(
    stage: Stage, kappa: float, exact: float, n: int, expected: Stage
) -> None:
    decision = next_stage(stage, kappa=kappa, exact_agreement=exact, n_units=n, staged=Staged())
    assert decision.stage == expected
    assert decision.reason


def test_spot_checks_are_exactly_the_share_and_the_same_in_any_order() -> None:
    ids = [f"r{i}" for i in range(1000)]
    chosen = spot_checks(ids, share=0.05)
    assert len(chosen) == 50
    assert spot_checks(ids[::-1], share=0.05) == chosen
    assert len(spot_checks(ids[:40], share=0.05)) == 5
    assert len(spot_checks(ids[:3], share=0.05)) == 3


def test_a_query_with_its_documents_becomes_units() -> None:
    query_id, query, documents = checked_query(7, "cats", [{"id": 3, "content": ""}])
    assert documents == (Document(3, ""),)
    (unit,) = units_of(query_id, query, documents)
    assert (unit.response_id, unit.prompt_text, unit.response_text) == ("7/3", "cats", "")


def test_everything_wrong_with_a_query_is_told_at_once() -> None:
    docs = [{"id": 1}, {"id": 2, "content": "x"}, {"id": 2, "content": "y"}, 5]
    with pytest.raises(ExceptionGroup) as raised:
        checked_query(0, " ", docs)
    assert [str(error) for error in raised.value.exceptions] == [
        "dual-judge:query_id: 0 is no positive integer. Number it.",
        "dual-judge:query: the query is empty. Write what is looked for.",
        'dual-judge:docs[0]: there is no content. Give it a text "content", which may be empty.',
        'dual-judge:docs[3]: there is no id. Give it an integer "id".',
        "dual-judge:docs: id 2 is there 2 times. Give each document its own.",
    ]
    with pytest.raises(ExceptionGroup, match="cannot be judged"):
        checked_query(True, "cats", [])
