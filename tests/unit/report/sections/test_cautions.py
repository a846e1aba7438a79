"""Cautions: what a reader should know before relying on a figure."""

from dataclasses import replace

import pandas as pd

from eval_assets.config.rubric import RubricQuestion
from eval_assets.report.sections.cautions import cautions
from eval_assets.scale import LIKERT5, Scale
from tests.unit.report.builder import QUESTIONS, Case, Measured, with_tables

CLARITY, SAFE = QUESTIONS


def cautions_of(case: Case) -> dict[str, str]:
    """Return what each caution says, by its title."""
    return {caution.term: caution.meaning for caution in cautions(case.data())}


def test_what_stands_out_among_raters_is_a_caution_by_question() -> None:
    title = "clarity: something stands out in the ratings"
    clarity = Measured(
        CLARITY,
        findings=(("pattern", "ann and bob gave equal ratings"), ("suggestion", "Revise it")),
    )

    caution = cautions_of(Case(measured=(clarity, Measured(SAFE))))
    assert caution[title] == "Ann and bob gave equal ratings."
    assert title not in cautions_of(Case())


def test_fewer_than_fifty_response_groups_are_a_caution_however_many_responses_they_hold() -> None:
    title = "Fewer than 50 response groups: use the intervals, not the values"

    assert title not in cautions_of(Case(measured=(Measured(CLARITY, n_responses=50),)))
    assert "clarity (49)" in cautions_of(Case(measured=(Measured(CLARITY, n_responses=49),)))[title]
    grouped = Measured(CLARITY, n_responses=300, n_groups=49)
    assert "clarity (300 in 49 groups)" in cautions_of(Case(measured=(grouped,)))[title]


def test_fewer_than_twenty_groups_with_rarer_values_are_a_caution() -> None:
    title = "Fewer than 20 response groups hold the rarer values"

    def titled(n_rare: int | None, n_groups: int) -> str | None:
        measured = Measured(SAFE, n_responses=1_000, n_groups=n_groups, n_rare_groups=n_rare)
        return cautions_of(Case(measured=(measured,))).get(title)

    assert "safe (19 of 50)" in (titled(19, 50) or "")
    assert titled(20, 50) is None
    assert titled(19, 49) is None  # all groups are few already
    assert titled(0, 50) is None
    assert titled(None, 50) is None


def why_low(question: Measured) -> str:
    """Return what is said of a question with a high A^HH and a low alpha."""
    return cautions_of(Case(measured=(question,)))["clarity: high A^HH, low alpha"]


def test_a_low_alpha_on_skewed_ratings_is_attributed_to_skew() -> None:
    """18 of 20 exact on skewed data, A^HH .975 and alpha .458."""
    skewed = Measured(
        CLARITY, a_hh=0.975, alpha=0.458, by_chance=0.954, most_frequent_share=0.925, exact=90.0
    )

    for words in ("0.975", "0.458", "0.954", "One value makes up 92.5 % of all ratings"):
        assert words in why_low(skewed)


def test_a_low_alpha_whose_interval_reaches_chance_is_not_put_down_to_skew() -> None:
    """A^HH .828 with chance .818 and alpha .067 [-.007, .162]."""
    chance = Measured(
        CLARITY, a_hh=0.828, alpha=0.067, half_width=0.08, most_frequent_share=0.7, exact=80.0
    )

    assert why_low(chance).endswith("Alpha takes chance out: 0.067, too low. Go by alpha.")


def test_many_disagreements_on_two_values_are_not_put_down_to_skew() -> None:
    """79 % of pairs are equal, 62 % of ratings: used evenly, two values would give .58."""
    even = Measured(CLARITY, a_hh=0.789, alpha=0.556, exact=78.9, most_frequent_share=0.617)
    assert "the few pairs that differ" not in why_low(even)


def test_near_misses_on_even_ratings_are_not_put_down_to_skew() -> None:
    even = Measured(CLARITY, a_hh=0.79, alpha=0.54, most_frequent_share=0.34)

    assert "Go by alpha" in why_low(even)
    assert "One value" not in why_low(even)


def test_values_without_order_are_not_to_be_judged_by_their_distances() -> None:
    topic = RubricQuestion("topic", "Which topic?", Scale.from_steps(low=1, high=4), "nominal")

    assert "The values of topic have no order" in cautions_of(Case(measured=(Measured(topic),)))
    assert "The values of clarity have no order" not in cautions_of(Case())


def test_a_guessed_scale_is_a_caution_that_names_the_guess() -> None:
    guessed = RubricQuestion("style", "Is it neat?", LIKERT5, "ordinal", scale_guessed=True)

    caution = cautions_of(Case(measured=(Measured(guessed),)))["style: the scale is a guess"]
    assert "1, 2, 3, 4, 5" in caution


def test_a_judge_that_scored_too_few_units_is_a_caution_with_the_reasons() -> None:
    statuses = (("gpt", "ok", 71), ("gpt", "unparsable", 5), ("gpt", "refused", 4))
    caution = cautions_of(Case(statuses=statuses))["gpt scored only 88.8 % of its units"]
    assert "5 unparsable and 4 refused" in caution

    enough = (("gpt", "ok", 9), ("gpt", "refused", 1))
    assert not any("scored only" in title for title in cautions_of(Case(statuses=enough)))


def test_judges_of_one_family_are_a_caution() -> None:
    data = replace(Case().data(), dependent_judges=("gpt-6-luna and gpt-5 are both of gpt",))

    meanings = {c.term: c.meaning for c in cautions(data)}
    assert meanings["Judges that are not independent"] == "gpt-6-luna and gpt-5 are both of gpt."


def test_ratings_that_never_differ_are_a_caution_as_if_from_one_source() -> None:
    """One set of labels under two names gives an alpha of 1."""
    copied = cautions_of(Case(measured=(Measured(CLARITY, alpha=1.0),)))

    assert copied["Raters never differ"].startswith("All ratings of 80 responses are equal.")
    few = cautions_of(Case(measured=(Measured(CLARITY, alpha=1.0, n_responses=19),)))
    assert "Raters never differ" not in few
    assert "Raters never differ" not in cautions_of(Case())


def test_responses_that_a_later_round_left_with_one_rater_are_a_caution() -> None:
    """One rater, asked again about the disagreements alone, makes them vanish from A^HH."""
    lost = pd.DataFrame({"question_id": ["clarity", "safe"], "n_responses": [31, 1]})
    result = list(cautions(with_tables(Case().data(), no_longer_paired=lost)))

    [caution] = [c for c in result if c.term == "A later round took responses out of agreement"]
    assert "which decides: clarity (31 responses) and safe (1 response)." in caution.meaning


def test_many_skips_are_a_caution() -> None:
    data = Case().data()

    def cautions_on(n_skipped: int) -> dict[str, str]:
        humans = tuple(replace(row, n_skipped=n_skipped) for row in data.humans)
        return {c.term: c.meaning for c in cautions(replace(data, humans=humans))}

    assert cautions_on(60)["Much was skipped"].startswith(  # beside 240 ratings
        "Skips among the answers: clarity (20.0 %) and safe (20.0 %)."
    )
    assert "Much was skipped" not in cautions_on(59)
