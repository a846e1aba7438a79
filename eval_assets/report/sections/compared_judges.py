"""Each judge against humans, beside judges that read nothing."""

import math
from collections.abc import Iterator, Mapping, Sequence

from eval_assets.bands import A_HH_LIMITS
from eval_assets.catalogue import Figure
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import JudgeHumanFigures
from eval_assets.render.document import (
    Block,
    Card,
    Cell,
    Column,
    Fold,
    Section,
    Table,
    TableRow,
    Text,
    anchor,
    cells,
    columns,
)
from eval_assets.report.data import ReportData
from eval_assets.report.layout import (
    Layout,
    Line,
    a_hh_tone,
    agreement_plot,
    coefficient,
    laid_out,
    question_cell,
    response_cell,
    share_of_pairs,
    written,
)
from eval_assets.report.sections.judge_words import (
    figures_of_judge,
    judge_sentence,
    verdict_cell,
)
from eval_assets.report.stored_rows import (
    ConfusionRow,
    JudgeBiasRow,
    JudgeHumanDistanceRow,
    JudgeStateRow,
    RepeatabilityRow,
)
from eval_assets.verdicts import Verdict
from eval_assets.wording import HELD_OUT, UNDEFINED, figure_text, lenience, signed_text

_LEAD = (
    "A judge is worth something only as far as it exceeds both controls: the best judge that gives "
    "every response the same score, and its own scores in random order. How well people agree "
    "with each other is what it can be expected to reach. "
    "In groups of several responses it has to tell these apart, if people do."
)
_MOST_VALUES = 12
"""A confusion table of more values than this cannot be read."""

NOT_MEASURED = Verdict.NOT_MEASURED.value

_KEY = "● A^HA with 95 % interval   ╎ constant control   ┊ shuffled control   │ people (A^HH)"


def section(data: ReportData) -> Section | None:
    """Return a card per judge; None if no judge is compared with humans."""
    judges = list(dict.fromkeys(row.judge_id for row in data.judge_humans))
    order = [judge.id for judge in data.evaluation.judges]
    judges.sort(key=lambda judge_id: order.index(judge_id) if judge_id in order else len(order))
    if not judges:
        return None
    return Section(
        "judge-human",
        "Do the judges agree with people?",
        "Judges and people",
        (
            Text(_LEAD),
            Text(_KEY, is_small=True),
            *([Text(HELD_OUT)] if data.sizes.get("held_out_units") else []),
            *(_card(data, judge_id) for judge_id in judges),
        ),
    )


def _card(data: ReportData, judge_id: str) -> Card:
    rows = figures_of_judge(data, judge_id)
    compared = [(data.evaluation.question(q), row) for q, row in rows.items()]
    sentence = judge_sentence(data, judge_id)
    blocks: list[Block] = [
        Text(f"{sentence[0].upper()}{sentence[1:]}."),
        *_version(data, judge_id),
        *_biases(data, judge_id),
        *_repeatability(data, judge_id),
        _overview(data, judge_id, compared),
        *(_details(data, question, row) for question, row in compared),
        *_far_apart(data, judge_id),
    ]
    return Card(judge_id, tuple(blocks), anchor=anchor("judge", judge_id))


def _version(data: ReportData, judge_id: str) -> list[Text]:
    """Return the version of a judge that is in use; nothing if it is the declared one."""
    [version] = [row.version for row in data.rows(JudgeStateRow) if row.judge_id == judge_id] or [
        ""
    ]
    if not version:
        return []
    words = (
        f"It rates as version {version}. If tuning made that version, it knows part of these "
        "labels, and what counts is its certificate: the figures there are of labels that tuning "
        "never saw."
    )
    return [Text(words, is_small=True)]


def _biases(data: ReportData, judge_id: str) -> list[Text]:
    """Return what a judge favours at equal quality, and where that cannot be told."""
    rows = [row for row in data.rows(JudgeBiasRow) if row.judge_id == judge_id]
    words = [
        f"At equal quality it rates {row.value} ({row.attribute}) "
        f"{lenience(row.relative)}, by {signed_text(row.relative_low)} to "
        f"{signed_text(row.relative_high)} points of {row.question_id}"
        + (f": do not rank {row.value} with it." if row.attribute == "system" else ".")
        for row in rows
        if row.is_named
    ]
    states: dict[str, set[str]] = {}
    for row in rows:
        if row.attribute == "system":
            states.setdefault(row.question_id, set()).add(row.state)
    unknown = [
        question for question, of_question in states.items() if of_question == {NOT_MEASURED}
    ]
    if unknown:
        words.append(
            f"Whether it favours a system is NOT MEASURED on {', '.join(unknown)}: people do not "
            "agree on responses of the same system, or nobody rated twice."
        )
    return [Text(word, is_small=True) for word in words]


