"""One screen: what was read, the answer on the labels, that on each judge, and the next step.

It is made once. The renderers for the terminal, HTML and JSON print its texts, verdicts and rows,
and decide none of them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from eval_assets.agreement.comparing import Assessment
from eval_assets.agreement.judge_comparison import HeldOutTest, JudgeComparison, JudgeFinding
from eval_assets.agreement.label_agreement import WideDisagreement
from eval_assets.config.rubric import RubricQuestion
from eval_assets.shown.blocks import (
    Axis,
    Cell,
    Column,
    Mark,
    Row,
    SplitItem,
    SplitItems,
    Table,
    agreement_axis,
    text_cell,
    verdict_cell,
)
from eval_assets.shown.next_step import NextStep, next_step
from eval_assets.shown.sentences import (
    Words,
    deciding_texts,
    figure_sentence,
    item_noun,
    judge_question,
    judge_summary,
    judges_sentence,
    labels_sentence,
)
from eval_assets.verdicts import Verdict
from eval_assets.wording import (
    count_text,
    counted,
    figure_text,
    listed,
    or_none,
    percent_text,
    shortened,
    value_text,
)

LABELS_QUESTION = "Can we trust our labels?"
JUDGES_QUESTION = "Can a judge replace one of us?"

_FEWEST_OF_A_TABLE = 3
"""Questions or judges from which on a table takes the place of sentences."""

_MOST_NAMES, _MOST_PEOPLE = 3, 5


@dataclass(frozen=True)
class ItemText:
    """An item as people know it."""

    name: str
    prompt: str = ""
    text: str = ""


@dataclass(frozen=True)
class ReadDoubt:
    """What was guessed in reading.

    Args:
        columns: Columns that it is about.
        choice: What they were taken for.
        option: Option that reverses it; empty if none does.
        verdict: Verdicts of that reading in words; empty if it was not tried.
    """

    columns: tuple[str, ...]
    choice: str
    option: str
    verdict: str = ""


@dataclass(frozen=True)
class ReadSummary:
    """What was read.

    Args:
        n_items: Items that anyone rated.
        groups_by: Column that groups items; empty if each is its own.
        columns: Columns by role.
        not_read: Reason why a column is not read, by `file:column`.
        doubts: What was guessed.
        n_held_out: Items that judges are not compared on; 0 if none is held out.
        item: Returns the text of an item.
        options: Options that correct a wrong reading.
    """

    title: str
    files: tuple[str, ...]
    n_ratings: int
    n_scores: int
    n_items: int
    raters: tuple[str, ...]
    groups_by: str
    n_groups: int
    columns: Mapping[str, tuple[str, ...]]
    not_read: Mapping[str, str]
    notes: tuple[str, ...]
    doubts: tuple[ReadDoubt, ...]
    item: Callable[[int], ItemText]
    n_held_out: int = 0
    options: tuple[str, ...] = ()

    @property
    def words(self) -> Words:
        """Nouns of the study."""
        return Words(item_noun(self.columns.get("item", ())), self.raters)


@dataclass(frozen=True)
class ScreenAnswer:
    """A question with its verdict and sentence.

    Args:
        figure: The figure that decides, beside its minimum; may be empty.
        note: What the drawn interval is; may be empty.
        share: Share of the items on which the verdict holds; 1 for all.
    """

    question: str
    verdict: Verdict
    sentence: str
    figure: str = ""
    rows: tuple[Row, ...] = ()
    axis: Axis | None = None
    note: str = ""
    share: float = 1.0

    @property
    def word(self) -> str:
        """The verdict in words, with the share on which it holds."""
        share = "" if self.share == 1 else f" on {percent_text(self.share)}"
        return f"{self.verdict.word}{share}"


@dataclass(frozen=True)
class Screen:
    """Everything that a screen says, in its order."""

    reading: ReadSummary
    assessment: Assessment
    read: tuple[str, ...]
    labels: ScreenAnswer
    judges: tuple[ScreenAnswer, ...]
    next: NextStep
    disagreements: SplitItems

    @property
    def verdict(self) -> Verdict:
        """The worst verdict, which the exit code follows."""
        return Verdict.worst((self.labels.verdict, *(of.verdict for of in self.judges)))

    def label_steps(self) -> dict[str | None, str]:
        """Return the next step on each question whose labels do not pass; under None of all."""
        open_labels = [of for of in self.assessment.labels if of.verdict is not Verdict.PASS]
        steps: dict[str | None, str] = {None: self.next.text} if open_labels else {}
        for labels in open_labels:
            alone = replace(
                self.assessment,
                labels=(labels,),
                judges={},
                disagreements=tuple(
                    of for of in self.assessment.disagreements if of.question == labels.question
                ),
            )
            steps[labels.question.id] = first_step(self.reading, alone).text
        return steps

    @property
    def has_table(self) -> bool:
        """Return whether a table takes the place of the sentences on judges."""
        n_questions = len(self.assessment.labels)
        return n_questions > 1 or len(self.judges) >= _FEWEST_OF_A_TABLE

    @property
    def judges_sentence(self) -> str:
        """What is said of all judges beside a table of their verdicts."""
        return judges_sentence(self.assessment.judges, self.reading.words)

    @property
    def matrix(self) -> Table:
        """The verdict on the labels and on each judge, a row a question."""
        judges = self.assessment.judges
        columns = (
            Column("question", "question"),
            Column("alpha", "alpha", is_number=True),
            Column("interval", "95% CI"),
            Column("labels", "labels"),
            *(Column(judge, judge) for judge in judges),
        )
        rows = []
        for labels, row in zip(self.assessment.labels, self.labels.rows, strict=True):
            name = labels.question.id
            verdicts = (
                next((of.verdict for of in of_judge if of.question.id == name), None)
                for of_judge in judges.values()
            )
            rows.append(
                (
                    text_cell(name),
                    Cell(row.text, or_none(row.value)),
                    text_cell(row.interval),
                    *(
                        verdict_cell(verdict or Verdict.NOT_MEASURED)
                        for verdict in (row.verdict, *verdicts)
                    ),
                )
            )
        return Table("Verdicts by question", columns, tuple(rows))

    @property
    def table_key(self) -> dict[Verdict, str]:
        """The verdicts that a table has, with what they say."""
        comparisons = [of for judge in self.assessment.judges.values() for of in judge]
        verdicts = {of.verdict for of in self.assessment.labels}
        verdicts |= {of.verdict for of in comparisons}
        key = {verdict: verdict.word for verdict in Verdict if verdict in verdicts}
        if Verdict.NOT_MEASURED in verdicts:
            must_agree = any(of.finding is JudgeFinding.LABELS_FAIL for of in comparisons)
            reason = ": people must agree first" if must_agree else ""
            key[Verdict.NOT_MEASURED] = f"not judged{reason}"
        return key


def first_step(reading: ReadSummary, assessment: Assessment) -> NextStep:
    """Return the next step, without the command that takes it."""
    return next_step(
        assessment,
        reading.words,
        n_items=reading.n_items,
        item_names=lambda unit: reading.item(unit).name,
    )


def screen_of(
    reading: ReadSummary, assessment: Assessment, *, command_of: Callable[[NextStep], str]
) -> Screen:
    """Return the screen of an assessment."""
    words = reading.words
    judges = tuple(
        _judge_answer(judge, comparisons, words) for judge, comparisons in assessment.judges.items()
    )
    step = first_step(reading, assessment)
    return Screen(
        reading=reading,
        assessment=assessment,
        read=tuple(_read_lines(reading, assessment)),
        labels=_labels_answer(assessment, words),
        judges=judges,
        next=replace(step, command=command_of(step)),
        disagreements=SplitItems(
            tuple(
                disagreement_of(of, reading.item(of.unit), several=len(assessment.labels) > 1)
                for of in assessment.disagreements
            )
        ),
    )


_MOST_VOTED_VALUES = 11
_LONGEST_PROMPT, _LONGEST_TEXT = 240, 600


def disagreement_of(disagreement: WideDisagreement, item: ItemText, *, several: bool) -> SplitItem:
    """Return a disagreement with its texts, and who gave which value."""
    question = disagreement.question
    values = question.scale.values or ()
    raters: dict[float, list[str]] = {}
    for rater, value in sorted(disagreement.ratings, key=lambda of: of[1]):
        raters.setdefault(value, []).append(rater)
    displayed = values if 0 < len(values) <= _MOST_VOTED_VALUES else tuple(raters)
    text = item.text
    if len(text) > _LONGEST_TEXT:
        text = f"{text[:_LONGEST_TEXT].rpartition(' ')[0]} ..."
    return SplitItem(
        item=item.name,
        question=question.id if several else "",
        prompt=shortened(item.prompt, _LONGEST_PROMPT),
        text=text,
        votes=tuple(
            (value_text(value, question.scale), tuple(raters.get(value, ()))) for value in displayed
        ),
    )


def _read_lines(reading: ReadSummary, assessment: Assessment) -> list[str]:
    """Return what was read: counts, roles of columns with the options that correct them, notes."""
    words, questions, judge_names = reading.words, assessment.labels, list(assessment.judges)
    items, people = counted(reading.n_items, words.item), counted(len(reading.raters), "person")
    parts = []
    if reading.n_ratings:
        n_units = reading.n_items * len(questions)
        is_complete = reading.n_ratings == n_units * len(reading.raters)
        by = f" x {people}" if is_complete and len(reading.raters) > 1 else f", {people}"
        parts.append(f"{counted(reading.n_ratings, 'rating')}: {items}{by}")
        if len(questions) > 1:
            parts[-1] += f", {counted(len(questions), 'question')}"
        else:
            parts[-1] += f", scale {_scale_text(questions[0].question)}"
    if judge_names:
        judges = counted(len(judge_names), "judge")
        if len(judge_names) == 1:
            name = shortened(judge_names[0], _LONGEST_JUDGE)
            judges = name if name.casefold() == "judge" else f"judge {name}"
        scores = counted(reading.n_scores, "score")
        of_items = "" if reading.n_ratings else f" of {items}"
        parts.append(f"{judges}: {scores}{of_items}")
    lines = ["; ".join(parts) or f"{items}, and no ratings of them"]
    if reading.options:
        roles = ", ".join(_roles(reading, judge_names))
        lines.append(f"{roles}{'. ' if roles else ''}Wrong? {', '.join(reading.options)}")
    if reading.n_held_out:
        verb = "is" if reading.n_held_out == 1 else "are"
        n = counted(reading.n_held_out, words.item)
        lines.append(f"{n} {verb} held out: their test decides on judges.")
    notes = [shortened(note, _LONGEST_NOTE) for note in reading.notes[:_MOST_NOTES]]
    lines += [note if note.endswith("...") else f"{note}." for note in notes]
    lines += [
        f"{of.choice}. Otherwise: {of.option}" if of.option else f"{of.choice}."
        for of in reading.doubts[:_MOST_NOTES]
    ]
    n_unseen = sum(len(of[_MOST_NOTES:]) for of in (reading.notes, reading.doubts))
    option = "--json" if all(of.startswith("--") for of in reading.options) else "to_dict()"
    return [*lines, *[f"{counted(n_unseen, 'further note')}: {option}"] * bool(n_unseen)]


_MOST_NOTES = 2
_LONGEST_NOTE, _LONGEST_JUDGE, _LONGEST_COLUMN = 160, 30, 24
_ROLES = {"item": "item", "rater": "rater", "judge": "judge", "rating": "rating"}
_ROLES |= {"question": "question", "model": "system", "run": "run"}
"""Names of the roles of columns, in their order on the screen."""


def _roles(reading: ReadSummary, judges: Sequence[str]) -> list[str]:
    roles = []
    by_role = dict(reading.columns)
    if {*by_role.get("rating", ())} <= {*by_role.get("rater", ()), *by_role.get("judge", ())}:
        by_role["rating"] = ()  # a column for each rater
    for role, noun in _ROLES.items():
        columns = [shortened(of, _LONGEST_COLUMN) for of in by_role.get(role, ())]
        if role == "judge" and {*by_role.get(role, ())} <= {*judges}:
            continue  # their questions name them
        is_of_questions = role == "rater" and len(columns) > len(reading.raters)
        name = "rating" if is_of_questions else noun
        if len(columns) > (_MOST_PEOPLE if name == "rater" else _MOST_NAMES):
            roles.append(f"{len(columns)} {name} columns")
        elif columns and columns != [role]:
            roles.append(f"{name} = {listed(columns)}")
    if reading.groups_by:
        by = shortened(reading.groups_by, _LONGEST_COLUMN)
        roles.append(f"groups = {by} ({count_text(reading.n_groups)})")
    return roles


def _scale_text(question: RubricQuestion) -> str:
    """Return a scale in a few characters.

    Examples:
        >>> from eval_assets.scale import BINARY, LIKERT5, Scale
        >>> [_scale_text(RubricQuestion("q", "?", scale, "ordinal")) for scale in
        ...     (LIKERT5, Scale.from_words("fail", "pass"))]
        ['1-5', 'fail/pass']
    """
    scale = question.scale
    if scale.words and len(scale.words) <= _MOST_NAMES:
        return "/".join(shortened(word, _LONGEST_COLUMN // 2) for word in scale.words)
    return f"{scale.low:g}-{scale.high:g}"


def _labels_answer(assessment: Assessment, words: Words) -> ScreenAnswer:
    labels = assessment.labels
    deciding = assessment.deciding_labels
    is_one = len(labels) == 1
    is_measured = not (
        assessment.outdated_because or math.isnan(deciding.deciding.value + deciding.deciding.low)
    )
    rows = tuple(
        Row(
            words.people if is_one else of.question.id,
            of.deciding.value,
            deciding_texts(of)[0],
            low=of.deciding.low,
            high=of.deciding.high,
            minimum=of.minimum,
            verdict=of.verdict,
        )
        for of in labels
    )
    minimum = deciding.minimum
    return ScreenAnswer(
        LABELS_QUESTION,
        assessment.labels_verdict,
        assessment.outdated_because or labels_sentence(labels, words),
        figure=figure_sentence(deciding) if is_measured else "",
        rows=rows,
        axis=agreement_axis(rows, minimum=minimum, minimum_text=deciding_texts(deciding)[1])
        if is_measured
        else None,
    )


def _tested_answer(
    answer: ScreenAnswer, judge: str, tested: HeldOutTest, words: Words
) -> ScreenAnswer:
    answer = replace(answer, share=1.0 if tested.share is None else tested.share)
    if math.isnan(tested.kappa):
        return answer
    row = Row(
        judge if tested.share is None else f"{judge} + people",
        tested.kappa,
        figure_text(tested.kappa, limits=[tested.minimum]),
        Mark.JUDGE,
        low=tested.low,
        high=tested.high,
        minimum=tested.minimum,
        verdict=tested.verdict,
    )
    note = f"Held-out test: {counted(tested.n_units, words.item)}"
    return _beside_people(answer, tested.kappa_people, row, note)


def _beside_people(answer: ScreenAnswer, people: float, judge: Row, note: str) -> ScreenAnswer:
    """Return an answer with people's agreement drawn above a judge's."""
    rows = (Row("people", people, figure_text(people)), judge)
    axis = agreement_axis(rows, minimum=judge.minimum, minimum_text=figure_text(judge.minimum))
    return replace(answer, rows=rows, axis=axis, note=f"{note}. Bar: the interval that decides.")


def _judge_answer(judge: str, comparisons: Sequence[JudgeComparison], words: Words) -> ScreenAnswer:
    verdict = Verdict.worst(of.verdict for of in comparisons)
    answer = ScreenAnswer(judge_question(judge), verdict, judge_summary(comparisons, words))
    if len(comparisons) > 1 or comparisons[0].finding is JudgeFinding.OUTDATED:
        return answer
    [comparison] = comparisons
    compared, two = comparison.compared, comparison.two_classes
    if comparison.tested is not None:
        return _tested_answer(answer, judge, comparison.tested, words)
    if compared is not None and comparison.gap is not None and comparison.has_interval:
        people, gap = compared.people.value, comparison.gap
        row = Row(
            judge,
            compared.judge.value,
            figure_text(compared.judge.value),
            Mark.JUDGE,
            low=people + gap.low,
            high=people + gap.high,
            minimum=people - comparison.margin,
            verdict=comparison.verdict,
            is_tested=comparison.is_decisive,
        )
        note = f"Agreement beyond chance on {counted(comparison.n_compared, words.item)}"
        return _beside_people(answer, people, row, note)
    if two is not None:
        rows = tuple(
            Row(
                f"{words.people}: {name}",
                share.value,
                percent_text(share.value),
                Mark.JUDGE,
                low=share.low,
                high=share.high,
                is_tested=False,
            )
            for name, share in (("pass", two.true_positive), ("fail", two.true_negative))
        )
        axis = Axis(0.0, 1.0, ticks=((0.0, "0"), (1.0, "100 %")))
        return replace(answer, rows=rows, axis=axis, note="Share on which it says the same.")
    return answer
