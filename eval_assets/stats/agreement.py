"""Agreement coefficients of a matrix of ratings, of clusters and of annotation records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from eval_assets.scale import Scale
from eval_assets.stats._coefficients import (
    AgreementWeights,
    Alpha,
    FleissKappa,
    GwetAC,
    HumanAgreement,
    PairwiseAgreement,
    estimate,
)
from eval_assets.stats._numbers import (
    Column,
    Floats,
    Integers,
    Ratings,
    declared_scale,
    is_missing,
    number_arrays,
    without_noise,
)
from eval_assets.stats._patterns import RatingPatterns
from eval_assets.stats._units import defined_ratio, sums_by_code

if TYPE_CHECKING:
    from eval_assets.scale import Level


def human_agreement(
    ratings: Ratings | RatingPatterns,
    *,
    scale: Scale | None = None,
    low: float | None = None,
    high: float | None = None,
) -> float:
    """Return A^HH: the agreement of two raters of the same response on the declared scale.

    The mean over responses with at least two ratings of each response's mean over rater pairs of
    1 - |a - b| / (high - low). Every response counts the same, however many raters it had. It is
    not corrected for chance: see `a_hh_by_chance` of `agreement_profile`.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing.
        scale: The declared scale; or its ends:
        low: Lowest value of the declared scale.
        high: Highest value of the declared scale.

    Returns:
        1 if all raters agree, 0 if each pair is at opposite ends; NaN if no unit has two ratings.

    Raises:
        ValueError: If `ratings` is not two-dimensional, a rating is infinite or off the scale, or
            neither `scale` nor both its ends are given.

    References:
        Patwardhan et al. (2025), GDPval, arXiv:2510.04374.

    Examples:
        >>> human_agreement([[3, 4], [2, 3]], low=1, high=5)
        0.75
    """
    return estimate(HumanAgreement(declared_scale(scale, low, high)), ratings)


def pairwise_agreement(ratings: Ratings | RatingPatterns, *, within: float) -> float:
    """Return the share of rater pairs whose ratings are at most `within` apart.

    Pairs are pooled over units, so a unit with more raters counts more, unlike in
    `human_agreement`.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing; may be text
            labels if `within` is 0.
        within: Greatest distance that counts as agreement, in scale points: 0 for exact
            agreement, the scale's step for adjacent. Float noise is allowed for.

    Returns:
        1 if all pairs agree, 0 if none does; NaN if no unit has two ratings.

    Raises:
        ValueError: If `ratings` is not two-dimensional or a rating is infinite, or `within` is
            below 0.

    References:
        docs/methods.md, section Exact and adjacent agreement.

    Examples:
        >>> pairwise_agreement([[4, 4], [4, 5], [1, 5]], within=0)
        0.3333333333333333
    """
    return estimate(PairwiseAgreement(within), ratings)


def krippendorff_alpha(ratings: Ratings | RatingPatterns, *, level: Level) -> float:
    """Return Krippendorff's alpha: agreement beyond chance, for any number of raters.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing; may be text
            labels at the nominal level. Units with fewer than two ratings cannot disagree and are
            left out.
        level: Level of measurement, which decides the distance of two values: "nominal",
            "ordinal", "interval" or "ratio". At the ratio level values are at least 0 and at most
            10,000 of them differ.

    Returns:
        1 for perfect agreement, 0 for chance, below 0 for systematic disagreement; NaN if
        alpha is undefined: no unit has two ratings, or all ratings are equal.

    Raises:
        ValueError: If `ratings` is not two-dimensional, a rating is infinite or does not suit
            `level`, or `level` is unknown.

    References:
        Krippendorff (2011), Computing Krippendorff's alpha-reliability; Hayes and
        Krippendorff (2007), doi:10.1080/19312450709336664.

    Examples:
        >>> two_raters = np.array([[1, 1], [2, 2], [3, 3], [3, 1]])
        >>> round(krippendorff_alpha(two_raters, level="nominal"), 3)
        0.667
    """
    return estimate(Alpha(level), ratings)


def fleiss_kappa(ratings: Ratings | RatingPatterns) -> float:
    """Return Fleiss' kappa: exact agreement beyond chance; units may have different raters.

    With missing ratings, Gwet's generalisation: agreement is the mean over units with at least two
    ratings, and the share of each value is the mean over units with any rating.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing; may be text
            labels.

    Returns:
        1 for perfect agreement, 0 for chance, below 0 for less than that; NaN if no unit has two
        ratings or all ratings are equal.

    Raises:
        ValueError: If `ratings` is not two-dimensional or a rating is infinite.

    References:
        Fleiss (1971), doi:10.1037/h0031619; Gwet (2014), Handbook of Inter-Rater Reliability.

    Examples:
        >>> round(fleiss_kappa([[1, 1, 1], [2, 2, 2], [1, 1, 2], [1, 2, 2]]), 3)
        0.333
    """
    return estimate(FleissKappa(), ratings)


def gwet_ac(
    ratings: Ratings | RatingPatterns,
    *,
    weights: AgreementWeights | None,
    categories: Column | None = None,
) -> float:
    """Return Gwet's AC1 or AC2: agreement beyond chance, stable if one value prevails.

    Args:
        ratings: Values of shape (n_units, n_raters), NaN if a rating is missing; may be text
            labels without `weights`.
        weights: Credit for near misses. None gives AC1; "linear" and "quadratic" (by value) and
            "ordinal" (by rank; not Krippendorff's ordinal distance) give AC2.
        categories: All values of the declared scale, ascending; None takes the values
            observed, which is fewer if one was never given.

    Returns:
        1 for perfect agreement, 0 for chance, below 0 for less than that; NaN if no unit has two
        ratings or there is one category.

    Raises:
        ValueError: If `ratings` is not two-dimensional, a rating is infinite or not one of the
            categories, or `weights` is unknown.

    References:
        Gwet (2008), doi:10.1348/000711006X126600; Gwet (2014).

    Examples:
        >>> round(gwet_ac([[1, 1], [1, 1], [1, 1], [1, 2]], weights=None), 3)
        0.68
    """
    if categories is None:
        return estimate(GwetAC(weights), ratings)
    if isinstance(ratings, RatingPatterns):
        [declared] = number_arrays(categories, name="categories")
    else:
        ratings, declared = number_arrays(
            ratings, categories, name="ratings and categories", text=weights is None
        )
    if weights is None:
        declared = np.unique(declared)
    return estimate(GwetAC(weights, tuple(declared.tolist())), ratings)


def alpha_by_cluster(
    cluster: npt.ArrayLike, unit: npt.ArrayLike, value: Column
) -> tuple[npt.NDArray[Any], Floats]:
    """Return Krippendorff's alpha at the interval level within each cluster.

    With one unit alpha is always 0 or undefined, so two units with two ratings each are required.
    A cluster's alpha is based on few ratings: gate on the pooled one.

    Args:
        cluster: Cluster of each rating, for instance the response: numbers or text, shape
            (n_ratings,).
        unit: Rated unit, for instance the question; the same in all clusters or not.
        value: The rating, on a scale that the units of a cluster share; NaN is a missing rating.

    Returns:
        The clusters, ascending, and the alpha of each: 1 for perfect agreement, 0 for chance; NaN
        if fewer than two units have two ratings or these ratings are all equal.

    Raises:
        ValueError: If the shapes differ or a value is infinite.

    References:
        Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Examples:
        >>> response, question = ["r7", "r7", "r7", "r7", "r9", "r9"], [0, 0, 1, 1, 0, 0]
        >>> clusters, alphas = alpha_by_cluster(response, question, [0, 0.25, 1, 1, 0.75, 0.8])
        >>> clusters.tolist(), alphas.round(3).tolist()
        (['r7', 'r9'], [0.941, nan])
    """
    clusters, of_rating = np.unique(np.asarray(cluster), return_inverse=True)
    names, name = np.unique(np.asarray(unit), return_inverse=True)
    [values] = number_arrays(value, name="value")
    if not of_rating.shape == name.shape == values.shape or values.ndim != 1:
        raise ValueError(
            f"cluster, unit and value must have one entry per rating, "
            f"got {of_rating.shape}, {name.shape} and {values.shape}"
        )
    rated = ~np.isnan(values)
    pairs = of_rating[rated] * len(names) + name[rated]
    rated_units, units = np.unique(pairs, return_inverse=True)
    alphas = _alphas(
        without_noise(values[rated]),
        units,
        rated_units // len(names),
        n_clusters=len(clusters),
    )
    return clusters, alphas


def _alphas(values: Floats, unit: Integers, of_unit: Integers, *, n_clusters: int) -> Floats:
    """Return alpha from each cluster's number of ratings, their sum and sum of squares."""
    is_pairable = np.bincount(unit, minlength=len(of_unit)) > 1
    is_in_pair = is_pairable[unit]
    values, unit = values[is_in_pair], unit[is_in_pair]
    n_units = len(of_unit)
    n_ratings, sums, squares = _sums(values, unit, n_codes=n_units)
    disagreement = (n_ratings * squares - sums**2) / np.maximum(n_ratings - 1, 1)
    total, sums, squares = _sums(values, of_unit[unit], n_codes=n_clusters)
    expected = total * squares - sums**2
    has_two = np.bincount(of_unit[is_pairable], minlength=n_clusters) > 1
    observed = sums_by_code(of_unit, disagreement, n_codes=n_clusters)
    return 1 - (total - 1) * defined_ratio(observed, np.where(has_two, expected, 0.0))


def _sums(values: Floats, codes: Integers, *, n_codes: int) -> tuple[Floats, Floats, Floats]:
    """Return number, sum and sum of squares of the values with each code, from the lowest.

    Relative to it equal values are 0 exactly, and so is the variation among them.
    """
    lowest = np.full(n_codes, np.inf)
    np.minimum.at(lowest, codes, values)
    offset = values - lowest[codes]
    return (
        sums_by_code(codes, np.ones(len(codes)), n_codes=n_codes),
        sums_by_code(codes, offset, n_codes=n_codes),
        sums_by_code(codes, offset**2, n_codes=n_codes),
    )


if TYPE_CHECKING:
    import pandas as pd

    from eval_assets.scale import Scale

Records: TypeAlias = "Iterable[Mapping[str, Any]] | pd.DataFrame"
"""One rating each, or the ratings of several questions."""

_UNIT = ("response_id", "item_id", "trace_id", "scenario_id", "scenarioId")
_RATER = ("rater_id", "user_id", "labelerId")
_RATING = ("rating", "value", "score")
_QUESTION = "question_id"
_RATINGS = "ratings"


def rating_matrices(records: Records) -> dict[str, Floats]:
    """Return the ratings of each question as a matrix.

    Args:
        records: Dicts, or the rows of a DataFrame. Each names a response (`response_id`, `item_id`,
            `trace_id` or `scenario_id`), a rater (`rater_id`, `user_id` or `labelerId`) and a
            rating (`rating`, `value` or `score`), optionally with `question_id`; or several
            ratings by question under `ratings`.

    Returns:
        Arrays of shape (n_units, n_raters) by question, with units and raters in order of
        appearance and NaN where a rater gave no rating. The key is empty if records name no
        question.

    Raises:
        ValueError: If a record lacks a response or a rater, a rating is not a number, or a rater
            rated a unit twice.

    References:
        docs/methods.md, section A^HH, for the ratings by unit and rater.

    Examples:
        >>> records = [
        ...     {"trace_id": "t1", "user_id": "anna", "ratings": {"tone": 4, "depth": 2}},
        ...     {"trace_id": "t1", "user_id": "ben", "ratings": {"tone": 5}},
        ... ]
        >>> rating_matrices(records)["tone"]
        array([[4., 5.]])
    """
    values: dict[str, dict[tuple[object, object], float]] = {}
    rows: Iterable[Mapping[str, Any]] = (
        [{str(name): row[name] for name in row} for row in records.to_dict("records")]
        if hasattr(records, "to_dict")
        else records
    )
    for position, record in enumerate(rows, start=1):
        unit, rater = (_named(record, names, position) for names in (_UNIT, _RATER))
        for question, rating in _ratings_of(record):
            by_key = values.setdefault(question, {})
            if (unit, rater) in by_key:
                raise ValueError(f"record {position}: {rater} rated {unit} twice")
            by_key[unit, rater] = _number(rating, position)
    return {question: _matrix(by_key) for question, by_key in values.items()}


def human_agreement_by_question(
    records: Records,
    *,
    scale: Scale | Mapping[str, Scale] | None = None,
    low: float | None = None,
    high: float | None = None,
) -> dict[str, float]:
    """Return A^HH of each question of annotation records.

    Args:
        records: Annotation records, as `rating_matrices` takes them.
        scale: The declared scale of all questions, or that of each; or the ends of the only one:
        low: Lowest value of the declared scale.
        high: Highest value of the declared scale.

    Returns:
        A^HH in [0, 1] by question; NaN if no response has two ratings.

    Raises:
        ValueError: As `rating_matrices` and `human_agreement`, and for a question without a scale.

    References:
        Patwardhan et al. (2025), GDPval, arXiv:2510.04374.

    Examples:
        >>> records = [
        ...     {"response_id": "a", "rater_id": "anna", "question_id": "tone", "rating": 4},
        ...     {"response_id": "a", "rater_id": "ben", "question_id": "tone", "rating": 5},
        ... ]
        >>> human_agreement_by_question(records, low=1, high=5)
        {'tone': 0.75}
    """
    matrices = rating_matrices(records)
    scales = scale if isinstance(scale, Mapping) else dict.fromkeys(matrices, scale)
    if unscaled := [question for question in matrices if question not in scales]:
        raise ValueError(f"scale must hold every question, got none for {', '.join(unscaled)}")
    return {
        question: human_agreement(matrix, scale=scales[question], low=low, high=high)
        for question, matrix in matrices.items()
    }


def _named(record: Mapping[str, Any], names: Sequence[str], position: int) -> object:
    for name in names:
        if name in record and not is_missing(record[name]):
            return record[name]
    raise ValueError(f"record {position} needs {' or '.join(names)}, got {', '.join(record)}")


def _ratings_of(record: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Return questions and ratings of a record; `ratings` takes precedence over a single one."""
    ratings = record.get(_RATINGS)
    if isinstance(ratings, Mapping) and ratings:
        return [(str(question), rating) for question, rating in ratings.items()]
    question = record.get(_QUESTION)
    name = "" if is_missing(question) else str(question)
    return [(name, record[key]) for key in _RATING if key in record][:1]


def _number(rating: object, position: int) -> float:
    if is_missing(rating):
        return np.nan
    if isinstance(rating, bool) or not isinstance(rating, (int, float, np.number)):
        raise ValueError(f"record {position}: a rating must be a number, got {rating!r}")  # noqa: TRY004 - bad data
    return float(rating)


def _matrix(by_key: Mapping[tuple[object, object], float]) -> Floats:
    units = {unit: row for row, unit in enumerate(dict.fromkeys(unit for unit, _ in by_key))}
    raters = {rater: column for column, rater in enumerate(dict.fromkeys(r for _, r in by_key))}
    matrix = np.full((len(units), len(raters)), np.nan)
    for (unit, rater), rating in by_key.items():
        matrix[units[unit], raters[rater]] = rating
    return matrix