def _repeatability(data: ReportData, judge_id: str) -> list[Text]:
    """Return how often a judge rates the same response differently, beside people."""
    rows = data.rows(RepeatabilityRow)
    people = {
        (row.question_id, row.source): row.flip_rate
        for row in rows
        if row.kind == "human"
        if not row.rater_id
    }
    sources = {"run": "In another run", "same text": "On a copy of the same text"}
    words = []
    for row in rows:
        if row.kind != "judge" or row.rater_id != judge_id:
            continue
        sentence = (
            f"{sources[row.source]} it gives another score of {row.question_id} in "
            f"{100 * row.flip_rate:.0f} % of {row.n_pairs:,} pairs"
        )
        share = people.get((row.question_id, row.source))
        words.append(sentence + ("." if share is None else f", people in {100 * share:.0f} %."))
    return [Text(word, is_small=True) for word in words]


def _overview(
    data: ReportData, judge_id: str, compared: Sequence[tuple[RubricQuestion, JudgeHumanFigures]]
) -> Table:
    people = {row.question_id: row.a_hh.value for row in data.humans}
    return Table(
        f"{judge_id} against people",
        (
            Column("Question"),
            Column("A^HA", axis=(0.0, 1.0)),
            *columns("Constant#", "Shuffled#", "People#", "Verdict", "Lean", "Units#", "Groups#"),
        ),
        tuple(
            TableRow(_overview_cells(data, row, question, people.get(question.id, math.nan)))
            for question, row in compared
        ),
    )


def _overview_cells(
    data: ReportData, row: JudgeHumanFigures, question: RubricQuestion, a_hh: float
) -> tuple[Cell, ...]:
    a_ha, constant, shuffled = row.a_ha.value, row.a_ha_constant, row.a_ha_shuffled
    limits = [limit for limit in (*A_HH_LIMITS, constant) if not math.isnan(limit)]
    plot = agreement_plot(
        row.a_ha,
        name=f"A^HA of {row.judge_id} on {question.id}",
        marks=[("constant", constant), ("shuffled", shuffled), ("people", a_hh)],
        tone=a_hh_tone(a_ha),
    )
    return cells(
        question_cell(question.id),
        Cell(figure_text(a_ha, limits=limits), plot=plot),
        figure_text(constant, limits=[a_ha]),
        figure_text(shuffled, limits=[a_ha]),
        figure_text(a_hh, limits=[]),
        verdict_cell(data, row),
        _leaning(row.bias) if question.has_order else "values have no order",
        f"{row.n_units:,}{' conversations' if row.unit == 'conversation' else ''}",
        f"{row.n_groups:,}",
    )


def _far_apart(data: ReportData, judge_id: str) -> list[Fold]:
    by_direction = {"judge lower": "people rate high", "judge higher": "people rate low"}
    ordered = {question.id for question in data.evaluation.rubric if question.has_order}
    folds = []
    for direction, people in by_direction.items():
        rows = [
            row
            for row in data.rows(JudgeHumanDistanceRow)
            if (row.judge_id, row.direction) == (judge_id, direction) and row.question_id in ordered
        ]
        if rows:
            judge = "low" if direction == "judge lower" else "high"
            label = f"Responses that {people} and {judge_id} {judge}"
            folds.append(Fold(f"{label} ({len(rows)})", (laid_out(label, _FAR_APART, rows),)))
    return folds


def _details(data: ReportData, question: RubricQuestion, row: JudgeHumanFigures) -> Fold:
    """Return every statistic of a judge on a question, and the confusion table."""
    layout: Layout[Line] = {
        "Statistic": lambda line: line.name,
        "Value#": lambda line: line.value,
        "95 % interval": lambda line: line.interval or line.meaning or "none",
    }
    label = f"All statistics of {row.judge_id} on {question.id}"
    table = laid_out(label, layout, _statistics(row, question))
    return Fold(
        f"All statistics on {question.id}",
        (table, *_confusion(data, row.judge_id, question)),
        subject=f"of {row.judge_id}",
    )


