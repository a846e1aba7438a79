"""Small studies, ordinary and odd: ratings of people and judges as arrays."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval_assets.agreement.comparing import Assessment, JudgeScores, QuestionRatings, assess
from eval_assets.agreement.judge_comparison import MARGIN
from eval_assets.agreement.ratings import LongRatings
from eval_assets.config.evaluation import Gate, GateName, default_gates
from eval_assets.config.rubric import RubricQuestion
from eval_assets.scale import LIKERT5, Level, Scale
from eval_assets.shown.screen import ItemText, ReadSummary, Screen, screen_of

Questions = Callable[[], Sequence[QuestionRatings]]
Gates = Mapping[GateName, Gate]
Floats = npt.NDArray[np.float64]
PASS_FAIL = Scale.from_words("fail", "pass")


def long(ratings: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> LongRatings:
    """Return a matrix of ratings, NaN where one is missing, in long form."""
    matrix = np.asarray(ratings, dtype=np.float64)
    unit, rater = np.nonzero(~np.isnan(matrix))
    names = tuple(["anna", "ben", "cleo", "dora", "emil"][: matrix.shape[1]])
    group = np.arange(len(matrix)) if groups is None else np.asarray(groups)
    return LongRatings(unit, rater, matrix[unit, rater], names, group)


def scores(values: npt.ArrayLike, scale: Scale | None = None) -> JudgeScores:
    """Return scores of shape (n_units,), or (n_units, n_runs), NaN where one is missing."""
    matrix = np.asarray(values, dtype=np.float64)
    matrix = matrix[:, np.newaxis] if matrix.ndim == 1 else matrix
    unit, run = np.nonzero(~np.isnan(matrix))
    return JudgeScores(unit, matrix[unit, run], scale)


def question(  # noqa: PLR0913 - what a question has
    ratings: npt.ArrayLike,
    judges: Mapping[str, JudgeScores | npt.ArrayLike] | None = None,
    *,
    name: str = "score",
    scale: Scale = LIKERT5,
    level: Level | None = None,
    groups: npt.ArrayLike | None = None,
) -> QuestionRatings:
    """Return a question with its ratings."""
    rubric = RubricQuestion(name, name, scale, level or scale.default_level())
    judge_scores = {
        judge: of if isinstance(of, JudgeScores) else scores(of)
        for judge, of in (judges or {}).items()
    }
    return QuestionRatings(rubric, long(ratings, groups), judge_scores)


def assessed(
    *questions: QuestionRatings, margin: float = MARGIN, gates: Gates | None = None
) -> Assessment:
    """Return the assessment by the usual rules, or by other gates."""
    return assess(questions, gates=gates or default_gates(), margin=margin, may_pass=True)


def shown(
    *questions: QuestionRatings, margin: float = MARGIN, gates: Gates | None = None
) -> Screen:
    """Return the screen of questions."""
    assessment = assessed(*questions, margin=margin, gates=gates)
    n_items = questions[0].people.n_responses
    people = [of.people for of in questions]
    reading = ReadSummary(
        title="tickets",
        files=("tickets.csv",),
        n_ratings=sum(len(of.value) for of in people),
        n_scores=sum(len(of.value) for q in questions for of in q.judges.values()),
        n_items=n_items,
        raters=people[0].rater_ids,
        groups_by="",
        n_groups=len(set(people[0].group.tolist())),
        columns={"item": ("ticket",), "rating": ("score",)},
        not_read={"tickets.csv:comment": "free text"},
        notes=(),
        doubts=(),
        item=lambda unit: ItemText(f"T-{unit}"),
        options=("--item COLUMN",),
    )
    return screen_of(reading, assessment, command_of=lambda _: "eval-assets init tickets.csv x")


def rated(
    n: int, noise: float, *, raters: int = 3, seed: int = 1, cuts: Sequence[float] | None = None
) -> tuple[Floats, Floats]:
    """Return ratings of n items on 1-5, and their qualities."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, n)
    steps = [-1.2, -0.4, 0.4, 1.2] if cuts is None else cuts
    places = np.searchsorted(steps, quality[:, None] + rng.normal(0, noise, (n, raters)))
    return places.astype(np.float64) + 1, quality


def lenient(n: int, noise: float, *, raters: int = 2) -> tuple[Floats, Floats]:
    """Return ratings of which anna's are one point higher where the scale allows it, and qualities.

    The others' ratings spread over the lower values, so that few of hers are cut off.
    """
    ratings, quality = rated(n, noise, raters=raters, cuts=[-0.8, 0.0, 0.8, 3.0])
    return np.column_stack([np.minimum(ratings[:, 0] + 1, 5), ratings[:, 1:]]), quality


