"""Sections of the report on what an evaluation stores besides its ratings."""

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval_assets.agreement.gates.decision import GateOutcome
from eval_assets.bands import ALPHA_LIMITS, LOWEST_COVERAGE, REPEATED, UNSTABLE, alpha_label
from eval_assets.catalogue import Figure
from eval_assets.config.evaluation import Evaluation, GateName
from eval_assets.figures import (
    JudgeFigures,
    LeaveOneJudgeOutFigures,
    RubricVersionFigures,
    Scope,
    ScoreFigures,
)
from eval_assets.shown.blocks import (
    Axis,
    Block,
    Cell,
    Column,
    Mark,
    Plot,
    Row,
    Section,
    Table,
    Texts,
    agreement_axis,
    text_cell,
)
from eval_assets.shown.certificates import StoredRow, certificates_notes, certificates_table
from eval_assets.verdicts import Tone, Verdict
from eval_assets.wording import (
    count_text,
    counted,
    figure_text,
    interval_text,
    limit_text,
    listed,
    or_nan,
    or_none,
    percent_text,
    shortened,
    signed_text,
    value_text,
)

_MOST_RATERS, _MOST_PROMPTS, _MOST_DECISIONS, _MOST_NAMED = 40, 15, 30, 5
_LONGEST_PROMPT = 80
_RELIABLE = min(ALPHA_LIMITS)
_LEAST_SEVERITY = 0.05
"""Share of the scale from which on a rater's distance from the others is marked."""

_FEWEST_SHARED = 20
"""Responses that a rater shares with others, without which none is marked."""

ALPHA_MEANINGS = {
    "reliable": "Reliable: conclusions may rest on these scores (0.80 and more).",
    "tentative": "Tentative: conclusions are only tentative (0.667 to 0.80).",
    "unreliable": "Unreliable: judges do not agree enough for any conclusion (below 0.667).",
    UNSTABLE: "Unstable: alpha is low because the scores hardly vary.",
    REPEATED: "Repeated: two judges give equal scores throughout; one may be a copy.",
}


@dataclass(frozen=True, eq=False)
class StoredFigures:
    """Tables of a database that the report shows, as rows.

    Args:
        gate_steps: What to do about each gate that does not pass.
        stale: Why figures of judges are older than the ratings; empty if they are not.
        findings: What stands out in the ratings of a question.
        dependent_judges: Sentences on judges of one family.
    """

    evaluation: Evaluation
    outcomes: tuple[GateOutcome, ...]
    gate_steps: Mapping[GateName, str]
    stale: str
    findings: tuple[tuple[str, str], ...]
    dependent_judges: tuple[str, ...]
    judges: tuple[JudgeFigures, ...]
    leave_one_judge_out: tuple[LeaveOneJudgeOutFigures, ...]
    rubric_versions: tuple[RubricVersionFigures, ...]
    scores: tuple[ScoreFigures, ...]
    tables: Mapping[str, Sequence[StoredRow]]

    def rows(self, table: str) -> Sequence[StoredRow]:
        """Return the rows of a table."""
        return self.tables.get(table, ())


def stored_sections(source: StoredFigures, *, untrusted: Collection[str]) -> Iterator[Section]:
    """Yield the sections that have something to say.

    Nothing is said of judges by the labels of `untrusted` questions.
    """
    sections = (
        _summary(source),
        _severity(source),
        _judges_together(source),
        _bias(source, untrusted),
        _certificates(source),
        _results_by_system(source, untrusted),
        _results_by_prompt(source),
        _decisions(source),
        _wordings(source),
        _limits(source),
    )
    yield from filter(None, sections)


def _summary(source: StoredFigures) -> Section | None:
    rows = source.rows("executive_summary")
    if not rows:
        return None
    [row] = rows
    writer = f"{row['judge_id']} ({row['model']})"
    if row["refused_because"]:
        texts: tuple[str, ...] = (f"Not shown: {row['refused_because']}.",)
        return Section("summary", "Executive summary", f"by {writer}: not shown", (Texts(texts),))
    note = f"Written by {writer} from this report's figures alone; every number is among them."
    texts = (str(row["summary"]), note)
    return Section("summary", "Executive summary", f"by {writer}", (Texts(texts),), is_open=True)


