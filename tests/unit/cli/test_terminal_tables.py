"""Tables fit a terminal, and are plain unwrapped text in a pipe."""

import math
from dataclasses import replace

import pytest

from eval_assets.agreement.judge_verdicts import more_groups, open_gap_sentence
from eval_assets.catalogue import Figure
from eval_assets.cli.terminal_tables import (
    print_gates,
    print_groups_wanted,
    print_humans,
    print_judges,
    print_table,
)
from eval_assets.config.evaluation import Gate, default_gates
from eval_assets.config.rubric import RubricQuestion
from eval_assets.report.sections.first_screen import first_screen
from eval_assets.report.sections.judge_words import verdict_cell
from eval_assets.scale import Scale
from eval_assets.verdicts import JudgeVerdict
from tests.unit.report.builder import JUDGES, QUESTIONS, Case, Measured

LONG = " ".join(["word"] * 100)
CLARITY, SAFE = QUESTIONS


def test_a_row_in_a_pipe_is_one_line_whatever_its_length(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table("Title", ("name", "n"), [(LONG, "7"), ("[b]x", "10")], numbers=("n",))

    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["Title"],
        ["name", "n"],
        [*LONG.split(), "7"],
        ["[b]x", "10"],
        [],
    ]


def test_a_row_on_a_narrow_terminal_is_wrapped_and_keeps_its_numbers_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    print_table("Title", ("name", "interval"), [(LONG, "[0.123, 0.456]")], numbers=("interval",))

    out = capsys.readouterr().out
    assert "[0.123, 0.456]" in out
    assert len(out.splitlines()) > len(LONG) // 40


def test_an_undefined_figure_is_two_dashes_and_never_a_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_humans(Case(measured=(Measured(CLARITY, alpha=math.nan),)).humans())

    [row] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("clarity")]
    assert row.split() == [
        *("clarity", "0.880", "[0.840,", "0.920]", "0.580", "--", "--", "80", "80"),
    ]


def test_a_figure_just_below_zero_is_zero(capsys: pytest.CaptureFixture[str]) -> None:
    print_humans(Case(measured=(Measured(CLARITY, alpha=-0.0001),)).humans())

    [row] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("clarity")]
    assert row.split()[5] == "0.000"


def test_without_ratings_there_is_a_line_instead_of_tables_of_dashes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_humans([replace(row, n_ratings=0, n_pairs=0) for row in Case().humans()])
    data = Case().data()
    print_judges([replace(row, n_units=0) for row in data.judge_humans], (), data.evaluation)

    assert capsys.readouterr().out == "Human agreement: nothing is rated.\n\n"


