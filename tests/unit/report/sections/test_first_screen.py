"""The first screen: can the judges be trusted, and what is to be done next."""

import math
from dataclasses import replace

import pandas as pd
import pytest

from eval_assets.agreement.gates.declarations import Remedy, RemedyKind
from eval_assets.config.evaluation import Gate, default_gates
from eval_assets.report.sections.first_screen import FirstScreen, first_screen
from eval_assets.report.sections.judge_words import sealed_tests
from eval_assets.verdicts import GateResult, JudgeVerdict, Tone
from tests.unit.report.builder import JUDGES, QUESTIONS, Case, Measured, with_tables

CLARITY, SAFE = QUESTIONS


def screen_of(case: Case) -> FirstScreen:
    return first_screen(case.data())


def all_of(verdict: JudgeVerdict) -> dict[tuple[str, str], JudgeVerdict]:
    """Return that verdict for both judges on both questions."""
    return {(judge.id, question.id): verdict for judge in JUDGES for question in QUESTIONS}


def test_judges_that_agree_as_people_do_can_be_trusted() -> None:
    screen = screen_of(Case())

    assert screen.answer == "Yes: gpt and haiku match human agreement"
    assert screen.tone == Tone.GOOD
    assert [cell.text for cell in screen.judges] == [
        "gpt: matches human agreement on both questions.",
        "haiku: matches human agreement on both questions.",
    ]
    assert screen.next_step.text == "Use gpt and haiku; tuning may improve more."


def test_open_gates_do_not_make_a_useless_judge_trustworthy() -> None:
    screen = screen_of(
        Case(a_ha=0.69, a_ha_shuffled=0.68, verdicts=all_of(JudgeVerdict.LIKE_CONSTANT))
    )

    assert (
        screen.answer
        == "Not yet: no judge is shown to be better than a judge that never reads the responses"
    )
    assert screen.tone == Tone.POOR
    assert (
        screen.judges[0].text
        == "gpt: is not shown to be better than one constant score on both questions."
    )
    assert screen.next_step.text == (
        "Have more responses rated, or revise the prompt of gpt: on clarity its scores are not "
        "distinguishable from those of a judge that never reads the responses."
    )
    assert screen.next_step.link == "judge-gpt"


def test_a_judge_that_reads_but_is_no_nearer_than_a_constant_is_not_called_useless() -> None:
    """Nine of ten ratings are equal: whoever finds some of the others may be no nearer on average.

    Its A^HA certainly exceeds that of its scores in random order.
    """
    screen = screen_of(Case(a_ha=0.69, verdicts=all_of(JudgeVerdict.LIKE_CONSTANT)))

    assert screen.judges[0].text == (
        "gpt: is not shown to be better than one constant score, although it tells responses "
        "apart on both questions."
    )
    assert screen.next_step.text == (
        "Tune gpt: on clarity it tells responses apart, but its scores are no closer to human "
        "ratings than one score for all responses."
    )


def test_a_judge_above_a_control_by_chance_cannot_be_told_apart_from_it() -> None:
    case = Case(
        a_ha=0.71, a_ha_shuffled=0.7, verdicts={("gpt", "safe"): JudgeVerdict.LIKE_CONSTANT}
    )

    assert screen_of(case).judges[0].text == (
        "gpt: is not shown to match human agreement beyond chance on clarity; is not shown to be "
        "better than one constant score on safe."
    )


def test_a_judge_that_can_be_used_comes_before_one_that_can_be_tuned() -> None:
    verdicts: dict[tuple[str, str], JudgeVerdict] = {
        ("haiku", question.id): JudgeVerdict.LIKE_CONSTANT for question in QUESTIONS
    }

    assert screen_of(Case(verdicts=verdicts)).next_step.text == "Use gpt; tuning may improve more."


