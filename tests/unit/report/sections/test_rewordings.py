"""Wordings of a question side by side."""

from dataclasses import replace

import numpy as np

from eval_assets.agreement.rounds import RewordedRatings, measure_rewordings
from eval_assets.report.sections import rewordings
from tests.unit.agreement.test_rounds import EVALUATION, halves
from tests.unit.report.builder import Case
from tests.unit.report.reading import cards, items, table


def test_wordings_stand_side_by_side_with_their_change() -> None:
    rows = measure_rewordings(
        RewordedRatings(halves(), np.arange(32)), EVALUATION, data_version="v1"
    )
    section = rewordings.section(replace(Case().data(), rubric_versions=rows))

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
    assert rewordings.section(Case().data()) is None