def test_a_judge_stands_beside_its_controls(capsys: pytest.CaptureFixture[str]) -> None:
    data = Case().data()
    print_judges(data.judge_humans, data.gates, data.evaluation)

    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    figures = ["gpt", "clarity", "0.860", "0.700", "0.570", "0.840", "+0.31", "80", "80"]
    assert [*figures, "matches", "human", "agreement"] in rows


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        (
            Case(measured=(Measured(CLARITY, alpha=0.3),)),
            "cannot be judged: humans do not agree with each other",
        ),
        (
            Case(measured=(Measured(CLARITY, alpha=0.6, half_width=0.2),)),
            "cannot be judged: it is not known whether humans agree with each other",
        ),
        (Case(a_ha_constant=1.0), "cannot be judged: humans gave one value throughout"),
        (
            Case(verdicts={("gpt", "clarity"): JudgeVerdict.AGAINST_HUMANS}),
            "contradicts human ratings",
        ),
    ],
)
def test_a_judge_is_no_better_in_the_terminal_than_in_the_report(
    case: Case, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = case.data()
    print_judges(data.judge_humans, data.gates, data.evaluation)

    assert verdict in capsys.readouterr().out


@pytest.mark.parametrize(
    ("case", "state"),
    [
        (Case(), "open"),
        (Case(measured=(Measured(CLARITY, a_hh=0.62),)), "CLOSED"),
        (Case(measured=(Measured(CLARITY), Measured(SAFE, a_hh=0.74))), "partly"),
        (Case(gates=default_gates() | {"human_a_hh": Gate(0.95, severity="warn")}), "warns"),
    ],
)
def test_a_gate_is_open_in_part_or_closed_or_warns(
    case: Case, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = case.data()
    print_gates(data.evaluation, data.gates)

    [row] = [line for line in capsys.readouterr().out.splitlines() if "human_a_hh" in line]
    assert row.split()[1] == state


def test_the_judge_gate_does_not_apply_to_one_judge(capsys: pytest.CaptureFixture[str]) -> None:
    data = Case(judges=JUDGES[:1]).data()
    print_gates(data.evaluation, data.gates)

    assert "does not apply: it takes two judges, and one judge is declared" in (
        capsys.readouterr().out
    )


def test_a_judge_that_cannot_be_judged_is_promised_no_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    case = Case(
        measured=(Measured(CLARITY, alpha=0.3),),
        verdicts={("gpt", "clarity"): JudgeVerdict.INCONCLUSIVE},
    )
    data = case.data()
    rows = [
        replace(row, a_ha_above_people=Figure(-0.03, -0.08, 0.02), bias=Figure(-0.001, -0.1, 0.1))
        for row in data.judge_humans
    ]
    print_judges(rows, data.gates, data.evaluation)

    out = capsys.readouterr().out
    assert "cannot be judged: humans do not agree with each other" in out
    assert "would tell whether" not in out
    assert " 0.00 " in out
    assert "-0.00" not in out


def test_values_without_order_have_no_rank_correlation_and_no_bias(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tone = RubricQuestion("tone", "Which tone?", Scale.from_steps(low=0, high=3), "nominal")
    data = Case(measured=(Measured(CLARITY), Measured(tone))).data()
    print_judges(data.judge_humans, data.gates, data.evaluation)

    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    figures = {(row[0], row[1]): row[5:7] for row in rows if "tone" in row or "clarity" in row}
    assert figures["gpt", "clarity"] == ["0.840", "+0.31"]
    assert figures["gpt", "tone"] == ["--", "--"]


def test_inconclusive_judges_say_how_many_more_groups_would_tell(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From 0.05 to 0.02 on either side takes 6.25 times the 80 groups, for 80 % twice as many."""
    case = Case(verdicts={("gpt", "safe"): JudgeVerdict.INCONCLUSIVE})
    data = case.data()
    rows = [replace(row, a_ha_above_people=Figure(-0.03, -0.08, 0.02)) for row in data.judge_humans]

    print_judges(rows, data.gates, data.evaluation)
    sentence = (
        "gpt on safe: about 950 more response groups (950 responses), rated and scored like those "
        "so far, would tell whether it matches human agreement."
    )
    assert capsys.readouterr().out.count("more response groups (") == 1
    print_groups_wanted(rows)
    assert capsys.readouterr().out == f"{sentence}\n\n"
    open_row = next(row for row in rows if (row.judge_id, row.question_id) == ("gpt", "safe"))
    assert open_gap_sentence(open_row) == (
        "is inconclusive: its A^HA lies 0.080 below to 0.020 above human A^HH, and may be at most "
        "0.05 below"
    )
    assert verdict_cell(data, open_row).text == open_gap_sentence(open_row)
    assert not open_gap_sentence(replace(open_row, a_ha_above_constant=Figure(0.1, -0.1, 0.2)))
    screen = first_screen(replace(data, judge_humans=tuple(rows)))
    assert "whether a judge matches human agreement" not in screen.next_step.text
    verdicts = {(judge, "safe"): JudgeVerdict.INCONCLUSIVE for judge in ("gpt", "haiku")}
    data = Case(verdicts=verdicts).data()
    rows = [replace(row, a_ha_above_people=Figure(-0.03, -0.08, 0.02)) for row in data.judge_humans]
    screen = first_screen(replace(data, judge_humans=tuple(rows)))
    assert screen.next_step.text.endswith("About 950 further response groups on safe would tell.")
    rows[-1] = replace(rows[-1], a_ha_above_people=Figure(-0.03, -0.07, 0.01))
    screen = first_screen(replace(data, judge_humans=tuple(rows)))
    assert screen.next_step.text.endswith(
        "About 580 to 950 further response groups on safe would tell, depending on the judge."
    )


@pytest.mark.parametrize(
    "gap", [Figure(-0.03, -0.04, -0.02), Figure(-0.0499, -0.2, 0.1), Figure(0.0, -0.04, 0.04)]
)
def test_no_number_of_groups_is_named_where_none_would_tell(gap: Figure) -> None:
    data = Case(verdicts={("gpt", "safe"): JudgeVerdict.INCONCLUSIVE}).data()

    assert {more_groups(replace(row, a_ha_above_people=gap)) for row in data.judge_humans} == {None}