def test_no_judge_is_to_be_tuned_on_a_question_that_the_gates_leave_out() -> None:
    measured = (Measured(CLARITY), Measured(SAFE, judge_alpha=0.6))
    verdicts = all_of(JudgeVerdict.INCONCLUSIVE) | {("gpt", "safe"): JudgeVerdict.LIKE_CONSTANT}
    screen = screen_of(Case(measured=measured, verdicts=verdicts))

    assert "Tune" not in screen.next_step.text
    assert screen.next_step.text.startswith("On safe: ")


def test_judges_are_not_blamed_for_ratings_of_which_nothing_is_known() -> None:
    """One rater, whose agreement with others is unknown; and one value throughout."""
    alone = Measured(CLARITY, a_hh=math.nan, alpha=math.nan)
    one_value = Case(measured=(Measured(CLARITY),), a_ha=1.0, a_ha_constant=1.0)

    assert screen_of(Case(measured=(alone,))).judges[0].text == (
        "gpt: cannot be judged on clarity, where it is not known whether humans agree with each "
        "other."
    )
    assert screen_of(one_value).judges[0].text == (
        "gpt: cannot be judged on clarity, where humans gave one value throughout."
    )


def test_a_judge_of_which_the_data_cannot_tell_is_not_coloured_as_a_poor_one() -> None:
    undecided = screen_of(Case(verdicts=all_of(JudgeVerdict.INCONCLUSIVE))).judges[0]
    useless = screen_of(Case(verdicts=all_of(JudgeVerdict.LIKE_CONSTANT))).judges[0]

    assert (undecided.tone, useless.tone) == (Tone.FAIR, Tone.POOR)


def test_a_judge_without_a_score_beside_a_rating_is_not_compared() -> None:
    nowhere = screen_of(Case(verdicts=all_of(JudgeVerdict.NOT_COMPARED))).judges[0]
    on_one = screen_of(Case(verdicts={("gpt", "safe"): JudgeVerdict.NOT_COMPARED})).judges[0]

    assert nowhere.text == "gpt: scored no response that humans rated."
    assert on_one.text.endswith("; scored no response that humans rated on safe.")


def test_a_judge_that_is_good_on_some_questions_is_good_in_part() -> None:
    verdicts = all_of(JudgeVerdict.BELOW_HUMANS) | {("haiku", "safe"): JudgeVerdict.MATCHES_HUMANS}
    screen = screen_of(Case(verdicts=verdicts))

    assert screen.answer == "In part: haiku matches human agreement on 1 of 2 questions"
    assert [cell.tone for cell in screen.judges] == [Tone.POOR, Tone.FAIR]


@pytest.mark.parametrize(
    ("verdict", "answer"),
    [
        (JudgeVerdict.BELOW_HUMANS, "No: no judge matches human agreement"),
        (JudgeVerdict.INCONCLUSIVE, "Unknown: more response groups must be rated"),
        (JudgeVerdict.NOT_COMPARED, "Unknown: no response has both a score and a human rating"),
        (
            JudgeVerdict.LIKE_SHUFFLED,
            "Not yet: no judge is shown to be better than a judge that never reads the responses",
        ),
    ],
)
def test_the_answer_follows_the_verdicts_on_the_judges(verdict: JudgeVerdict, answer: str) -> None:
    assert screen_of(Case(verdicts=all_of(verdict))).answer == answer


def test_what_is_certain_on_one_question_is_said_beside_what_is_open_on_another() -> None:
    screen = screen_of(
        Case(
            judges=JUDGES[:1],
            verdicts={
                ("gpt", "clarity"): JudgeVerdict.BELOW_HUMANS,
                ("gpt", "safe"): JudgeVerdict.INCONCLUSIVE,
            },
        )
    )

    assert screen.answer == "Not on clarity; inconclusive on safe"
    assert screen.next_step.text == (
        "Tune gpt: it is below human agreement on clarity, and no gate blocks that."
    )


def test_what_is_open_between_judges_and_people_takes_more_ratings() -> None:
    screen = screen_of(
        Case(verdicts={(judge.id, "safe"): JudgeVerdict.INCONCLUSIVE for judge in JUDGES})
    )

    assert screen.answer == ("In part: gpt and haiku match human agreement on 1 of 2 questions")
    assert screen.next_step.text == (
        "Have more responses rated on safe: it is inconclusive whether a judge matches human "
        "agreement."
    )