def mixed(n: int, *, raters: int = 2) -> tuple[Floats, Floats]:
    """Return ratings that agree but on 3 and 4, which each rater gives at random, and qualities."""
    ratings, quality = rated(n, 0.0, raters=raters)
    at_random = np.random.default_rng(5).integers(3, 5, ratings.shape)
    return np.where((ratings == 3) | (ratings == 4), at_random, ratings), quality


def judged(quality: Floats, noise: float, *, seed: int = 2, shift: float = 0.0) -> Floats:
    """Return a judge's scores of items on 1-5."""
    rng = np.random.default_rng(seed)
    noisy = quality + shift + rng.normal(0, noise, len(quality))
    return np.searchsorted([-1.2, -0.4, 0.4, 1.2], noisy).astype(np.float64) + 1


def binary(n: int, share: float, flips: float, *, raters: int = 2, seed: int = 3) -> Floats:
    """Return ratings 0 or 1 by raters who each flip the truth of some items."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    return (truth[:, None] ^ (rng.random((n, raters)) < flips)).astype(np.float64)


def with_gaps(ratings: Floats, share: float, *, seed: int = 4) -> Floats:
    """Return ratings of which a share is missing."""
    is_missing = np.random.default_rng(seed).random(ratings.shape) < share
    return np.where(is_missing, math.nan, ratings)


@dataclass(frozen=True)
class Study:
    """A study with its name."""

    name: str
    questions: Questions


def _one(ratings: Floats, **judges: npt.ArrayLike | JudgeScores) -> Questions:
    return lambda: [question(ratings, judges)]


def _binary(ratings: Floats, **judges: npt.ArrayLike | JudgeScores) -> Questions:
    return lambda: [question(ratings, judges, scale=PASS_FAIL)]


GOOD, QUALITY = rated(120, 0.3)
NOISY, NOISY_QUALITY = rated(60, 0.9)
FEW, FEW_QUALITY = rated(12, 0.3)
SKEWED, SKEWED_QUALITY = rated(90, 0.4, cuts=[-2.6, -1.9, -1.2, -0.3])
TWO = binary(100, 0.5, 0.03)
RARE = binary(150, 0.95, 0.02)
LENIENT, LENIENT_QUALITY = lenient(120, 0.25)
MIXED, MIXED_QUALITY = mixed(120)
NO_PEOPLE = np.full((40, 1), math.nan)
NOISE = np.random.default_rng(1).normal(0, 1, (120, 2))

STUDIES = [
    Study("no judge", _one(GOOD)),
    Study("no judge, noisy", _one(NOISY)),
    Study("a judge like people", _one(GOOD, gpt=judged(QUALITY, 0.3))),
    Study("a judge a little worse", _one(GOOD, gpt=judged(QUALITY, 0.55))),
    Study("a poor judge", _one(GOOD, gpt=judged(QUALITY, 1.5))),
    Study("a reversed judge", _one(GOOD, gpt=6 - judged(QUALITY, 0.3))),
    Study("a constant judge", _one(GOOD, gpt=np.full(120, 3.0))),
    Study("a copied judge", _one(NOISY, gpt=NOISY[:, 0])),
    Study("the mean of people", _one(GOOD, gpt=GOOD.mean(axis=1))),
    Study("a lenient judge", _one(GOOD, gpt=np.clip(judged(QUALITY, 0.3) + 1, 1, 5))),
    Study("noisy labels", _one(NOISY, gpt=judged(NOISY_QUALITY, 0.6))),
    Study("random labels", _one(rated(60, 9.0)[0], gpt=judged(NOISY_QUALITY, 0.5))),
    Study("a lenient rater", _one(LENIENT, gpt=np.floor(LENIENT.mean(axis=1)))),
    Study("two values mixed up", _one(MIXED, gpt=judged(MIXED_QUALITY, 0.3))),
    Study("one constant rater", _one(np.column_stack([GOOD[:, :2], np.full(120, 3.0)]))),
    Study("opposed raters", _one(np.column_stack([GOOD[:, 0], 6 - GOOD[:, 0]]))),
    Study("all equal", _one(np.full((30, 3), 4.0), gpt=np.full(30, 4.0))),
    Study("all equal but the judge", _one(np.full((30, 2), 4.0), gpt=judged(QUALITY[:30], 0.3))),
    Study("perfect agreement", _one(np.repeat(GOOD[:, :1], 3, axis=1), gpt=GOOD[:, 0])),
    Study("few items", _one(FEW, gpt=judged(FEW_QUALITY, 0.3))),
    Study("one item", _one(np.array([[4.0, 5.0]]), gpt=[4.0])),
    Study("one rating", _one(np.array([[4.0]]), gpt=[4.0])),
    Study("one rater", _one(GOOD[:, :1], gpt=judged(QUALITY, 0.3))),
    Study("one constant rater alone", _one(np.full((40, 1), 3.0), gpt=judged(QUALITY[:40], 0.3))),
    Study("judges only", _one(NO_PEOPLE, gpt=judged(QUALITY[:40], 0.3), claude=np.full(40, 2.0))),
    Study(
        "no item in common",
        _one(
            np.vstack([GOOD[:20], np.full((20, 3), math.nan)]),
            gpt=np.append(np.full(20, math.nan), np.full(20, 3.0)),
        ),
    ),
    Study("half of the ratings missing", _one(with_gaps(GOOD, 0.5), gpt=judged(QUALITY, 0.3))),
    Study(
        "half of the scores missing",
        _one(GOOD, gpt=with_gaps(judged(QUALITY, 0.3)[:, None], 0.5)[:, 0]),
    ),
    Study("skewed", _one(SKEWED, gpt=judged(SKEWED_QUALITY, 0.4))),
    Study("two classes", _binary(TWO, gpt=binary(100, 0.5, 0.05)[:, 0])),
    Study("two classes, one rater", _binary(TWO[:, :1], gpt=TWO[:, 1])),
    Study("two classes, rare failures", _binary(RARE, gpt=RARE[:, 0])),
    Study("two classes, a constant judge", _binary(TWO, gpt=np.ones(100))),
    Study(
        "two classes, some rated",
        _binary(np.vstack([TWO[:40], np.full((60, 2), math.nan)]), gpt=TWO[:, 0]),
    ),
    Study(
        "runs",
        _one(GOOD, gpt=np.column_stack([judged(QUALITY, 0.3, seed=seed) for seed in (5, 6, 7)])),
    ),
    Study("two classes, two runs", _binary(TWO, gpt=binary(100, 0.5, 0.05, seed=3))),
    Study("another scale", _one(GOOD, gpt=scores(QUALITY / 10, Scale(low=-1, high=1)))),
    Study("nominal", lambda: [question(GOOD, {"gpt": judged(QUALITY, 0.3)}, level="nominal")]),
    Study(
        "nominal, runs",
        lambda: [
            question(
                GOOD,
                {"gpt": np.column_stack([judged(QUALITY, 0.3, seed=s) for s in (5, 6, 7)])},
                level="nominal",
            )
        ],
    ),
    Study(
        "continuous",
        lambda: [
            question(
                np.clip(
                    50 + 20 * QUALITY[:, None] + np.random.default_rng(1).normal(0, 5, (120, 2)),
                    0,
                    100,
                ),
                {"gpt": np.clip(50 + 20 * QUALITY, 0, 100)},
                scale=Scale(low=0, high=100),
            )
        ],
    ),
    Study(
        "groups",
        lambda: [question(GOOD, {"gpt": judged(QUALITY, 0.3)}, groups=np.arange(120) // 4)],
    ),
    Study(
        "one group",
        lambda: [question(GOOD, {"gpt": judged(QUALITY, 0.3)}, groups=np.zeros(120, dtype=int))],
    ),
    Study(
        "three judges",
        _one(
            GOOD, gpt=judged(QUALITY, 0.3), claude=judged(QUALITY, 0.6), constant=np.full(120, 3.0)
        ),
    ),
    Study(
        "twelve judges",
        _one(
            GOOD, **{f"judge_with_a_long_name_{k}": judged(QUALITY, 0.3, seed=k) for k in range(12)}
        ),
    ),
    Study(
        "three questions",
        lambda: [
            question(
                ratings, {"gpt": judged(QUALITY, 0.3), "claude": judged(QUALITY, 1.5)}, name=name
            )
            for name, ratings in zip(
                ("helpful", "respects_autonomy_of_people", "tone"),
                (GOOD, rated(120, 9.0)[0], rated(120, 0.75)[0]),
                strict=True,
            )
        ],
    ),
    Study(
        "fifteen questions, six judges",
        lambda: [
            question(
                rated(40, 0.1 + 0.1 * k, seed=k)[0],
                {f"judge {j}": judged(rated(40, 0.1 + 0.1 * k, seed=k)[1], 0.4) for j in range(6)},
                name=f"question {k}",
            )
            for k in range(15)
        ],
    ),
    Study(
        "a question that only judges rated",
        lambda: [
            question(GOOD, {"gpt": judged(QUALITY, 0.3)}, name="helpful"),
            question(np.full((120, 3), math.nan), {"gpt": judged(QUALITY, 0.3)}, name="tone"),
        ],
    ),
]
