"""Sentences about labels and judges: one function for each, which every screen prints.

A sentence is printed only if it is true for the figures: of a difference whose interval holds 0
it says that none was found, and "chance" is said of intervals.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval_assets.agreement.diagnosis import Cause, DeviatingRater, MixedValues
from eval_assets.agreement.judge_comparison import (
    MARGIN,
    HeldOutTest,
    JudgeComparison,
    JudgeFinding,
    TwoClasses,
)
from eval_assets.agreement.label_agreement import LabelAgreement
from eval_assets.bands import FEWEST_GROUPS
from eval_assets.catalogue import A_HH, MeasurementUnit
from eval_assets.config.rubric import RubricQuestion
from eval_assets.stats import Interval
from eval_assets.stats.beside_people import FEWEST_PAIRED_GROUPS, FEWEST_VARIED_GROUPS
from eval_assets.verdicts import Verdict
from eval_assets.wording import (
    count_text,
    counted,
    figure_text,
    interval_text,
    limit_text,
    listed,
    percent_interval,
    percent_text,
    planned_text,
    plural,
    shortened,
    value_text,
)

_FEWEST_EQUAL = 30
"""Double ratings from which on it is odd that none differ."""

_LARGE_MARGIN = 0.2
"""Margin above which a passing judge is not shown to be worth much."""

_MOST_NAMED = 3


_NO_NAMES = frozenset(
    {
        *("annotator", "consensus", "expected", "expert", "gold", "human", "human_label", "label"),
        *("labels", "not named", "person", "rater", "rating", "reference", "score", "target"),
    }
)
"""Headers of ratings by people that name nobody."""

_LONGEST_NAME = 30


@dataclass(frozen=True)
class Words:
    """Nouns of a study.

    Args:
        item: What is rated, such as `ticket`.
    """

    item: str
    raters: tuple[str, ...] = ()

    @property
    def items(self) -> str:
        """The items."""
        return plural(self.item)

    @property
    def an_item(self) -> str:
        """One item, with its article."""
        return f"{'an' if self.item[0] in 'aeio' else 'a'} {self.item}"

    @property
    def people(self) -> str:
        """Who rated: the name of a single person."""
        if len(self.raters) != 1 or self.raters[0].casefold().strip("()") in _NO_NAMES:
            return "people"
        return shortened(self.raters[0], _LONGEST_NAME)

    def rated(self, question: RubricQuestion, value: float) -> str:
        """Return a rating as people gave it."""
        return value_text(value, question.scale)


_NOUNS = frozenset(
    {
        *("abstract", "answer", "article", "case", "chat", "claim", "clip", "comment"),
        *("completion", "conversation", "dialog", "dialogue", "doc", "document", "email"),
        *("essay", "example", "file", "hit", "image", "instance", "message", "output"),
        *("page", "pair", "paper", "passage", "patient", "photo", "post", "prompt", "query"),
        *("question", "record", "reply", "report", "response", "review", "run", "sample"),
        *("scenario", "scene", "segment", "sentence", "snippet", "song", "span", "statement"),
        *("stimulus", "story", "student", "subject", "submission", "summary", "task", "text"),
        *("thread", "ticket", "trace", "transcript", "translation", "turn", "tweet", "unit"),
        *("utterance", "video"),
    }
)
"""What is rated, in English: words of other languages have other plurals."""


def item_noun(columns: Sequence[str]) -> str:
    """Return what the columns of the items say is rated: `item` if they do not say it.

    Examples:
        >>> [item_noun([of]) for of in ("Ticket ID", "responseId", "queries", "Case #", "q7")]
        ['ticket', 'response', 'query', 'case', 'item']
    """
    if len(columns) != 1:
        return "item"
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W_]+", columns[0])
    singulars = [re.sub("ies$", "y", word.lower()).removesuffix("s") for word in words]
    nouns = [of for of in singulars if of in _NOUNS]
    return nouns[0] if len(nouns) == 1 else "item"


def labels_sentence(labels: Sequence[LabelAgreement], words: Words) -> str:
    """Return whether the labels can be trusted, of one question or of several."""
    if not any(of.n_ratings for of in labels):
        return "No person rated anything."
    if len(labels) == 1:
        return _one_question(labels[0], words)
    verdicts = {of.verdict for of in labels}
    number = "both" if len(labels) == 2 else f"all {len(labels)}"  # noqa: PLR2004 - a pair
    if verdicts == {Verdict.FAIL}:
        by_chance = [of.question.id for of in labels if of.alpha.low <= 0]
        sentence = f"No: {number} questions are below the minimum."
        if by_chance:
            sentence += f" On {_named(by_chance)} they agree no more than chance would."
        return sentence
    if verdicts == {Verdict.PASS}:
        return f"Yes, on {number} questions."
    return _by_verdict(labels, lacking="labels", unmeasured="measured")


def _by_verdict(
    items: Sequence[LabelAgreement] | Sequence[JudgeComparison], *, lacking: str, unmeasured: str
) -> str:
    texts = {
        Verdict.PASS: "Yes on {}.",
        Verdict.NEED_MORE_DATA: f"Too few {lacking} to tell on {{}}.",
        Verdict.FAIL: "No on {}.",
        Verdict.NOT_MEASURED: f"Not {unmeasured} on {{}}.",
    }
    names = {
        verdict: [of.question.id for of in items if of.verdict is verdict] for verdict in texts
    }
    return " ".join(texts[verdict].format(_named(ids)) for verdict, ids in names.items() if ids)


def _one_question(labels: LabelAgreement, words: Words) -> str:
    if not labels.n_double:
        sentence = f"Nobody rated {words.an_item} twice"
        if labels.n_doubles_to_tell is None:
            rating = words.rated(labels.question, labels.values[0])
            return f"{sentence}, and every rating is {rating}."
        n = min(labels.n_units, labels.n_doubles_to_tell)
        number = (
            f"{planned_text(n)} double ratings"
            if labels.n_doubles_to_tell < labels.n_units
            else f"double ratings of all {counted(labels.n_units, words.item)}"
        )
        return f"{sentence}; {number} would tell."
    scale = labels.question.scale
    if math.isnan(labels.alpha.value):
        [only] = labels.values if len(labels.values) == 1 else [math.nan]
        value = "one value" if math.isnan(only) else words.rated(labels.question, only)
        return f"All raters gave {value} every time, so agreement beyond chance is undefined."
    if math.isnan(labels.alpha.low):
        groups = "" if labels.n_double == labels.n_groups else " of one group"
        items = counted(labels.n_double, words.item)
        return f"Only {items}{groups} rated twice: too few to tell."
    if not scale.has_few_values and labels.question.has_order:
        points = (1 - labels.a_hh.value) * (scale.high - scale.low)
        sentence = f"Two people differ by {points:.2g} points on average, "
        sentence += f"on a scale of {scale.low:g} to {scale.high:g}"
    else:
        share = percent_text(labels.exact_agreement.value)
        sentence = f"Two people give the same score {share} of the time"
        if labels.adjacent_agreement is not None:
            near = percent_text(labels.adjacent_agreement.value)
            sentence += f", within one {'point' if scale.step == 1 else 'step'} {near}"
    if labels.a_hh.value == 1 and labels.n_double >= _FEWEST_EQUAL:
        sentence += ": make sure that each rated alone, and none is a copy"
    return f"{sentence}.{_by_chance(labels)}"


def _by_chance(labels: LabelAgreement) -> str:
    if labels.alpha.high < 0:
        return " They contradict each other: that is less than by chance."
    if labels.alpha.low <= 0 and labels.verdict is Verdict.FAIL:
        return " Chance alone may explain that."
    return ""


def figure_sentence(labels: LabelAgreement) -> str:
    """Return the figure that decides on the labels, beside its minimum."""
    of = labels.decided_by
    name = "Pairwise agreement (A^HH)" if of is A_HH else of.title
    value, minimum, _ = deciding_texts(labels)
    sentence = f"{name} {value}, needs {minimum}"
    if labels.verdict is Verdict.NEED_MORE_DATA and labels.reaches_minimums:
        return f"{sentence}: reached, not proven"
    return sentence


def deciding_texts(labels: LabelAgreement) -> tuple[str, str, str]:
    """Return the figure that decides on the labels, its minimum and its interval, in its unit."""
    figure, minimum, statistic = labels.deciding, labels.minimum, labels.decided_by
    if statistic.unit is not MeasurementUnit.PERCENT:
        interval = interval_text(figure.low, figure.high, limits=[minimum])
        return figure_text(figure.value, limits=[minimum]), limit_text(minimum), interval
    in_percent = statistic.highest * minimum
    value = statistic.text(statistic.highest * figure.value, minimum=in_percent)
    interval = percent_interval(figure.low, figure.high)
    return value, statistic.minimum_text(in_percent), interval


def judge_question(judge: str) -> str:
    """Return the question that a judge's verdict answers."""
    name = "the judge" if judge.casefold() == "judge" else judge
    return f"Can {name} replace one of us?"


