"""Scales of questions, declared or guessed, and the values of ratings on them."""

import re
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_assets.config.rubric import RubricQuestion
from eval_assets.errors import InputProblem
from eval_assets.readers.formats.table import FileColumn
from eval_assets.readers.problems import listed_briefly, off_scale, quoted
from eval_assets.readers.rating_frames import CollectedRatings
from eval_assets.readers.rating_tables import ReadOptions
from eval_assets.readers.readings.table_reading import option_text, responses_side_by_side
from eval_assets.readers.values import (
    RatingCells,
    are_verdicts,
    canonical_number,
    likely_scale,
    missing_code,
    parsed_ratings,
    scale_between,
    scale_text,
    ties_among,
    wider_scale,
)
from eval_assets.scale import Level, Scale
from eval_assets.wording import counted, listed

ONE_QUESTION = "rating"

_MOST_OFF_SCALE = 0.05
"""Share of a judge's scores off the scale of people from which on it scores on another one."""

_HIGHEST_STEP = 100
_VOTES = Scale.from_steps(low=0, high=2)
"""Codes of votes on two responses, if they stand beside these."""


def with_values(
    ratings: CollectedRatings, options: ReadOptions, declared: Mapping[str, RubricQuestion]
) -> tuple[tuple[RubricQuestion, ...], dict[str, Scale]]:
    """Add the value of each rating on the scale of its question, or else a problem.

    Returns the questions with their scales, and those of judges who score on another one.

    Without a declared scale it fits the ratings of people, if there are any. A judge whose scores
    do not lie on it scores on another one.
    """
    rows = ratings.rows
    codes, names = rows["question"].cat.codes.to_numpy(), rows["question"].cat.categories
    present = np.unique(codes).tolist()
    if len(present) == len(declared) == 1:
        declared = {str(names[present[0]]): next(iter(declared.values()))}
    is_judge, ties = rows["is_judge"].to_numpy(), ties_among(rows["cell"].cat.categories)
    texts = ["0" if of in ties else str(of) for of in rows["cell"].cat.categories]
    cells = parsed_ratings(FileColumn(texts, rows["cell"].cat.codes.to_numpy()))
    values, is_used = np.full(len(rows), np.nan), np.ones(len(rows), dtype=bool)
    questions: list[RubricQuestion] = []
    of_judges: dict[str, Scale] = {}
    for code in present:
        of_question = codes == code
        by_people = of_question & ~is_judge
        question = _question(ratings, str(names[code]), cells, of_question, options, declared)
        questions.append(question)
        values[of_question], on_scale = cells.take(of_question).on_scale(question.scale)
        is_off = of_question.copy()
        is_off[of_question] = ~on_scale
        _add_off_scale(ratings, is_off & by_people, question, options)
        for judge in np.unique(rows["rater"].cat.codes.to_numpy()[of_question & is_judge]).tolist():
            scored = of_question & is_judge & (rows["rater"].cat.codes.to_numpy() == judge)
            name = str(rows["rater"].cat.categories[judge])
            scale, scores = _scores(cells.take(scored), question)
            if classes := _same_classes(scale, question.scale):
                pairs = [f"{word} as {of}" for word, of in classes.items() if word != of]
                ratings.notes += [f"{name}: {listed(pairs)}"] * bool(pairs)
                named = _class_names(question.scale)
                meant = [named.index(classes[word]) for word in _class_names(scale)]
                is_class = np.equal.outer(scores, np.array(scale.values))
                scores = np.where(
                    is_class.any(axis=1),
                    np.array(question.scale.values)[np.array(meant)[is_class.argmax(axis=1)]],
                    np.nan,
                )
            elif scale is not question.scale:
                of_judges[name] = scale
                if scale.words and not scale.has_order:
                    option = option_text(ratings.table, "judge-pass", scale.words[-1])
                    text = f"the order of {listed_briefly(scale.words)} of {name} is not known"
                    ratings.notes.append(f"{text}; name what passes: {option}")
            values[scored] = scores
            is_used[scored] = ~np.isnan(scores)
            if n_off := int(np.isnan(scores).sum()):
                ratings.notes.append(f"{counted(n_off, 'score')} of {name} off the scale not read")
    rows["value"] = values
    ratings.rows = rows if is_used.all() else rows[is_used].reset_index(drop=True)
    return tuple(questions), of_judges


