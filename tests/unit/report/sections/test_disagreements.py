"""Disagreements: the worst first, with the texts in a fold."""

from dataclasses import replace

from eval_assets.report._document import Fold, Quote
from eval_assets.report.sections import disagreements
from tests.unit.report.builder import Case
from tests.unit.report.reading import cards, paragraphs

LONG = "A sentence that goes on. " * 400


def test_the_number_left_out_is_stated() -> None:
    lead, facts, ratings = paragraphs(disagreements.section(Case().data()))

    assert lead.startswith("The worst 1 of 31 in the table label_disagreements.")
    assert facts == (
        "clarity · fern-small · from one end of the scale to the other · 2 ratings, 4 points "
        "apart, standard deviation 2.00"
    )
    assert ratings == "r1: 1 · r2: 5"


def test_a_long_text_is_shortened_and_whole_in_a_fold() -> None:
    card = cards(disagreements.section(Case(response_text=LONG).data()))["resp-1"]

    *_, start, fold = card.blocks
    assert isinstance(start, Quote)
    assert len(start.text) < 250
    assert isinstance(fold, Fold)
    assert fold.blocks[1] == Quote(LONG)


def test_without_any_that_is_stated() -> None:
    data = Case().data()
    data = replace(data, label_disagreements=data.label_disagreements.head(0), n_disagreements=0)

    assert paragraphs(disagreements.section(data)) == ["No response has raters far apart."]