def judge_sentence(comparison: JudgeComparison, words: Words) -> str:
    """Return what the comparison of a judge with people on one question says."""
    tested = comparison.tested
    if tested is None:
        parts = [_finding_sentence(comparison, words), _plan_sentence(comparison)]
        parts.append(_coverage_sentence(comparison, words))
    else:
        parts = [_test_sentence(tested, words)]
    if comparison.verdict is not Verdict.NOT_MEASURED:
        if tested is None or tested.is_in_use:
            parts.append(_bias_sentence(comparison, words))
        parts += [_low_bar_sentence(comparison, words), _favour_sentence(comparison)]
    parts.append(_repeat_sentence(comparison, words))
    return " ".join(filter(None, parts))


def _coverage_sentence(comparison: JudgeComparison, words: Words) -> str:
    """Return on how many of the rated items a judge is compared, if it skipped many."""
    if not comparison.is_partial or comparison.verdict is Verdict.NOT_MEASURED:
        return ""
    of = f"{count_text(comparison.n_compared)} of {count_text(comparison.n_rated)} rated"
    rest = "; people agree less on the others" if comparison.skips_hard_units else ""
    return f"Compared on {of} {words.items}{rest}."


def _low_bar_sentence(comparison: JudgeComparison, words: Words) -> str:
    """Return why people's agreement is low, of a judge that agrees with them better than they."""
    tested, compared = comparison.tested, comparison.compared
    judge, people = math.nan, math.nan
    if tested is not None:
        judge, people = tested.kappa, tested.kappa_people
    elif compared is not None:
        judge, people = compared.judge.value, compared.people.value
    if comparison.severity is None or not judge > people:
        return ""
    return f"The bar is low: {cause_text(comparison.question, comparison.severity, words)}."


