"""Rounds of labelling in the report."""

from dataclasses import replace

import numpy as np

from eval_assets.agreement.rounds import RewordedRatings, measure_rewordings
from eval_assets.catalogue import UNDEFINED_FIGURE, Figure
from eval_assets.figures import RoundFigures
from eval_assets.render.document import Bullets, Section
from eval_assets.report.sections import rounds
from tests.unit.agreement.test_rounds import EVALUATION, halves
from tests.unit.report.builder import Case
from tests.unit.report.reading import blocks_in, cards, items, notes, table

LABEL = "Agreement between humans by round"


def a_round(
    number: int, alpha_gain: Figure = UNDEFINED_FIGURE, *, n_in_both: int = 24
) -> RoundFigures:
    return RoundFigures(
        question_id="clarity",
        round=number,
        n_responses=24,
        n_groups=12,
        n_raters=3,
        a_hh=Figure(0.8),
        alpha=Figure(0.5 + number / 10),
        alpha_level="ordinal",
        previous_round=number - 1 if number > 1 else None,
        n_in_both=n_in_both,
        n_groups_in_both=12,
        a_hh_gain=Figure(0.01),
        alpha_gain=alpha_gain,
        data_version="v1",
    )


def section_of(*rows: RoundFigures) -> Section:
    found = rounds.rounds(replace(Case().data(), rounds=rows))
    assert found is not None
    return found


def sentences(section: Section) -> list[str]:
    lists = [block for block in blocks_in(section.blocks) if isinstance(block, Bullets)]
    return [item.text for block in lists for item in block.items]


def test_a_rise_beyond_noise_a_fall_and_noise_are_told_apart() -> None:
    section = section_of(
        a_round(1),
        a_round(2, Figure(0.2, 0.1, 0.3)),
        a_round(3, Figure(0.01, -0.1, 0.12)),
        a_round(4, Figure(-0.2, -0.3, -0.1)),
    )

    assert sentences(section) == [
        (
            "clarity, round 2 after round 1: alpha rose by 0.200 (95 % interval +0.100 to +0.300) "
            "on 24 responses in 12 groups rated in both"
        ),
        (
            "clarity, round 3 after round 2: no clear change of alpha, +0.010 "
            "(95 % interval -0.100 to +0.120), on 24 responses in 12 groups rated in both"
        ),
        (
            "clarity, round 4 after round 3: alpha fell by 0.200 (95 % interval -0.300 to -0.100) "
            "on 24 responses in 12 groups rated in both"
        ),
    ]
    assert [row["Gain of alpha"] for row in table(section, LABEL)] == [
        "",
        "+0.200",
        "+0.010",
        "-0.200",
    ]
    assert notes(section, LABEL)[1][-1] == "+0.100 to +0.300"


def test_rounds_without_a_shared_response_say_so() -> None:
    section = section_of(a_round(1), a_round(2, n_in_both=0))

    assert sentences(section) == [
        (
            "clarity: no response has two ratings in both round 1 and round 2, so their figures "
            "differ by responses too"
        )
    ]
    assert table(section, LABEL)[1]["Gain of alpha"] == "undefined"


def test_there_is_no_section_without_rounds() -> None:
    assert rounds.rounds(Case().data()) is None


def test_wordings_stand_side_by_side_with_their_change() -> None:
    rows = measure_rewordings(
        RewordedRatings(halves(), np.arange(32)), EVALUATION, data_version="v1"
    )
    section = rounds.rewordings(replace(Case().data(), rubric_versions=rows))

    assert section is not None
    first, second = table(section, "Agreement between humans by wording")
    assert (first["Version"], first["New responses"], first["Change of alpha"]) == ("1", "", "")
    assert (second["Version"], second["New responses"]) == ("2", "16")
    assert second["Change of alpha"].startswith("+0.761")
    assert second["Gain of alpha"] == "undefined"
    [card] = cards(section).values()
    [sentence] = items(card, "Did it help?")
    assert sentence.startswith("clarity, version 2 after version 1: alpha rose by 0.761")


def test_one_wording_has_no_section() -> None:
    assert rounds.rewordings(Case().data()) is None