def test_a_gate_that_is_closed_for_want_of_data_is_not_called_disagreement() -> None:
    screen = screen_of(Case(measured=(Measured(CLARITY, alpha=0.34, half_width=0.45),)))

    assert screen.answer == "Not yet: it is inconclusive whether humans agree with each other"
    assert screen.gates[1].text.startswith("Human alpha is inconclusive: 0.340")


def screen_after(
    fitness: str,
    *,
    stale: str | None,
    is_read_again: bool = False,
    version: str = "1.0.0",
    **verdicts: JudgeVerdict,
) -> FirstScreen:
    """Return the screen if a sealed test of gpt on safe gave that."""
    inputs = {("gpt", question): verdict for question, verdict in verdicts.items()}
    row: dict[str, object]
    row = {"judge_id": "gpt", "question_id": "safe", "fitness": fitness, "stale_because": stale}
    row |= {"version": version, "reason": "", "n_readings": 1, "certificate": None}
    row |= {"is_read_again": is_read_again}
    data = Case(judges=JUDGES[:1], verdicts=inputs).data()
    return first_screen(with_tables(data, judge_certificates=pd.DataFrame([row])))


def test_a_sealed_test_takes_precedence_over_what_all_data_suggest() -> None:
    fit = screen_after("fit", stale=None, safe=JudgeVerdict.INCONCLUSIVE)
    unfit = screen_after("unfit", stale=None)
    stale = screen_after("fit", stale="human ratings in the test changed", is_read_again=True)
    reworded = screen_after("fit", stale="the question changed")

    assert fit.answer == "Yes: gpt matches human agreement"
    assert fit.judges[0].text == (
        "gpt: a sealed test found 1.0.0 fit for use on safe; matches human agreement on clarity; "
        "is inconclusive on safe: more response groups are needed."
    )
    assert fit.next_step.text == "Use gpt where a sealed test found it fit."
    assert stale.next_step.text.startswith("Use gpt; evaluate gpt again: eval-assets tune --data ")
    assert reworded.next_step.text == "Use gpt; tuning may improve more."
    assert unfit.answer == "In part: gpt matches human agreement on 1 of 2 questions"
    assert unfit.next_step.text.startswith("Tune gpt: it is below human agreement on safe")


def test_the_only_judge_is_named_where_it_is_to_be_tuned() -> None:
    case = Case(judges=JUDGES[:1], verdicts={("gpt", "safe"): JudgeVerdict.BELOW_HUMANS})
    below = replace(case, verdicts={**case.verdicts, ("gpt", "clarity"): JudgeVerdict.BELOW_HUMANS})

    assert first_screen(below.data()).next_step.text.startswith(
        "Tune gpt: it is below human agreement on clarity and safe"
    )


def test_questions_with_one_verdict_stand_in_the_order_of_the_rubric() -> None:
    tone = replace(CLARITY, id="tone")
    low = (Measured(CLARITY, alpha=0.3), Measured(SAFE, alpha=0.3), Measured(tone))
    verdicts = {
        ("gpt", "clarity"): JudgeVerdict.BELOW_HUMANS,
        ("gpt", "safe"): JudgeVerdict.MATCHES_HUMANS,
    }
    screen = first_screen(Case(measured=low, verdicts=verdicts).data())

    assert "cannot be judged on clarity and safe, where" in screen.judges[0].text


def test_a_fit_version_that_is_not_in_use_is_named_as_such() -> None:
    screen = screen_after("fit", stale=None, version="1.0.1", safe=JudgeVerdict.BELOW_HUMANS)

    assert screen.answer == (
        "In part: gpt matches human agreement on 1 of 2 questions; a sealed test found gpt 1.0.1 "
        "fit, and the judge as declared is in use"
    )
    assert screen.judges[0].text == (
        "gpt: a sealed test found 1.0.1, which is not in use, fit for use on safe; matches human "
        "agreement on clarity; more below."
    )
    assert screen.next_step.text == (
        "Set version: 1.0.1 for gpt in evaluation.yaml: a sealed test found it fit on safe."
    )