def _severity(source: StoredFigures) -> Section | None:
    """Return each rater's mean distance from the others, question by question."""
    plots, named, most_shared = [], [], 0
    several = len(source.evaluation.rubric) > 1
    for question in source.evaluation.rubric:
        if not question.has_order:
            continue
        span = question.scale.high - question.scale.low
        rows = []
        for of in source.rows("label_quality"):
            is_severity = of["question_id"] == question.id and of["measure"] == "severity"
            if not is_severity or of["value"] is None:
                continue
            points, most_shared = span * float(of["value"]), max(most_shared, of["n"])
            is_marked = abs(of["value"]) >= _LEAST_SEVERITY and of["n"] >= _FEWEST_SHARED
            remark = ("lenient" if points > 0 else "strict") if is_marked else ""
            rows.append(Row(of["rater_id"], points, signed_text(points), remark=remark))
        rows.sort(key=lambda row: -row.value)
        if len(rows) < 2:  # noqa: PLR2004 - nobody to differ from
            continue
        named += [(abs(row.value) / span, row, question) for row in rows if row.remark]
        reach = max(span * _LEAST_SEVERITY, *(abs(row.value) for row in rows))
        ends = ((-reach, "stricter"), (reach, "more lenient"))
        axis = Axis(-reach, reach, ticks=ends, chance=0.0)
        plots.append(Plot(question.id if several else "", axis, tuple(rows[:_MOST_RATERS])))
    if not plots:
        return None
    finding = "nobody is more than 5 % of the scale from the others"
    if most_shared < _FEWEST_SHARED:
        finding = "too few responses of two raters to tell"
    if named:
        lenient = max(named, key=lambda of: (of[1].value > 0, of[0]))
        strict = max(named, key=lambda of: (of[1].value < 0, of[0]))
        parts = [
            f"{of.label} is the {word}" + (f" ({question.id})" if several else "")
            for (_, of, question), word, is_of in (
                (lenient, "most lenient", lenient[1].value > 0),
                (strict, "strictest", strict[1].value < 0),
            )
            if is_of
        ]
        finding = ", ".join(parts)
    note = (
        "Each rater against the others on the same responses, in points of the scale. Marked: at "
        f"least 5 % of the scale off on {_FEWEST_SHARED} responses or more."
    )
    return Section("severity", "Severity by rater", finding, (*plots, Texts((note,))))


def _judges_together(source: StoredFigures) -> Section | None:
    figures = [of for of in source.judges if of.scope is not Scope.RESPONSE]
    overall = next((of for of in figures if of.scope is Scope.OVERALL), None)
    if overall is None or overall.n_judges < 2:  # noqa: PLR2004 - one judge agrees with itself
        return None
    if len(figures) == 2:  # noqa: PLR2004 - the only question has the same scores
        figures = [of for of in figures if of.scope is Scope.QUESTION]
    gate = source.evaluation.gates["judge_alpha"]
    rows = tuple(
        Row(
            of.question_id or "all questions",
            of.alpha.value,
            figure_text(of.alpha.value, limits=[gate.minimum]),
            Mark.JUDGE,
            low=of.alpha.low,
            high=of.alpha.high,
            verdict=Verdict.of_interval(of.alpha, minimum=gate.minimum),
        )
        for of in figures
    )
    axis = agreement_axis(rows, minimum=gate.minimum, minimum_text=limit_text(gate.minimum))
    table = Table(
        "Agreement between judges",
        (
            Column("question", ""),
            Column("alpha", "judge alpha", is_number=True),
            Column("meaning", "meaning"),
            Column("n_judges", "judges", is_number=True),
            Column("n_comparisons", "comparisons", is_number=True),
            Column("kappa_micro", "kappa (micro)", is_number=True),
            Column("kappa_macro", "kappa (macro)", is_number=True),
        ),
        tuple(
            (
                text_cell(of.question_id or "all questions"),
                _alpha_cell(of.alpha),
                text_cell(of.interpretation, tone=alpha_tone(of.alpha.value)),
                Cell(count_text(of.n_judges), of.n_judges),
                Cell(count_text(of.n_comparisons), of.n_comparisons),
                _number_cell(of.kappa_micro),
                _number_cell(of.kappa_macro),
            )
            for of in figures
        ),
    )
    words = dict.fromkeys(word for of in figures for word in of.interpretation.split("; "))
    meanings = tuple(ALPHA_MEANINGS[word] for word in words if word in ALPHA_MEANINGS)
    finding = f"alpha {figure_text(overall.alpha.value, limits=ALPHA_LIMITS)}"
    finding += f" ({overall.interpretation})"
    blocks: tuple[Block, ...] = (
        Plot("Krippendorff's alpha of the judges", axis, rows),
        table.without_equal_columns,
        *_without(source),
        Texts((*meanings, "Judges that agree may still be wrong together.")),
    )
    return Section("judges", "Agreement between judges", finding, blocks)


