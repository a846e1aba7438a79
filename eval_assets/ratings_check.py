"""Do our raters agree, and can this judge replace one of us? The answer for any ratings."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from shlex import join, quote, split
from typing import TYPE_CHECKING, Any

from eval_assets.errors import InputError, InputProblem, by_cause, leaves
from eval_assets.judges.recorded_replies import number_in_reply, score_of_reply

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from eval_assets.agreement.comparing import Assessment, QuestionRatings
    from eval_assets.agreement.ratings import LongRatings
    from eval_assets.config.evaluation import Evaluation, Gate, GateName
    from eval_assets.readers.rating_tables import Doubt, RatingTables, ReadOptions
    from eval_assets.scale import Level, Scale
    from eval_assets.shown.next_step import NextStep
    from eval_assets.shown.screen import ReadDoubt, ReadSummary, Screen, ScreenAnswer
    from eval_assets.verdicts import Verdict


@dataclass(frozen=True)
class CheckRules:
    """What decides, besides the ratings.

    Args:
        minimums: Minimums of `alpha` and `a_hh`, in place of the usual ones.
        margin: How far a judge's agreement with people may lie below theirs; None for the usual.
        passes: Rule that makes two classes of the scale, such as `>=4`.
        judge_passes: The same for judges on another scale than people.
        evaluation: Evaluation whose gates, scales and held-out responses count.
    """

    minimums: Mapping[str, float] = field(default_factory=dict)
    margin: float | None = None
    passes: str | None = None
    judge_passes: str | None = None
    evaluation: Evaluation | None = None


def check(  # noqa: PLR0913 - the options of the command
    ratings: pd.DataFrame | str | Path | Sequence[str | Path],
    *,
    item: str | Sequence[str] | None = None,
    rater: str | Sequence[str] | None = None,
    judge: str | Sequence[str] | None = None,
    rating: str | Sequence[str] | None = None,
    question: str | None = None,
    group: str | None = None,
    run: str | None = None,
    model: str | None = None,
    ignore: str | Sequence[str] | None = None,
    scale: Scale | str | tuple[float, float] | None = None,
    level: Level | None = None,
    passes: str | None = None,
    judge_passes: str | None = None,
    margin: float | None = None,
    minimums: Mapping[str, float] | None = None,
    missing_values: Sequence[str] = (),
) -> CheckResult:
    """Say whether raters agree, and whether a judge can replace one of them.

    Args:
        ratings: One rating a row, or a column for each rater, of people, judges or both; or files.
        item: Column of the rated items, or columns that name them together.
        rater: Column of the raters, columns of several, or names of people in it.
        judge: The same for judges.
        rating: Column of the ratings, or one for each question.
        question: Column of the questions.
        group: Column of items that are not independent.
        run: Column that tells repetitions of a judge apart.
        model: Column of the systems that made the items.
        ignore: Columns that are not read.
        scale: Scale of all ratings, its ends as in (1, 5), or its text, such as "1-5".
        level: Level of measurement; by default it follows from the scale.
        passes: Which ratings are a pass, as in ">=4": makes two classes of the scale.
        judge_passes: The same for a judge on another scale than people.
        margin: How far a judge's agreement with people may lie below theirs with each other.
        minimums: Minimums of `alpha` and `a_hh` in place of the usual ones.
        missing_values: Words that mean no rating.

    Returns:
        The answer; a notebook shows it with plots.

    Raises:
        InputError: If the ratings cannot be read, or in two ways whose verdicts differ.
        ValueError: If a rule or a scale is none.

    Examples:
        >>> import pandas as pd
        >>> first, second = [1, 2, 3, 4, 5, 4, 2, 3] * 5, [1, 2, 3, 4, 5, 5, 2, 2] * 5
        >>> result = check(pd.DataFrame({"anna": first, "ben": second}), scale="1-5")
        >>> result.labels.verdict.word
        'PASS'
    """
    from eval_assets.readers.rating_tables import ReadOptions

    options = ReadOptions(
        item=_names(item),
        rater=_names(rater),
        judge=_names(judge),
        rating=_names(rating),
        question=question,
        group=group,
        run=run,
        model=model,
        ignore=_names(ignore),
        scale=_scale(scale),
        level=level,
        missing_values=tuple(missing_values),
    )
    import pandas as pd

    source: pd.DataFrame | list[Path]
    if isinstance(ratings, str | Path):
        source = [Path(ratings)]
    elif isinstance(ratings, pd.DataFrame):
        source = ratings
    else:
        source = [Path(of) for of in ratings]
    if not len(source.columns if isinstance(source, pd.DataFrame) else source):
        raise ValueError("ratings must be files or a data frame with columns, got neither")
    evaluation = None if isinstance(source, pd.DataFrame) else evaluation_of(source)
    rules = CheckRules(minimums or {}, margin, passes, judge_passes, evaluation)
    try:
        results = check_readings(source, options, rules)
    except ExceptionGroup as group_of_errors:
        raise _one_error(group_of_errors) from None
    if len(results) > 1:
        readings = "; or ".join(f"{of.option} ({of.word})" for of in results)
        message = f"it can be read in two ways, and the verdicts differ ({results[0].choice}?)"
        title, remedy = results[0].screen.reading.title, f"Choose one: {readings}"
        raise InputError(InputProblem(title, None, None, message, remedy))
    return results[0]


def _names(names: str | Sequence[str] | None) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names or ())


def _scale(scale: object) -> Scale | None:
    from eval_assets.scale import Scale

    match scale:
        case None | Scale():
            return scale
        case str():
            return Scale.parse(scale)
        case (int() | float() as low, int() | float() as high):
            are_whole = float(low).is_integer() and float(high).is_integer()
            return (Scale.from_steps if are_whole else Scale)(low=low, high=high)
    raise TypeError(f'scale must be a Scale, its ends or its text such as "1-5", got {scale!r}')


def _one_error(group: ExceptionGroup[Any]) -> Exception:
    """Return the first error of a group, with other causes as notes: a notebook shows one."""
    errors = list(leaves(group))
    first, causes = errors[0], [*by_cause([str(of) for of in errors])]
    first.args = (causes[0],)  # it names the other lines, too
    for cause in causes[1:_MOST_ERRORS]:
        first.add_note(cause)
    if len(causes) > _MOST_ERRORS:
        first.add_note(f"... and {len(causes) - _MOST_ERRORS} more")
    return first  # type: ignore[return-value] # readers raise no others in groups


_MOST_ERRORS = 10


@dataclass(frozen=True, repr=False)
class CheckResult:
    """The answer on ratings: on the labels, on each judge, and what to do next.

    Args:
        choice: What was chosen for a reading, if another one has other verdicts; empty otherwise.
        option: Option that reads them like this.
    """

    screen: Screen
    choice: str = ""
    option: str = ""

    @property
    def labels(self) -> ScreenAnswer:
        """Whether the labels can be trusted: `verdict`, `sentence`, `figure`."""
        return self.screen.labels

    @property
    def judges(self) -> dict[str, ScreenAnswer]:
        """Whether each judge can replace a rater: `verdict` and `sentence`, by its name."""
        return dict(zip(self.screen.assessment.judges, self.screen.judges, strict=True))

    @property
    def next(self) -> NextStep:
        """What to do next: `sentence`, `number`, `reason`, `command`."""
        return self.screen.next

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of labels and judges."""
        return self.screen.verdict

    @property
    def word(self) -> str:
        """The verdicts in words."""
        judges = [f"{judge} {of.verdict.word}" for judge, of in self.judges.items()]
        return ", ".join([f"labels {self.labels.verdict.word}", *judges])

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on the labels, and on each judge."""
        return {"labels": self.labels.verdict} | {
            judge: of.verdict for judge, of in self.judges.items()
        }

    def require(self, judge: str) -> None:
        """Raise AssertionError with the sentence unless a judge passes.

        Raises:
            AssertionError: If its verdict is another one than PASS.
            ValueError: If there is no judge of that name.
        """
        if judge not in self.judges:
            names = ", ".join(self.judges) or "none"
            raise ValueError(f"there is no judge {judge}; judges: {names}")
        answer = self.judges[judge]
        if answer.verdict.exit_code:
            raise AssertionError(f"{judge}: {answer.verdict.word}. {answer.sentence}")

    def to_dict(self, *, report: str | None = None) -> dict[str, object]:
        """Return everything in the types of JSON, as `eval-assets check --json` prints it."""
        from eval_assets.shown.screen_json import screen_document

        return screen_document(self.screen, report=report)

    def __repr__(self) -> str:
        from eval_assets.shown.terminal import screen_lines

        return "\n".join(screen_lines(self.screen, report=None))

    def _repr_html_(self) -> str:
        from eval_assets.shown.html import screen_fragment

        return screen_fragment(self.screen)


def evaluation_of(files: Sequence[Path], *, folder: Path | None = None) -> Evaluation | None:
    """Return the evaluation in that folder, else the one that the first file lies in, if any.

    Raises:
        ValueError: If the first file is another evaluation.
    """
    from eval_assets.config.evaluation import FILE

    first = files[0]
    is_folder = first.is_dir()
    if is_folder and ((first / FILE).is_file() or any(first.glob(f"[!.]*/{FILE}"))):
        if folder is not None and folder.resolve() != first.resolve():
            message = "declares its own scales, gates and held-out test"
            raise ValueError(f"{first} {message}: leave out --data, or name the files to read")
        folder = first
    elif folder is None:
        parent = first if is_folder else first.parent
        folders = (parent, parent.parent) if parent.name == "labels" else (parent,)
        folder = next((of for of in folders if (of / FILE).is_file()), None)
    if folder is None:
        return None
    from eval_assets.readers.evaluation.read import read_evaluation  # it loads pydantic

    return read_evaluation(folder)


def check_readings(
    source: pd.DataFrame | Sequence[Path], options: ReadOptions, rules: CheckRules
) -> list[CheckResult]:
    """Return the answer; one for each reading of the source if their verdicts differ.

    Raises:
        ExceptionGroup: Of an InputError for each cell or file that cannot be read.
        ValueError: If a rule of `rules` does not fit the scale.
    """
    from eval_assets.readers.ratings import read_ratings

    paths = tuple(source) if isinstance(source, Sequence) else ()
    title = paths[0].absolute().name.split(".")[0] if paths else "data frame"
    context = _Context(title, paths, options, rules)
    evaluation = rules.evaluation
    if evaluation is not None and context.is_declared:
        from eval_assets.readers.evaluation.folder_ratings import ratings_of_folder

        tables = ratings_of_folder(evaluation, options, number_in_reply=number_in_reply)
    else:
        tables = read_ratings(source, options, evaluation=evaluation, score_of=score_of_reply)
    result = _result(tables, context)
    alternatives = [_result(other, context, doubt=doubt) for doubt, other in tables.alternatives]
    words = {other.option: other.word for other in alternatives}
    reading = result.screen.reading
    doubts = tuple(replace(of, verdict=words.get(of.option, "")) for of in reading.doubts)
    screen = replace(result.screen, reading=replace(reading, doubts=doubts))
    differing = [other for other in alternatives if other.verdicts != result.verdicts]
    if not differing:
        return [CheckResult(screen)]
    reversed_doubts = [
        of for of in tables.doubts if of.option in {other.option for other in differing}
    ]
    choice = "; ".join(of.choice for of in reversed_doubts)
    confirmations = dict.fromkeys(of.confirmation for of in reversed_doubts if of.confirmation)
    return [CheckResult(screen, choice, " ".join(confirmations)), *differing]


@dataclass(frozen=True)
class _Context:
    title: str
    paths: tuple[Path, ...]
    options: ReadOptions
    rules: CheckRules

    @property
    def is_declared(self) -> bool:
        """Return whether the files are those of an evaluation, whose forms are fixed."""
        return self.rules.evaluation is not None and self.paths == (self.rules.evaluation.folder,)

    def corrections(self, tables: RatingTables) -> tuple[str, ...]:
        """Return the options that correct a wrong reading; none if an evaluation declares it."""
        if self.is_declared:
            return ()
        from eval_assets.readers.values import scale_text

        guessed = [question.scale for question in tables.questions if question.scale_guessed]
        corrections = [("item", "COLUMN")]
        corrections += [("rater", "NAMES")] if not len(tables.ratings) else []
        for scale in guessed[:1]:
            text = scale_text(scale)
            is_short = len(text) <= _LONGEST_SCALE
            corrections += [("scale", text if is_short else "worst,...,best")]
        return tuple(
            f"--{name} {quote(value)}" if self.paths else f'{name}="{value}"'
            for name, value in corrections
        )

    def command(self, step: NextStep, *, option: str, tables: RatingTables) -> str:
        """Return the command that takes a step, or goes on from these files.

        Args:
            step: The step.
            option: Further option that reads the files as they were read.
            tables: Ratings and scores.
        """
        from eval_assets.config.evaluation import FILE
        from eval_assets.shown.next_step import Action, folder_command

        if not self.paths:
            return ""
        files = [*map(str, self.paths)]
        options = [*_repeated(self.options), *split(option)]
        if step.action is Action.CLASSIFY_SCORES:
            from eval_assets.readers.values import usual_pass

            rule = usual_pass(tables.judge_scales[step.judge])
            return join(["eval-assets", "check", *files, *options, "--judge-pass", rule])
        evaluation = self.rules.evaluation
        if evaluation is not None:
            return folder_command(step, evaluation)
        if (Path(self.title) / FILE).is_file():  # init wrote it, and changes no file
            return join(["eval-assets", "run", "--data", self.title])
        if self.rules.judge_passes is not None and self.rules.passes is None:
            options += ["--judge-pass", self.rules.judge_passes]
        return join(["eval-assets", "init", *files, *options, self.title])


def _repeated(options: ReadOptions) -> list[str]:
    from eval_assets.readers.values import scale_text
    from eval_assets.scale import Scale

    words = []
    for of in fields(options):
        value = getattr(options, of.name)
        if isinstance(value, Scale):
            value = scale_text(value)
        if value:
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            words += [f"--{of.name.replace('_', '-')}", text]
    return words


def _result(tables: RatingTables, context: _Context, *, doubt: Doubt | None = None) -> CheckResult:
    from eval_assets.agreement.comparing import assess
    from eval_assets.agreement.judge_comparison import MARGIN
    from eval_assets.shown.screen import screen_of

    rules = context.rules
    is_held_out = _held_out(tables, rules.evaluation)
    questions = _question_ratings(tables, rules, is_held_out)
    margin = rules.margin
    if margin is None:
        margin = MARGIN if rules.evaluation is None else rules.evaluation.tuning.margin
    assessment = assess(
        questions,
        gates=_gates(rules),
        margin=margin,
        may_pass=rules.evaluation is None,
    )
    evaluation = rules.evaluation
    if evaluation and context.is_declared and rules == CheckRules(evaluation=evaluation):
        assessment = _with_held_out_tests(assessment, evaluation)
    reading = _reading(
        tables, context, raters=questions[0].people.rater_ids, n_held_out=int(is_held_out.sum())
    )
    reading = replace(reading, doubts=(*_turned_judges(assessment), *reading.doubts))
    option = "" if doubt is None else doubt.option
    command = partial(context.command, option=option, tables=tables)
    screen = screen_of(reading, assessment, command_of=command)
    return CheckResult(screen, option=option)


def _turned_judges(assessment: Assessment) -> tuple[ReadDoubt, ...]:
    """Return a doubt about each judge that scores high where people rate low."""
    from eval_assets.shown.screen import ReadDoubt
    from eval_assets.shown.sentences import turned_sentence

    return tuple(
        ReadDoubt((judge,), turned_sentence(judge, of), "")
        for judge, comparisons in assessment.judges.items()
        for of in comparisons
        if of.contradicts_people
    )


def _with_held_out_tests(assessment: Assessment, evaluation: Evaluation) -> Assessment:
    """Return the assessment with what the tests of the last run say, if it read the same files."""
    from eval_assets.readers.evaluation.input_files import source_fingerprints
    from eval_assets.store.connection import connect
    from eval_assets.store.database_file import database_path
    from eval_assets.store.gates import stored_gate_outcomes, unread_scores
    from eval_assets.store.ledger.opening import open_ledger
    from eval_assets.store.scores import with_tests
    from eval_assets.store.tuned_judges import current_certificates

    folder, sources = evaluation.folder, source_fingerprints(evaluation)
    database = database_path(folder, setting=os.environ.get("EVAL_DATABASE"))
    if not database.exists():
        return assessment
    with connect(database, folder=folder, is_reading=True) as connection:
        outcomes = stored_gate_outcomes(connection, evaluation, sources=sources)
        is_stale = unread_scores(connection, evaluation, sources)
        if is_stale or any(of.unusable for of in outcomes):
            return assessment
        certificates = current_certificates(
            connection,
            evaluation,
            sources=sources,
            open_ledger=lambda: open_ledger(
                folder,
                evaluation=evaluation.name,
                setting=os.environ.get("EVAL_LEDGER"),
                is_reading=True,
            ),
        )
        return with_tests(assessment, connection, certificates)


def _gates(rules: CheckRules) -> dict[GateName, Gate]:
    from eval_assets.config.evaluation import default_gates

    gates = dict(default_gates() if rules.evaluation is None else rules.evaluation.gates)
    names: dict[str, GateName] = {"alpha": "human_alpha", "a_hh": "human_a_hh"}
    for name, minimum in rules.minimums.items():
        if name not in names:
            raise ValueError(f"there is no minimum {name}: name one of {', '.join(names)}")
        if not 0 < minimum < 1:
            raise ValueError(f"a minimum must lie in (0, 1), got {name}={minimum:g}")
        gates[names[name]] = replace(gates[names[name]], minimum=minimum)
    return gates


def _held_out(tables: RatingTables, evaluation: Evaluation | None) -> NDArray[np.bool_]:
    """Return which items judges are not compared on, as in a run of the evaluation."""
    import numpy as np

    from eval_assets.tuning.rated import are_held_out

    groups = tables.items["group"].astype(str)
    if evaluation is None or tables.scores.empty:
        return np.zeros(len(groups), dtype=bool)
    return are_held_out(groups, evaluation.tuning)


def _question_ratings(
    tables: RatingTables, rules: CheckRules, is_held_out: NDArray[np.bool_]
) -> list[QuestionRatings]:
    """Return the ratings of each question as they are measured: as classes if a rule says so."""
    from eval_assets.agreement.comparing import JudgeScores, QuestionRatings
    from eval_assets.scale import PassRule, Scale

    if rules.judge_passes is not None:
        tables = with_classes_of_judges(tables, rules.judge_passes, passes=rules.passes)
    result = []
    rated, scored = (
        _by_question(frame, owner, tables)
        for frame, owner in ((tables.ratings, "rater"), (tables.scores, "judge"))
    )
    for question, people, scores in zip(tables.questions, rated, scored, strict=True):
        rule = None if rules.passes is None else PassRule.parse(rules.passes, question.scale)
        if rule is not None:
            people = replace(people, value=rule.passes(people.value))  # noqa: PLW2901
            scale = Scale.from_words("fail", "pass")
            question = replace(question, scale=scale, level="nominal", scale_guessed=False)  # noqa: PLW2901
        judges = {}
        for place, judge in enumerate(scores.rater_ids):
            rows = scores.rater == place
            values, own_scale = scores.value[rows], tables.judge_scales.get(judge)
            if rule is not None and own_scale is None:
                values = rule.passes(values)
            if rows.any():
                judges[judge] = JudgeScores(scores.unit[rows], values, own_scale)
        result.append(QuestionRatings(question, people, judges, is_held_out))
    return result


def _by_question(frame: pd.DataFrame, owner: str, tables: RatingTables) -> list[LongRatings]:
    """Return the ratings, or scores, of each question in order of items and of who gave them."""
    import numpy as np
    import pandas as pd

    from eval_assets.agreement.ratings import LongRatings

    codes, _ = pd.factorize(tables.items["group"], use_na_sentinel=True)
    group = np.where(codes < 0, codes.max(initial=-1) + 1 + np.arange(len(codes)), codes)
    _, group = np.unique(group, return_inverse=True)
    owners = list(dict.fromkeys(map(str, frame[owner].dropna().unique())))
    names: dict[str, list[str]] = {
        "item": [*tables.items["item"]],
        "question": [question.id for question in tables.questions],
        owner: sorted(owners) if owner == "rater" else owners,
    }
    unit, question, rater = (
        pd.Index(index).get_indexer(cells.cat.categories)[cells.cat.codes.to_numpy()]
        for cells, index in ((frame[of].astype("category"), names[of]) for of in names)
    )
    value = frame["value"].to_numpy(dtype=np.float64)
    result = []
    for number in range(len(tables.questions)):
        rows = np.flatnonzero(question == number)
        place = unit[rows].astype(np.int64) * len(owners) + rater[rows]
        if (place[1:] < place[:-1]).any():
            rows = rows[np.argsort(place, kind="stable")]
        ratings = unit[rows], rater[rows], value[rows]
        result.append(LongRatings(*ratings, tuple(names[owner]), group))
    return result


def with_classes_of_judges(
    tables: RatingTables, judge_passes: str, *, passes: str | None = None
) -> RatingTables:
    """Return the tables with a class of people's for each score of a judge on another scale.

    Args:
        tables: Ratings and scores.
        judge_passes: Rule for the scores that pass, such as `>=0.5`.
        passes: Rule for the ratings that pass; needed unless they have two values.

    Raises:
        ValueError: If a rule does not divide its scale, or people's classes are not two.
    """
    import numpy as np

    from eval_assets.scale import PassRule

    judges = {name: PassRule.parse(judge_passes, of) for name, of in tables.judge_scales.items()}
    scores = tables.scores
    values, names = scores["value"].to_numpy(dtype=np.float64, copy=True), scores["judge"]
    for question in tables.questions:
        scale = question.scale
        rule = None if passes is None else PassRule.parse(passes, scale)
        if rule is None and not scale.has_two_values:
            raise ValueError(
                f"{question.id} has more than two values: say which pass by --pass of check as well"
            )
        classes = np.asarray(scale.values or (scale.low, scale.high))
        order = classes if rule is None else classes[np.argsort(rule.passes(classes))]
        for name, of_judge in judges.items():
            rows = ((names == name) & (scores["question"] == question.id)).to_numpy()
            is_pass = of_judge.passes(values[rows]) == 1
            values[rows] = np.where(is_pass, order[-1], order[0])
    return replace(tables, scores=scores.assign(value=values), judge_scales={})


_LONGEST_SCALE = 24


def _reading(
    tables: RatingTables, context: _Context, *, raters: tuple[str, ...], n_held_out: int
) -> ReadSummary:
    from eval_assets.readers.rated_items import guessed_texts
    from eval_assets.readers.references import PROMPT_TEXT, RESPONSE_TEXT
    from eval_assets.shown.screen import ItemText, ReadDoubt, ReadSummary

    items, guessed = tables.items, guessed_texts(tables)
    columns = {re.sub(r"\W+", "_", str(name)).lower(): str(name) for name in items}
    prompt, text = (
        next((columns[name] for name in names if name in columns), guessed.get(of))
        for of, names in (("prompt_text", PROMPT_TEXT), ("response_text", RESPONSE_TEXT))
    )

    def item(unit: int) -> ItemText:
        row = items.iloc[unit]
        prompt_text, response_text = (
            str(row[name]) if name is not None and isinstance(row[name], str) else ""
            for name in (prompt, text)
        )
        return ItemText(str(row["item"]), prompt_text, response_text)

    return ReadSummary(
        title=context.title,
        files=tables.files,
        n_ratings=len(tables.ratings),
        n_scores=len(tables.scores),
        n_items=len(items),
        raters=raters,
        groups_by=tables.groups_by,
        n_groups=int(items["group"].nunique()),
        columns=tables.columns,
        not_read={name: reason.text for name, reason in tables.not_read.items()},
        notes=tables.notes,
        doubts=tuple(ReadDoubt(of.columns, of.choice, of.option) for of in tables.doubts),
        item=item,
        n_held_out=n_held_out,
        options=context.corrections(tables),
    )