def test_only_the_version_that_a_judge_rates_as_is_in_use() -> None:
    """With `version: current` a judge has several tested versions, and rates as one of them."""
    judge = replace(JUDGES[0], version="current")
    rows: list[dict[str, object]] = [
        {"judge_id": "gpt", "question_id": question, "fitness": "fit", "stale_because": None}
        | {"version": version, "reason": "", "n_readings": 1, "certificate": None}
        for question, version in (("clarity", "1.0.1"), ("safe", "1.0.2"))
    ]
    data = with_tables(
        Case(judges=(judge,)).data(),
        judge_certificates=pd.DataFrame(rows),
        judges=pd.DataFrame([{"judge_id": "gpt", "version": "1.0.1"}]),
    )

    assert [test.is_in_use for test in sealed_tests(data, "gpt")] == [True, False]
    assert "a sealed test found gpt 1.0.2 fit, and 1.0.1 is in use" in first_screen(data).answer


def test_version_that_is_fit_on_a_part_is_named_with_its_share() -> None:
    row: dict[str, object]
    row = {"judge_id": "gpt", "question_id": "safe", "version": "1.0.1", "fitness": "undecided"}
    row |= {"claim": "fit_in_part", "share": 0.842, "n_readings": 1, "reason": ""}
    below = {("gpt", question): JudgeVerdict.BELOW_HUMANS for question in ("clarity", "safe")}
    data = Case(judges=JUDGES[:1], verdicts=below).data()
    certificates = pd.DataFrame([row | {"stale_because": None, "certificate": None}])
    screen = first_screen(with_tables(data, judge_certificates=certificates))

    assert screen.judges[0].text.startswith(
        "gpt: a sealed test found 1.0.1, which is not in use, fit for use on 84 % of what it "
        "scores on safe"
    )
    assert screen.next_step.text == (
        "Set version: 1.0.1 for gpt in evaluation.yaml: a sealed test found it fit on 84 % of what "
        "it scores on safe."
    )


@pytest.mark.parametrize(
    "negative",
    [JudgeVerdict.BELOW_HUMANS, JudgeVerdict.LIKE_CONSTANT, JudgeVerdict.LIKE_SHUFFLED],
)
def test_a_judge_with_negative_verdicts_is_never_in_the_answer(negative: JudgeVerdict) -> None:
    """Whichever version a sealed test found fit."""
    for version in ("1.0.0", "1.0.1"):
        screen = screen_after("fit", stale=None, version=version, clarity=negative, safe=negative)

        assert not screen.answer.startswith(("Yes", "In part"))
        assert "gpt matches" not in screen.answer


def test_a_match_requires_agreement_beyond_chance_near_that_of_humans() -> None:
    """A^HA .80 against .84, but shuffled scores reach .70 and shuffled ratings .50."""
    measured = (Measured(CLARITY, a_hh=0.84, by_chance=0.50),)
    screen = screen_of(Case(measured=measured, a_ha=0.80, a_ha_shuffled=0.70))

    assert screen.answer == "Unknown: more response groups must be rated"
    assert screen.judges[0].text == (
        "gpt: is not shown to match human agreement beyond chance on clarity."
    )


def test_stale_test_decides_nothing_and_is_named() -> None:
    screen = screen_after("unfit", stale="the labels changed")

    assert screen.answer == "Yes: gpt matches human agreement"
    assert screen.judges[0].text.startswith(
        "gpt: the sealed test of 1.0.0 on safe no longer holds: the labels changed; matches"
    )


def test_agreeing_like_people_who_disagree_is_no_merit() -> None:
    case = Case(measured=(Measured(CLARITY), Measured(SAFE, a_hh=0.70)))
    screen = screen_of(case)

    assert screen.answer == ("In part: gpt and haiku match human agreement on 1 of 2 questions")
    assert screen.judges[0].text == (
        "gpt: matches human agreement on clarity; cannot be judged on safe, where humans do not "
        "agree with each other."
    )