def _without(source: StoredFigures) -> tuple[Table, ...]:
    rows = [of for of in source.leave_one_judge_out if of.scope is Scope.OVERALL]
    if all(math.isnan(of.alpha_without) for of in rows):
        return ()
    columns = (
        Column("judge", ""),
        Column("alpha_without", "alpha without it", is_number=True),
        Column("mean_difference", "above the others (0-1)", is_number=True),
    )
    cells = tuple(
        (
            text_cell(of.judge_id),
            _number_cell(of.alpha_without),
            Cell(signed_text(of.mean_difference), or_none(of.mean_difference)),
        )
        for of in rows
    )
    caption = "If alpha goes up without a judge, that judge is the outlier"
    return (Table("Without each judge", columns, cells, caption),)


def alpha_tone(alpha: float) -> Tone:
    """Return the colour of an alpha."""
    tones = {"reliable": Tone.GOOD, "tentative": Tone.FAIR, "unreliable": Tone.POOR}
    return tones.get(alpha_label(alpha), Tone.NONE)


def _alpha_cell(alpha: Figure) -> Cell:
    text = figure_text(alpha.value, limits=ALPHA_LIMITS, decimals=3)
    return Cell(text, or_none(alpha.value), alpha_tone(alpha.value))


def _number_cell(value: float) -> Cell:
    return Cell(figure_text(value), or_none(value))


_RELATIVE = ("relative", "relative_low", "relative_high")


def _bias(source: StoredFigures, untrusted: Collection[str]) -> Section | None:
    groups: dict[tuple[str, str, str], list[StoredRow]] = defaultdict(list)
    for row in source.rows("judge_bias"):
        if row["relative"] is not None and row["question_id"] not in untrusted:
            groups[row["judge_id"], row["question_id"], row["attribute"]].append(row)
    if not groups:
        return None
    several = len(source.evaluation.rubric) > 1
    plots, named = [], []
    reach = defaultdict[str, float](float)  # one for all plots of a question, to compare them
    for (_, question, _), values in groups.items():
        ends = [abs(or_nan(of[end])) for of in values for end in _RELATIVE]
        reach[question] = max(reach[question], *(end for end in ends if not math.isnan(end)))
    for (judge, question, attribute), values in groups.items():
        rows = tuple(
            Row(
                str(of["value"]),
                of["relative"],
                signed_text(of["relative"]),
                Mark.JUDGE,
                low=or_nan(of["relative_low"]),
                high=or_nan(of["relative_high"]),
                remark=("higher" if of["relative"] > 0 else "lower") if of["is_named"] else "",
            )
            for of in values
        )
        named += [f"{judge} favours {of.label}" for of in rows if of.remark and of.value > 0]
        named += [f"{judge} disfavours {of.label}" for of in rows if of.remark and of.value < 0]
        end = reach[question] or 1.0
        axis = Axis(-end, end, ticks=((-end, "lower"), (end, "higher")), chance=0.0)
        title = f"{judge}{f' on {question}' if several else ''} by {attribute}"
        plots.append(Plot(title, axis, rows))
    finding = "no judge is shown to favour a system or a length"
    if named:
        rest = len(named) - 2
        finding = "; ".join(named[:2]) + (f"; {rest} more" if rest > 0 else "")
    note = "Score at equal human rating, in points of the scale, relative to the unmarked values."
    return Section("bias", "Bias of judges", finding, (*plots, Texts((note,))))