def turned_sentence(judge: str, comparison: JudgeComparison) -> str:
    """Return how a judge may come to score high where people rate low."""
    text = f"{judge} is high on {comparison.question.id} where people are low: its scale may"
    return f"{text} be turned, or it answers the opposite question"


def cause_text(question: RubricQuestion, cause: Cause, words: Words) -> str:
    """Return what most of people's disagreement comes from, without a full stop."""
    if isinstance(cause, MixedValues):
        low, high = (words.rated(question, value) for value in cause.values)
        return f"{percent_text(cause.share)} of disagreements are between {low} and {high}"
    if isinstance(cause, DeviatingRater):
        rater = shortened(cause.rater, _LONGEST_NAME)
        return f"Without {rater} the others agree: alpha {figure_text(cause.alpha)}"
    lenient, strict = (shortened(of, _LONGEST_NAME) for of in (cause.lenient, cause.strict))
    if question.scale.is_binary:
        value = words.rated(question, 1.0)
        return f"{lenient} says {value} {percent_text(cause.points)} more often than {strict}"
    points = figure_text(cause.points, decimals=1)
    return f"{lenient} rates {points} higher than {strict}"


_NEAR = 0.02
"""Difference of two figures up to which they are called equal."""


def _test_sentence(tested: HeldOutTest, words: Words) -> str:
    version = "" if tested.is_in_use else f" Use version {tested.version}."
    value, people = figure_text(tested.kappa, limits=[tested.minimum]), tested.kappa_people
    figures = f"it agrees with people ({value}, needs {figure_text(tested.minimum)})"
    match tested.verdict:
        case Verdict.PASS if tested.share is not None:
            part = f"gives the same score as {tested.doubt_source}"
            if tested.doubt_threshold:
                points = "point" if tested.doubt_threshold == 1 else "points"
                part = f"is within {tested.doubt_threshold:g} {points} of {tested.doubt_source}"
            return (
                f"Yes where it {part} "
                f"({percent_text(tested.share)} of {words.items}); people rate the rest.{version}"
            )
        case Verdict.PASS:
            nearly = "" if tested.kappa >= people - _NEAR else "nearly "
            return (
                f"In the held-out test {figures} {nearly}as they do with each other "
                f"({figure_text(people)}).{version}"
            )
        case Verdict.FAIL:
            return f"In the held-out test it agrees with people clearly less than they do.{version}"
    if math.isnan(tested.kappa):
        return f"The held-out test of {counted(tested.n_units, words.item)} does not settle it."
    return (
        f"In the held-out test {figures}, they with each other {figure_text(people)}: not proven."
    )