def test_closed_gates_of_people_come_before_whatever_judges_do() -> None:
    screen = screen_of(Case(measured=(Measured(CLARITY, a_hh=0.62, alpha=0.35),)))

    assert screen.answer == "Not yet: humans do not agree with each other well enough"
    assert screen.gates[0].text == (
        "Human A^HH is below its minimum: 0.620 (95 % interval 0.580 to 0.660); 0.75 is required."
    )
    assert (screen.gates[0].tone, screen.gates[0].link) == (Tone.POOR, "gate-human_a_hh")


def test_what_is_certain_of_people_comes_before_what_the_data_leave_open() -> None:
    """A^HH .74 with .70 to .78, of which habits explain most, and alpha certainly too low."""
    case = Case(measured=(Measured(CLARITY, a_hh=0.74, alpha=0.35),))
    screen = screen_of(case)

    assert screen.answer == "Not yet: humans do not agree with each other well enough"
    assert "check whether a rater is stricter" in screen.next_step.text

    open_alone = Case(measured=(Measured(CLARITY, a_hh=0.74, judge_alpha=0.1),))
    assert "inconclusive whether humans" in screen_of(open_alone).answer


def test_raters_certainly_further_apart_than_by_chance_contradict_one_another() -> None:
    case = Case(measured=(Measured(CLARITY, alpha=-0.2, judge_alpha=-0.7),))
    people, judges = screen_of(case).gates[1:]

    assert people.text.startswith("Human alpha is negative, the raters contradict each other: -0.2")
    assert judges.text.startswith("Judge alpha is negative, the judges contradict each other: -0.7")


def test_a_judge_whose_scores_are_reversed_is_not_said_to_say_nothing() -> None:
    reversed_scores = all_of(JudgeVerdict.AGAINST_HUMANS)
    screen = screen_of(Case(a_ha=0.5, a_ha_shuffled=0.7, verdicts=reversed_scores))

    assert screen.judges[0].text == "gpt: contradicts human ratings on both questions."
    assert screen.next_step.text == (
        "Check which end of the scale is the good one in the prompt of gpt: on clarity its scores "
        "contradict human ratings."
    )


def test_agreement_near_chance_is_called_so() -> None:
    """From the interval, not from the value: .067 with [-.007, .162]."""
    none = Case(measured=(Measured(CLARITY, alpha=-0.01, half_width=0.08),))
    near = Case(measured=(Measured(CLARITY, alpha=0.067, half_width=0.08),))
    low = Case(measured=(Measured(CLARITY, alpha=0.35, half_width=0.08),))

    assert screen_of(none).gates[1].text.startswith("Human alpha is no better than chance: ")
    assert (
        screen_of(near).gates[1].text.startswith("Human alpha may be no better than chance: 0.067")
    )
    assert screen_of(low).gates[1].text.startswith("Human alpha is below its minimum")


def test_a_gate_that_judges_close_is_named() -> None:
    screen = screen_of(Case(measured=(Measured(CLARITY, judge_alpha=0.5),)))

    assert screen.answer == "Not yet: the judges do not agree with each other well enough"


def test_what_cannot_be_evaluated_is_not_called_disagreement() -> None:
    data = Case().data()
    verdict = replace(
        data.gates[0].overall,
        verdict=GateResult.NOT_EVALUABLE,
        explanation="1 response with two ratings or more; at least 2 are needed",
        remedy=Remedy(RemedyKind.RATE_MORE),
    )
    closed = replace(data.gates[0], overall=verdict, is_closed=True)
    screen = first_screen(replace(data, gates=(closed, *data.gates[1:]), tunable=()))

    assert screen.answer == ("Unknown: 1 response with two ratings or more; at least 2 are needed")
    assert screen.next_step.text == "Have more responses rated by two raters or more."