def _certificates(source: StoredFigures) -> Section | None:
    rows = source.rows("judge_certificates")
    unevaluated = {of["question_id"]: of["reason"] for of in source.rows("unevaluated_tests")}
    if not rows and not unevaluated:
        return None
    held = [of for of in rows if of["claim"] and not of["stale_because"]]
    names = dict.fromkeys(f"{of['judge_id']} {of['version']}" for of in held)
    blocks: list[Block] = [certificates_table(rows).without_equal_columns] if rows else []
    notes = tuple(certificates_notes(rows, unevaluated))
    blocks += [Texts(notes)] if notes else []
    return Section("certificates", "Certificates", listed([*names]) or "none yet", tuple(blocks))


def _results_by_system(source: StoredFigures, untrusted: Collection[str]) -> Section | None:
    """Return the mean rating of each system, and how far each judge is from it."""
    means = [of for of in source.scores if of.slice == "all" and of.model_name is not None]
    systems = sorted({of.model_name for of in means if of.model_name is not None})
    if len(systems) < 2:  # noqa: PLR2004 - nothing to compare
        return None
    judges = [judge.id for judge in source.evaluation.judges]
    several = len(source.evaluation.rubric) > 1
    tables, findings = [], []
    for question in source.evaluation.rubric:
        if not question.has_order or question.id in untrusted:
            continue
        of_people = {
            of.model_name: of
            for of in means
            if of.question_id == question.id and of.rater_kind == "human"
        }
        of_judges = {
            (of.model_name, of.rater_id): of
            for of in means
            if of.question_id == question.id and of.rater_kind == "judge"
        }
        rated = [of for of in systems if of in of_people]
        if not rated:
            continue
        rated.sort(key=lambda system: -of_people[system].mean)
        findings.append(f"{rated[0]} is rated highest" + (f" on {question.id}" if several else ""))
        span = question.scale.high - question.scale.low
        rows = []
        for system in rated:
            mean = of_people[system].mean
            cells = [
                text_cell(system),
                Cell(figure_text(mean), or_none(mean), shade=(mean - question.scale.low) / span),
            ]
            for judge in judges:
                of = of_judges.get((system, judge))
                bias = math.nan if of is None else of.bias
                cells.append(Cell("" if math.isnan(bias) else signed_text(bias), or_none(bias)))
            rows.append(tuple(cells))
        columns = (
            Column("system", ""),
            Column("people", "people", is_number=True),
            *(Column(judge, judge, is_number=True) for judge in judges),
        )
        caption = question.id if several else ""
        tables.append(Table(caption or "Mean rating", columns, tuple(rows), caption))
    if not tables:
        return None
    finding = findings[0] if len(findings) == 1 else f"{counted(len(systems), 'system')}"
    note = (
        "People: mean rating. Judges: mean score less people's on the same responses, outside the "
        "held-out test."
    )
    return Section("systems", "Results by system", finding, (*tables, Texts((note,))))