def _plan_sentence(comparison: JudgeComparison) -> str:
    plan = comparison.planned
    is_open = comparison.verdict is Verdict.NEED_MORE_DATA
    if plan is None or plan.chance is None or not is_open:
        return ""
    return (
        f"A held-out test of {counted(plan.n_groups, 'group')} would show it "
        f"{percent_text(plan.chance)} of the time."
    )


_SENTENCES = {
    JudgeFinding.EQUAL: "{Shares}{Figures}. Valid if not tuned on these labels.",
    JudgeFinding.BELOW: "{Shares}{Figures}: clearly less.",
    JudgeFinding.LIKELY: (
        "{Shares}Likely, not proven: {figures}; a gap above {margin} is possible."
    ),
    JudgeFinding.UNTESTED: ("{Shares}Likely, not proven: {figures}. The held-out test decides."),
    JudgeFinding.UNLIKELY: (
        "{Shares}{Figures}: more than the allowed {margin} below, not proven{settled}."
    ),
    JudgeFinding.SELECTED: "{Shares}{Figures}; not shown on the {items} that it skipped.",
    JudgeFinding.NOISY_LABELS: "{Shares}{Figures}; the labels are too noisy to prove it.",
    JudgeFinding.FEW_GROUPS: (
        "{Shares}{Figures}, with only {paired} rated twice; {fewest_paired} are needed."
    ),
    JudgeFinding.FEW_VARIED: (
        "{Shares}{Figures}, with only {varied} of a rarer rating; {fewest_varied} are needed."
    ),
    JudgeFinding.CEILING_UNKNOWN: (
        "{Shares}{Alone}. Whether that is enough is unknown: nobody rated twice."
    ),
    JudgeFinding.LABELS_FAIL: "Not judged: people must agree first.",
    JudgeFinding.ONE_VALUE: "Not judged: {people} gave one value throughout.",
    JudgeFinding.OTHER_SCALE: "Its scale is not people's: no verdict without {option}.{ranks}",
    JudgeFinding.COPY: "It repeats {copied}'s ratings on every {item}: a copy proves nothing.",
    JudgeFinding.NOT_COMPARED: "It scored no {item} that a person rated.",
    JudgeFinding.OUTDATED: "Not judged: agreement is not measured on the current data.",
}
"""What each finding says. Names with a capital begin a sentence."""

_TOO_FEW = "Only {paired} rated twice; {fewest_paired} are needed."
_CONTRADICTS = "{Shares}{Figures}: it contradicts them. Is its scale reversed?"