def _statistics(row: JudgeHumanFigures, question: RubricQuestion) -> Iterator[Line]:
    """Yield every statistic that suits the scale, the controls first after A^HA."""
    has_order, has_steps = question.has_order, not question.scale.is_binary
    undefined = (
        "no variation, or not defined on this scale"
        if row.n_units
        else "no unit has both a score and a human rating"
    )

    def line(name: str, figure: Figure) -> Line:
        return coefficient(figure, name, meaning="", undefined=undefined)

    def share(name: str, figure: Figure) -> Line:
        return share_of_pairs(figure, name, meaning="", undefined=undefined)

    yield line("A^HA", row.a_ha)
    yield line("A^HA of the best constant score", Figure(row.a_ha_constant))
    yield line("A^HA of its own scores, shuffled", Figure(row.a_ha_shuffled))
    if row.a_ha_within.is_defined:
        yield line("A^HA above its scores shuffled within response groups", row.a_ha_within)
        yield line("The same of a human rater", row.a_hh_within)
    yield share("Exact agreement", row.exact_agreement)
    if has_order and has_steps:
        yield share("Adjacent agreement", row.adjacent_agreement)
    if has_order:
        yield line("Krippendorff's alpha", row.alpha)
    yield line("Cohen's kappa", row.kappa)
    if has_order and has_steps:
        yield line("Cohen's kappa (quadratic weights)", row.weighted_kappa)
    if has_order:
        yield line("Spearman's rho", row.spearman)
        yield line("Kendall's tau-b", row.kendall)
        yield line("Pearson's r", row.pearson)
        yield line("Mean absolute error (points)", row.mae)
        yield line("Judge minus humans (points)", row.bias)
        yield _wilcoxon(row.wilcoxon_p)


def _leaning(bias: Figure) -> str:
    """Return the direction of a judge's bias, unless its interval contains zero."""
    if bias.low <= 0 <= bias.high:
        return f"{signed_text(bias.value)}, no clear difference"
    return lenience(bias.value)


def _wilcoxon(p: float) -> Line:
    return Line(
        name="Wilcoxon signed-rank test (p)",
        value=UNDEFINED if math.isnan(p) else "below 0.001" if p < 0.001 else f"{p:.3f}",  # noqa: PLR2004
        interval="",
        meaning="fewer than 10 groups" if math.isnan(p) else "",
    )


def _confusion(data: ReportData, judge_id: str, question: RubricQuestion) -> tuple[Block, ...]:
    """Return the confusion table of judge and humans; nothing on a scale of too many values."""
    values = question.scale.values
    if values is None or len(values) > _MOST_VALUES:
        return ()
    counts: dict[tuple[int, int], int] = {}
    for row in data.rows(ConfusionRow):
        if (row.judge_id, row.question_id) == (judge_id, question.id):
            pair = _nearest(row.human_value, values), _nearest(row.judge_value, values)
            counts[pair] = counts.get(pair, 0) + row.n_units
    names = [f"{value:g}" for value in values]
    places = range(len(names))
    totals = [sum(counts.get((human, judge), 0) for judge in places) or 1 for human in places]
    table = Table(
        f"Confusion of {judge_id} on {question.id}",
        columns("People", *(f"{name}#" for name in names)),
        tuple(
            TableRow(
                cells(
                    names[human],
                    *(
                        Cell(f"{n:,}", shade=n / totals[human], is_strong=judge == human)
                        for judge in places
                        for n in [counts.get((human, judge), 0)]
                    ),
                )
            )
            for human in places
        ),
        caption=(
            f"Units by what people gave (rows, median) and {judge_id} gave (columns); equal values "
            f"are underlined, the shade is the share of the row."
        ),
        is_matrix=True,
    )
    if not counts:
        return ()
    if question.scale.is_binary:
        return Text(_decisions(counts), is_small=True), table
    return (table,)


def _decisions(counts: Mapping[tuple[int, int], int]) -> str:
    """Return accuracy, precision and recall for the responses that people give a 1."""
    hits, by_judge, by_people = (counts.get(cell, 0) for cell in ((1, 1), (0, 1), (1, 0)))
    equal = hits + counts.get((0, 0), 0)
    accuracy = _share(equal, sum(counts.values()))
    f1 = _share(2 * hits, 2 * hits + by_judge + by_people)
    return (
        f"The judge's 1 beside that of people (median): accuracy {accuracy}, "
        f"precision {_share(hits, hits + by_judge)}, recall "
        f"{_share(hits, hits + by_people)}, F1 {f1}. If one value is rare, "
        "use kappa."
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else UNDEFINED


def _nearest(value: float, values: Sequence[float]) -> int:
    """Return the index of a scale's value, which may be stored with float noise."""
    return min(range(len(values)), key=lambda k: abs(values[k] - value))


_FAR_APART: Layout[JudgeHumanDistanceRow] = {
    "Response": response_cell,
    "Question": lambda row: question_cell(row.question_id),
    "Model": lambda row: row.model_name,
    "People#": lambda row: written(row.human_mean, "z.2f"),
    "Judge#": lambda row: written(row.score, "g"),
    "Difference#": lambda row: written(row.difference, "+z.2f"),
}