def test_what_only_all_questions_together_reach_is_not_said_of_the_questions() -> None:
    """Equal ratings, 4 on one question and 1 on the other: pooled they have an alpha of 1."""
    data = Case().data()
    alpha = data.gates[1]
    undefined = tuple(
        replace(
            verdict,
            value=math.nan,
            verdict=GateResult.NOT_EVALUABLE,
            remedy=Remedy(RemedyKind.ADD_GROUPS),
        )
        for verdict in alpha.questions
    )
    closed = replace(
        alpha, overall=replace(alpha.overall, value=1.0), questions=undefined, is_closed=True
    )
    screen = first_screen(replace(data, gates=(data.gates[0], closed), tunable=()))

    assert screen.gates[1].text == (
        "Human alpha reaches its minimum: 1.000 (95 % interval 0.770 to 0.850); 0.667 is required, "
        "over all questions only; not evaluable on clarity and safe."
    )
    assert screen.next_step.text == "Start with clarity: Add responses to other prompts."


def test_a_judge_that_never_reads_comes_before_judges_that_disagree() -> None:
    case = Case(
        measured=(Measured(CLARITY, judge_alpha=0.1),),
        a_ha=0.68,
        a_ha_shuffled=0.69,
        verdicts={("gpt", "clarity"): JudgeVerdict.LIKE_SHUFFLED},
    )
    assert screen_of(case).next_step.text.startswith("Revise the prompt of gpt: its scores on")


def test_an_interval_that_holds_the_minimum_is_part_of_the_sentence() -> None:
    screen = screen_of(Case(measured=(Measured(CLARITY, alpha=0.69, half_width=0.05),)))

    assert screen.gates[1].text == (
        "Human alpha is inconclusive: 0.690 (95 % interval 0.640 to 0.740); 0.667 is required."
    )


def test_a_gate_that_only_warns_says_that_it_does_not_block() -> None:
    gates = default_gates() | {"human_alpha": Gate(0.95, severity="warn")}

    assert screen_of(Case(gates=gates)).gates[1].text.endswith("This gate does not block.")


def test_the_answer_names_gates_that_only_warn_and_are_not_reached() -> None:
    gates = default_gates() | {"human_alpha": Gate(0.95, severity="warn")}
    case = Case(gates=gates)

    assert screen_of(case).answer == (
        "Unknown: humans do not agree with each other; human alpha does not reach the minimum"
    )
    assert screen_of(replace(case, judges=(), statuses=())).answer == (
        "Humans do not agree with each other well enough; no judge is declared yet"
    )


def test_without_judges_the_next_step_is_to_declare_some() -> None:
    screen = screen_of(Case(judges=(), statuses=()))

    assert screen.answer == "Humans agree with each other; no judge is declared yet"
    assert screen.judges == ()
    assert screen.next_step.text == (
        "Declare two judges of different vendors under judges in evaluation.yaml."
    )


def test_before_anything_is_measured_nothing_is_said_of_trust() -> None:
    screen = first_screen(replace(Case().data(), gates=(), tunable=()))

    assert screen.answer == "Unknown: nothing is measured yet"
    assert screen.next_step.text == "Measure agreement: eval-assets run --data conala."


def test_the_answer_names_undecided_gates_and_lowered_minimums() -> None:
    undecided = Case(measured=(Measured(CLARITY, alpha=0.69, half_width=0.05),))
    lowered = Case(gates=default_gates() | {"human_alpha": Gate(-1)})

    assert screen_of(undecided).answer == (
        "Yes: gpt and haiku match human agreement; human alpha is undecided"
    )
    assert screen_of(undecided).tone is Tone.FAIR
    assert screen_of(replace(undecided, judges=(), statuses=())).answer == (
        "It is inconclusive whether humans agree with each other; no judge is declared yet; "
        "human alpha is undecided"
    )
    assert screen_of(lowered).answer == (
        "Yes: gpt and haiku match human agreement; minimum lowered for human alpha to -1"
    )
    assert "(lowered from 0.667)" in screen_of(lowered).gates[1].text