def _same_classes(scale: Scale, of_people: Scale) -> dict[str, str]:
    """Return people's word for each of a judge's; empty if they do not mean the same classes.

    Two classes do in their order, more if each word ends in people's, as Response A does in A.
    """
    names, words = _class_names(scale), _class_names(of_people)
    if are_verdicts(scale) and are_verdicts(of_people):
        return dict(zip(names, words, strict=True))
    ends = {re.split(r"[\s_]", word.casefold())[-1]: word for word in words}
    classes = {name: ends.get(re.split(r"[\s_]", name.casefold())[-1], "") for name in names}
    is_same = scale.words and {*classes.values()} == {*words}
    return classes if is_same and len(classes) == len(words) else {}


def _class_names(scale: Scale) -> tuple[str, ...]:
    return scale.words or tuple(f"{value:g}" for value in scale.values or ())


def _question(  # noqa: PLR0913, PLR0917 - what decides a scale
    ratings: CollectedRatings,
    name: str,
    cells: RatingCells,
    of_question: npt.NDArray[np.bool_],
    options: ReadOptions,
    declared: Mapping[str, RubricQuestion],
) -> RubricQuestion:
    text, scale, level = name, options.scale, options.level
    if name in declared:
        text, level = declared[name].question, level or declared[name].level
        scale = scale or declared[name].scale
    is_guessed = scale is None
    if scale is None:
        scale, level = _guessed_scale(ratings, cells, of_question, level)
    level = level or scale.default_level()
    if level == "nominal" and scale.values is None:
        message = f"the ratings of {quoted(name)} are no classes, which the nominal level counts"
        place = ratings.table.file, None, None
        ratings.problems.append(InputProblem(*place, message, "Pass --level interval"))
        level = "interval"
    return RubricQuestion(
        name or ONE_QUESTION, text or ONE_QUESTION, scale, level, scale_guessed=is_guessed
    )


def _guessed_scale(
    ratings: CollectedRatings,
    cells: RatingCells,
    of_question: npt.NDArray[np.bool_],
    level: Level | None,
) -> tuple[Scale, Level]:
    """Return the scale that people's ratings fit, or the usual one around it that judges' fit."""
    by_people = of_question & ~ratings.rows["is_judge"].to_numpy()
    basis = by_people if by_people.any() else of_question
    rated_cells = cells.take(basis)
    spelled = rated_cells.spellings()
    scale = _scale_in(ratings.rows["column"][basis].unique(), rated_cells)
    is_open, scale = scale is None, scale or likely_scale(rated_cells, level=level)
    ties = ties_among(ratings.rows["cell"].cat.categories)
    if is_open and scale == _VOTES and (ties or responses_side_by_side(ratings.table)):
        scale = Scale.from_words("1", "0", "2")
        option = option_text(ratings.table, "scale", "0-2")
        names = " and ".join(sorted({"0", *ties}))
        ratings.notes.append(f"{names} read as a tie between 1 and 2. Otherwise: {option}")
    letters = scale.words if is_open and scale and scale.words else ("",)
    if all(map(str.isalpha, letters)) and max(map(len, letters)) == 1:
        scale = None if responses_side_by_side(ratings.table) else scale  # no grades
    if scale is not None and scale.words is not None:
        scale = Scale.from_words(*(spelled.get(word, word) for word in scale.words))
    if scale is None:
        distinct = rated_cells.distinct()[0]  # 1 beside 2a and 2b is a class, too
        codes = np.flatnonzero(~np.isnan(distinct.values)).tolist()
        numbers = [distinct.texts[k] or "" for k in codes]
        spelled |= {canonical_number(of.casefold()) or "": of for of in numbers}
        level, words = "nominal", [spelled[word] for word in sorted(spelled)]
        scale = Scale.from_words(*words, *(["(other)"] if len(words) == 1 else []))
        ratings.notes.append(
            f"the order of {listed_briefly(words)} is not known, so they are equal or not; "
            f"pass {option_text(ratings.table, 'scale', *words)} in their order, worst first"
        )
    _add_missing_codes(ratings, rated_cells, basis)
    tops = rated_cells.tops()
    if len(tops) > 1:
        highest = [f"{top:g}" for top in sorted(tops)]
        message = f"some ratings are of {highest[0]}, others of {highest[-1]}"
        place = ratings.table.file, None, None
        ratings.problems.append(InputProblem(*place, message, "Bring them to one scale"))
    values = cells.take(of_question).values
    values = values[~np.isnan(values)]
    level, wider = level or scale.default_level(), wider_scale(scale)
    if wider is None or scale.contains(values).all() or not wider.contains(values).all():
        return scale, level
    return wider, level