def _finding_sentence(comparison: JudgeComparison, words: Words) -> str:
    kappa = comparison.kappa
    template = _SENTENCES[comparison.finding]
    if comparison.finding is JudgeFinding.BELOW and kappa is not None and kappa.high < 0:
        template = _CONTRADICTS
    if comparison.finding is JudgeFinding.FEW_GROUPS and comparison.n_paired_groups < FEWEST_GROUPS:
        template = _TOO_FEW
    shares = _shares(comparison, words)
    figures, n_more = _figures(comparison), comparison.n_more
    name = f"Beyond chance it agrees with {words.people}"
    value = figure_text(math.nan if kappa is None else kappa.value)
    alone = f"{'Kappa' if comparison.two_classes else name} {value}{_interval(kappa)}"
    rho, ranks = comparison.spearman, ""
    if rho is not None and not math.isnan(rho.value):
        ranks = f" Rank correlation with people {figure_text(rho.value)}{_interval(rho)}."
    # What would prove what is likely; it may take too many.
    settled = (
        "" if n_more is None else f"; {planned_text(n_more)} more {words.items} would settle it"
    )
    return template.format(
        Shares=f"{shares} " if shares else "",
        Figures=figures,
        figures=figures[:1].lower() + figures[1:],
        Alone=alone,
        margin=f"{comparison.margin:g}",
        settled=settled,
        paired=_groups(comparison, comparison.n_paired_groups, words),
        varied=_groups(comparison, comparison.n_varied_groups, words),
        fewest_paired=FEWEST_PAIRED_GROUPS,
        fewest_varied=FEWEST_VARIED_GROUPS,
        option="--judge-pass" if comparison.question.scale.has_two_values else "a run",
        ranks=ranks,
        copied=comparison.copied,
        people=words.people,
        item=words.item,
        items=words.items,
    )


def _groups(comparison: JudgeComparison, n: int, words: Words) -> str:
    """Return a number of groups; of items if each is one."""
    is_single = comparison.n_paired == comparison.n_paired_groups
    return counted(n, words.item) if is_single else f"{counted(n, 'group')} of {words.items}"


def _figures(comparison: JudgeComparison) -> str:
    if comparison.compared is None:
        return ""
    people, judge = comparison.compared.people.value, comparison.compared.judge.value
    minimum = people - comparison.margin
    needs = ""
    if comparison.finding in {JudgeFinding.EQUAL, JudgeFinding.BELOW, JudgeFinding.UNLIKELY}:
        needs = f", needs {figure_text(minimum)}"
    margin = ""
    if comparison.margin != MARGIN:  # then it decides what a verdict is worth
        little = ", which proves little" if comparison.margin > _LARGE_MARGIN else ""
        margin = f"with a margin of {comparison.margin:g}{little}, "
    value = figure_text(judge, limits=[round(minimum, 2)])
    people_text = figure_text(people)
    if comparison.two_classes is not None:
        text = f"{margin}kappa {value}{_interval(comparison.kappa)}{needs}, people's {people_text}"
    else:
        needs = f" ({needs[2:]})" if needs else ""
        of_judge = f"beyond chance it agrees with people {value}{needs}"
        text = f"{margin}{of_judge}, they with each other {people_text}"
    return text[0].upper() + text[1:]


def _interval(figure: Interval | None) -> str:
    if figure is None or math.isnan(figure.low + figure.high):
        return ""
    return f" (95% CI {interval_text(figure.low, figure.high)})"


_VERBS = (("passed", "passes"), ("failed", "fails"))
_PASSES = {"pass", "passed", "yes", "true", "1"}


def _shares(comparison: JudgeComparison, words: Words) -> str:
    """Return the shares of people's passes that a judge passes, and of their failures."""
    two, classes = comparison.two_classes, comparison.question.scale.words
    if two is None:
        return ""
    if classes is None or classes[1].casefold() in _PASSES:
        texts = [f"what {words.people} {past} it {now}" for past, now in _VERBS]
    else:
        texts = [f'what {words.people} called "{of}" it calls so' for of in classes[::-1]]
    parts = []
    for text, share in zip(texts, (two.true_positive, two.true_negative), strict=True):
        if share.n_units:
            equal = share.value * share.n_units
            is_count = len(words.raters) == 1 and abs(equal - round(equal)) < _WHOLE
            counts = f" ({count_text(equal)} of {count_text(share.n_units)})" if is_count else ""
            parts.append(f"of {text} {percent_text(share.value)}{counts}")
    sentence = ", ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else ""


_WHOLE = 1e-9