@pytest.mark.parametrize("half_width", [0.04, 0.3])
@pytest.mark.parametrize("verdict", list(JudgeVerdict))
def test_bullets_have_at_most_25_words(verdict: JudgeVerdict, half_width: float) -> None:
    gates = default_gates() | {"human_a_hh": Gate(0.7, severity="warn"), "human_alpha": Gate(0.4)}
    names = ("clarity", "depth", "style", "tone", "truth", "use")
    measured = tuple(
        Measured(
            replace(CLARITY, id=name),
            a_hh=0.9 - 0.08 * k,
            alpha=0.9 - 0.15 * k,
            half_width=half_width,
            judge_alpha=0.8 - 0.1 * k,
        )
        for k, name in enumerate(names)
    )
    verdicts = {("gpt", name): verdict for name in names[::2]}
    screen = screen_of(Case(measured=measured, gates=gates, verdicts=verdicts))

    for cell in (*screen.gates, *screen.judges):
        assert len(cell.text.split()) <= 25, cell.text


def test_a_sealed_test_is_never_left_out_for_brevity() -> None:
    row: dict[str, object]
    row = {"judge_id": "gpt", "question_id": "safe", "fitness": "unfit", "stale_because": None}
    row |= {"version": "1.0.0", "reason": "", "n_readings": 1, "certificate": None}
    case = Case(
        judges=JUDGES[:1],
        measured=(Measured(CLARITY), Measured(SAFE, a_hh=0.5)),
        verdicts={("gpt", "clarity"): JudgeVerdict.LIKE_CONSTANT},
    )
    screen = first_screen(with_tables(case.data(), judge_certificates=pd.DataFrame([row])))

    assert "a sealed test found 1.0.0 unfit for use on safe" in screen.judges[0].text


def test_the_next_step_for_a_judge_of_prompts_is_to_tell_responses_apart() -> None:
    screen = screen_of(Case(verdicts=all_of(JudgeVerdict.LIKE_PROMPT)))

    assert screen.answer.startswith("Not yet: no judge is shown to be better than a judge that")
    assert "is not shown to tell responses of one group apart" in screen.judges[0].text
    assert screen.next_step.text == (
        "Revise the prompt of gpt: on clarity it is not shown to tell responses of one group "
        "apart, which people do."
    )


def test_judges_that_repeat_a_rater_have_to_score_without_the_labels() -> None:
    """They are not below human agreement: nothing is known of their own."""
    verdicts = {
        (judge, question.id): JudgeVerdict.REPEATS_A_RATER
        for judge in ("gpt", "haiku")
        for question in QUESTIONS
    }
    screen = screen_of(Case(verdicts=verdicts))

    assert screen.answer == "Unknown: every judge gives the scores of one rater throughout"
    assert screen.next_step.text == (
        "Have judges score without the labels: the scores of every judge on clarity and safe are "
        "those of one rater."
    )


def test_unused_version_is_named_beside_a_judge_to_use() -> None:
    tested: dict[str, object] = {"question_id": "safe", "n_readings": 1, "reason": ""}
    tested |= {"stale_because": None, "certificate": None, "claim": "fit", "share": None}
    rows = [
        tested | {"judge_id": "gpt", "version": "1.0.0", "fitness": "fit"},
        tested
        | {"judge_id": "gpt", "version": "1.0.0", "fitness": "fit", "question_id": "clarity"},
        tested
        | {"judge_id": "haiku", "version": "1.0.1", "fitness": "undecided"}
        | {"claim": "fit_in_part", "share": 0.842},
    ]
    data = with_tables(
        Case(judges=JUDGES).data(),
        judge_certificates=pd.DataFrame(rows),
        judges=pd.DataFrame([{"judge_id": "gpt", "version": "1.0.0"}]),
    )

    assert first_screen(data).next_step.text == (
        "Use gpt where a sealed test found it fit. Set version: 1.0.1 for haiku in "
        "evaluation.yaml: a sealed test found it fit on 84 % of what it scores on safe."
    )