def _results_by_prompt(source: StoredFigures) -> Section | None:
    cells: dict[str, dict[str, StoredRow]] = defaultdict(dict)
    prompts: dict[str, str] = {}
    for row in source.rows("results"):
        cells[row["slice_value"]][row["model_name"]] = row
        prompts[row["slice_value"]] = row["prompt_text"] or row["slice_value"]
    if not cells:
        return None
    models = sorted({model for of in cells.values() for model in of})
    average = {
        prompt: sum(row["alpha"] for row in of.values()) / len(of) for prompt, of in cells.items()
    }
    lowest = sorted(cells, key=lambda prompt: (average[prompt], prompt))[:_MOST_PROMPTS]
    columns = (
        Column("prompt", "prompt"),
        *(Column(model, model, is_number=True) for model in models),
        Column("mean_alpha", "mean alpha", is_number=True),
        Column("n_unreliable", f"below {_RELIABLE:g}", is_number=True),
    )
    rows = []
    for prompt in lowest:
        of = cells[prompt]
        unreliable = sum(row["alpha"] < _RELIABLE for row in of.values())
        rows.append(
            (
                text_cell(shortened(prompts[prompt], _LONGEST_PROMPT)),
                *(_result_cell(of.get(model)) for model in models),
                Cell(figure_text(average[prompt], limits=[_RELIABLE]), average[prompt]),
                Cell(f"{unreliable} of {len(of)}", unreliable),
            )
        )
    totals = source.rows("results_by_model")
    n, low = (sum(row[name] for row in totals) for name in ("n_results", "n_not_reliable"))
    mean = sum(row["mean_alpha"] * row["n_results"] for row in totals) / n
    lowest_alpha = min(row["lowest_alpha"] for row in totals)
    finding = (
        f"judges do not agree on {count_text(low)} of {count_text(n)}: mean alpha "
        f"{figure_text(mean, limits=[_RELIABLE])}, lowest {figure_text(lowest_alpha)}"
    )
    by_model = Table(
        "By model",
        (
            Column("model", ""),
            Column("mean", "mean score (0-1)", is_number=True),
            Column("mean_alpha", "mean alpha", is_number=True),
            Column("lowest_alpha", "lowest", is_number=True),
            Column("n_not_reliable", f"below {_RELIABLE:g}", is_number=True),
        ),
        tuple(
            (
                text_cell(row["model_name"]),
                Cell(figure_text(row["mean"]), row["mean"], shade=row["mean"]),
                Cell(figure_text(row["mean_alpha"], limits=[_RELIABLE]), row["mean_alpha"]),
                Cell(figure_text(row["lowest_alpha"], limits=[_RELIABLE]), row["lowest_alpha"]),
                Cell(f"{row['n_not_reliable']} of {row['n_results']}", row["n_not_reliable"]),
            )
            for row in totals
        ),
    )
    caption = (
        f"Mean score of the judges on [0, 1]; framed: their alpha is below {_RELIABLE:g}. The "
        "prompts with the lowest mean alpha"
    )
    grid = Table("By prompt and model", columns, tuple(rows), caption, form="heat")
    return Section("results", "Results by prompt and model", finding, (grid, by_model))


def _result_cell(row: StoredRow | None) -> Cell:
    if row is None or row["mean"] is None:
        return Cell("")
    alpha = row["alpha"]
    return Cell(
        figure_text(row["mean"]),
        row["mean"],
        shade=row["mean"],
        is_marked=alpha < _RELIABLE,
        hint=f"Alpha of the judges {figure_text(alpha, limits=[_RELIABLE])}: {alpha_label(alpha)}",
    )


def _decisions(source: StoredFigures) -> Section | None:
    rows = source.rows("adjudicated_labels")
    if not rows:
        return None
    columns = (
        Column("response", ""),
        Column("question", "question"),
        Column("ratings", "ratings before"),
        Column("decision", "decision"),
        Column("decided_by", "by"),
        Column("reason", "reason"),
    )

    def rated(question_id: str, value: float) -> str:
        return value_text(value, source.evaluation.question(question_id).scale)

    cells = []
    for row in rows[:_MOST_DECISIONS]:
        before = {
            name: value for name, value in json.loads(row["ratings"]).items() if value is not None
        }
        decision = "left out" if row["excluded"] else rated(row["question_id"], row["value"])
        if row["is_override"]:
            decision += " (overrides the judges)"
        ratings = ", ".join(
            f"{name} {rated(row['question_id'], value)}" for name, value in before.items()
        )
        texts = (row["response_id"], row["question_id"], ratings, decision)
        cells.append(tuple(map(text_cell, (*texts, row["decided_by"], row["reason"]))))
    n_out = sum(bool(row["excluded"]) for row in rows)
    finding = f"{counted(len(rows), 'decision')}" + (f", {n_out} left out" if n_out else "")
    table = Table("Adjudicated", columns, tuple(cells)).without_equal_columns
    note = "Agreement is that of the ratings before a decision."
    return Section("adjudicated", "Adjudicated disagreements", finding, (table, Texts((note,))))