def _bias_sentence(comparison: JudgeComparison, words: Words) -> str:
    two, bias = comparison.two_classes, comparison.bias
    if two is not None:
        return "" if math.isnan(two.accuracy) else _rates(comparison, two, words)
    if bias is None or math.isnan(bias.value):
        return ""
    if bias.low > 0 or bias.high < 0:
        points = figure_text(abs(bias.value), decimals=1 if abs(bias.value) >= _TENTH else 2)
        return f"It scores {points} {'higher' if bias.value > 0 else 'lower'}."
    return ""


_TENTH = 0.1


def _favour_sentence(comparison: JudgeComparison) -> str:
    """Return what a judge scores higher, or else lower, at equal human rating."""
    if not comparison.favours:
        return ""
    of = max(comparison.favours, key=lambda favour: (favour.points > 0, abs(favour.points)))
    verb = "Favours" if of.points > 0 else "Disfavours"
    value = shortened(of.value, _LONGEST_NAME)
    subject = value if of.attribute == "system" else f"{value} ({of.attribute})"
    return f"{verb} {subject} by {figure_text(abs(of.points), decimals=1)} points."


def _rates(comparison: JudgeComparison, two: TwoClasses, words: Words) -> str:
    constant = f"a constant answer on {percent_text(two.constant_accuracy)}"
    sentence = f"Right on {percent_text(two.accuracy)}, {constant}."
    rate, bias = percent_text(two.judge_pass_rate), comparison.bias
    if two.corrected is None:
        if bias is None or not (bias.low > 0 or bias.high < 0):
            return sentence
        people_rate = f"{words.people} {percent_text(two.people_pass_rate)}"
        return f"{sentence} It passes {rate}, {people_rate}."
    corrected = percent_text(two.corrected.value)
    interval = percent_interval(two.corrected.low, two.corrected.high)
    return f"{sentence} Pass rate {rate}, corrected {corrected} (95% CI {interval})."


def _repeat_sentence(comparison: JudgeComparison, words: Words) -> str:
    repeats = comparison.repeatability
    if repeats is None or math.isnan(repeats.flip_rate.value):
        return ""
    noise = repeats.noise_share.value
    share = "" if math.isnan(noise) else f"; {percent_text(max(0.0, noise))} of variance is noise"
    return f"Two runs differ on {percent_text(repeats.flip_rate.value)} of {words.items}{share}."


def judge_summary(comparisons: Sequence[JudgeComparison], words: Words) -> str:
    """Return what is said of a judge on all questions."""
    if len(comparisons) == 1:
        return judge_sentence(comparisons[0], words)
    return _by_verdict(comparisons, lacking="data", unmeasured="judged")


def judges_sentence(judges: Mapping[str, Sequence[JudgeComparison]], words: Words) -> str:
    """Return which judges may replace a rater, and why others may not."""
    if len(judges) == 1:
        return judge_summary(next(iter(judges.values())), words)
    passing = {
        judge: [of.question.id for of in comparisons if of.verdict is Verdict.PASS]
        for judge, comparisons in judges.items()
    }
    parts = [
        f"{shortened(judge, _LONGEST_NAME)} may replace a rater on {_named(ids)}."
        for judge, ids in passing.items()
        if ids
    ]
    if not parts:
        parts = [f"None of the {len(judges)} judges may replace a rater yet."]
    failing = [
        of for comparisons in judges.values() for of in comparisons if of.verdict is Verdict.FAIL
    ]
    parts += [
        f"{shortened(of.judge, _LONGEST_NAME)} on {of.question.id}: it agrees with people "
        f"({figure_text(of.compared.judge.value)}) clearly less than they do with each other "
        f"({figure_text(of.compared.people.value)})."
        for of in failing[:_MOST_NAMED]
        if of.compared is not None
    ]
    return " ".join(parts)


def _named(ids: Sequence[str]) -> str:
    """Return questions by name; of many the first ones and their number."""
    short = [shortened(of, _LONGEST_NAME) for of in ids]
    if len(short) <= _MOST_NAMED + 1:
        return listed(short)
    return listed([*short[:_MOST_NAMED], f"{len(short) - _MOST_NAMED} more"])