_RANGE = re.compile(r"[\[(] ?(\d+) ?(?:-|\u2013|\.\.|to|bis) ?(\d+) ?[\])]")
"""Ends of a scale in a header, as in Tone (1-5)."""


def _scale_in(headers: Iterable[str], cells: RatingCells) -> Scale | None:
    """Return the scale that all headers name, if the ratings lie on it; None otherwise."""
    ends = [_RANGE.search(header) for header in headers]
    named = {(int(of[1]), int(of[2])) for of in ends if of is not None}
    if None in ends or len(named) != 1:
        return None
    low, high = named.pop()
    values = cells.values[~cells.blank]
    if not low < high <= _HIGHEST_STEP:
        return None
    scale = Scale.from_steps(low=low, high=high)
    return scale if scale.contains(values).all() else None


def _add_missing_codes(
    ratings: CollectedRatings, cells: RatingCells, basis: npt.NDArray[np.bool_]
) -> None:
    """Add a problem for each number that may mean no rating, such as 99 beside 1 to 5."""
    code = missing_code(cells)
    if np.isnan(code):
        return
    rest = cells.values[~np.isnan(cells.values) & (cells.values != code)]
    low, high = rest.min(), rest.max()
    message = f"{code:g} is far from the other ratings, which lie between {low:g} and {high:g}"
    missing = option_text(ratings.table, "missing-values", f"{code:g}")
    scale = scale_text(scale_between({*rest.tolist(), code}))
    scale = option_text(ratings.table, "scale", scale)
    remedy = f"Pass {missing} if it means no rating, or the scale that raters saw, as {scale}"
    is_bad = basis.copy()
    is_bad[basis] = cells.values == code
    ratings.add_problems(is_bad, lambda _: (message, remedy))


def _add_off_scale(
    ratings: CollectedRatings,
    is_off: npt.NDArray[np.bool_],
    question: RubricQuestion,
    options: ReadOptions,
) -> None:
    def describe(row: pd.Series) -> tuple[str, str]:
        cell = str(row["cell"])
        message, remedy = off_scale(cell, question)
        if options.scale is None and question.scale_guessed:
            missing = option_text(ratings.table, "missing-values", cell)
            remedy += f", pass {missing} if it means no rating, or --scale SCALE"
        return message, remedy

    ratings.add_problems(is_off, describe)


def _scores(cells: RatingCells, question: RubricQuestion) -> tuple[Scale, npt.NDArray[np.float64]]:
    """Return the scale of a judge's scores, and their values; NaN for a few that lie off it."""
    scale = question.scale
    values = cells.values_on(scale)
    is_class = question.level == "nominal" or scale.has_two_values
    is_on = scale.contains(values) if is_class else scale.spans(values)
    if (~is_on).mean() > _MOST_OFF_SCALE:
        scale = likely_scale(cells, level=None) or likely_scale(cells, level="nominal") or scale
        values = cells.values_on(scale)
        is_on = scale.spans(values)
    return scale, np.where(is_on, values, np.nan)