def _wordings(source: StoredFigures) -> Section | None:
    """Return agreement under each wording of a question; None with a single one."""
    versions = source.rubric_versions
    if not versions:
        return None
    latest: dict[str, RubricVersionFigures] = {of.question_id: of for of in versions}
    findings = []
    for name, change in ((k, of.alpha_change) for k, of in latest.items() if of.previous_version):
        is_shown = change.has_interval and not change.low <= 0 <= change.high
        word = f"{'higher' if change.value > 0 else 'lower'} under the new wording"
        findings.append(f"{name}: {word if is_shown else 'no change shown'}")
    note = (
        "The newest wording with labels counts. A change compares responses that are new under a "
        "wording with those of the wording before."
    )
    finding = "; ".join(findings) or counted(len(versions), "wording")
    contents = (wordings_table(versions), Texts((note,)))
    return Section("wordings", "Wordings of a question", finding, contents)


def wordings_table(versions: Sequence[RubricVersionFigures]) -> Table:
    """Return agreement under each wording of a question, with its change."""
    columns = (
        Column("question", ""),
        Column("version", "version", is_number=True),
        Column("a_hh", "A^HH", is_number=True),
        Column("alpha", "alpha", is_number=True),
        Column("n_responses", "rated twice", is_number=True),
        Column("change", "change of alpha on new responses", is_number=True),
    )
    cells = tuple(
        (
            text_cell(of.question_id),
            Cell(count_text(of.rubric_version), of.rubric_version),
            _number_cell(of.a_hh.value),
            _alpha_cell(of.alpha),
            Cell(count_text(of.n_responses), of.n_responses),
            _change_cell(of),
        )
        for of in versions
    )
    return Table("Agreement by wording", columns, cells)


def _change_cell(of: RubricVersionFigures) -> Cell:
    change = of.alpha_change
    if not of.previous_version or not change.is_defined:
        return Cell("")
    interval = f" ({interval_text(change.low, change.high)})" if change.has_interval else ""
    return Cell(f"{signed_text(change.value)}{interval}", change.value)


def _limits(source: StoredFigures) -> Section | None:
    """Return what is missing from the data, or may mislead."""
    sentences = list(limits(source))
    if not sentences:
        return None
    finding = sentences[0].rstrip(".")
    if len(finding) > _LONGEST_PROMPT:
        finding = counted(len(sentences), "remark")
    return Section("limits", "Limits of the data", finding, (Texts(tuple(sentences)),))


def limits(source: StoredFigures) -> Iterator[str]:
    """Yield sentences on data that are missing, or that may mislead."""
    if source.stale:
        yield source.stale
    for row in source.rows("judges"):
        if row["stopped"]:
            yield (
                f"{row['judge_id']} is missing or incomplete. The last run stopped it: "
                f"{row['stopped']}. Run again: nothing is asked twice."
            )
        if row["other_models"]:
            yield (
                f"{row['judge_id']}: {row['model']} was requested, and {row['other_models']} "
                "answered."
            )
    yield from _coverage(source)
    rejected = [
        f"{row['n']:,} of {row['rater_id'] or 'nobody named'} on "
        f"{row['question_id'] or 'no question named'}"
        for row in source.rows("rejected_labels")
    ]
    if rejected:
        yield f"Labels were rejected, and count nowhere: {listed(rejected)}."
    for question_id, finding in source.findings:
        yield f"{question_id}: {finding}."
    for row in source.rows("no_longer_paired"):
        yield (
            f"{row['question_id']}: {counted(row['n_responses'], 'response')} had two ratings in "
            "an earlier round and fewer in the latest, which counts. Have two people rate them."
        )
    yield from (f"{sentence}." for sentence in source.dependent_judges)


def _coverage(source: StoredFigures) -> Iterator[str]:
    by_judge: dict[str, dict[str, int]] = defaultdict(dict)
    for row in source.rows("status_counts"):
        by_judge[row["judge_id"]][row["status"]] = row["n"]
    for judge, counts in by_judge.items():
        total = sum(counts.values())
        n_missing = sum(n for status, n in counts.items() if status not in {"ok", "conversation"})
        if total and 1 - n_missing / total < LOWEST_COVERAGE:
            yield (
                f"{judge} skipped {count_text(n_missing)} of {count_text(total)} scores "
                f"({percent_text(n_missing / total)}); its figures are those of the rest."
            )
