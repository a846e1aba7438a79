"""The one place that reads sealed test labels: every candidate's verdicts, and what is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval_assets.tuning._fitness import Fitness, judge_fitness
from eval_assets.tuning._improvement import Improvement, judge_improvement
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.seal_policy import coarse_gain, reading_significance
from eval_assets.tuning.versions import JudgeVersion
from eval_assets.wording import or_none

Row = dict[str, object]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A version that was fixed before the test is read.

    Args:
        version: The version.
        scores: Its scores of all units of the question, NaN if missing.
        raw: The judge's scores before any map.
        baseline: Scores of the judge as it stands, which the version would replace.
    """

    version: JudgeVersion
    scores: Floats
    raw: Floats
    baseline: Floats


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Result of one reading for one candidate on one question.

    Args:
        version: The version that was read.
        fitness: Whether it may stand in for a rater.
        improvement: Whether it is better than the judge as it stands.
    """

    version: JudgeVersion
    fitness: Fitness
    improvement: Improvement

    @property
    def is_certified(self) -> bool:
        """Whether one of the two claims holds."""
        return self.improvement.verdict == "accepted" or self.fitness.verdict == "fit"


def read_test(
    units: RatedUnits,
    candidates: Sequence[Candidate],
    *,
    reading: int,
    margin: float,
    people_agree: bool,
) -> list[Verdicts]:
    """Return the verdicts on all candidates of a question: the only use of its test labels.

    Args:
        units: All rated units of the question; of the test only those still under the seal.
        candidates: Candidates that were fixed before, and share the level.
        reading: Number of this reading since the seal was made, from 1.
        margin: How far below people's figure a judge's may lie and still be fit.
        people_agree: Whether the question passes both human gates.
    """
    is_test = units.splits == "test"
    test, n_train_groups = units.only(is_test), units.part("train").n_groups
    significance = reading_significance(reading, n_candidates=len(candidates))
    return [
        Verdicts(
            version=candidate.version,
            fitness=judge_fitness(
                test,
                candidate.scores[is_test],
                margin=margin,
                significance=significance,
                people_agree=people_agree,
            ),
            improvement=judge_improvement(
                test,
                candidate.scores[is_test],
                candidate.baseline[is_test],
                significance=significance,
                n_train_groups=n_train_groups,
            ),
        )
        for candidate in candidates
    ]


def evaluation_rows(
    verdicts: Sequence[Verdicts], *, question_id: str, reading: int, open_seal: bool = False
) -> list[Row]:
    """Return rows of `tuned_judge_evaluation`, without the figures that the seal keeps.

    Args:
        verdicts: Verdicts of one reading.
        question_id: Question that was read.
        reading: Number of the reading.
        open_seal: Whether the seal ends with this reading, so that everything is shown.
    """
    rows = []
    for found in verdicts:
        named: Row = {
            "judge_id": found.version.judge_id,
            "version": found.version.version,
            "question_id": question_id,
            "reading": reading,
        }
        rows.append({**named, **_improvement(found.improvement, shown=open_seal)})
        rows.append({**named, **_fitness(found.fitness, shown=open_seal)})
    return rows


_EMPTY: Mapping[str, object] = dict.fromkeys(
    (
        "kappa",
        "kappa_baseline",
        "gain",
        "gain_low",
        "gain_high",
        "kappa_people",
        "gap",
        "gap_low",
        "gap_high",
        "margin",
    )
)


def _improvement(found: Improvement, *, shown: bool) -> Row:
    compared = found.compared
    row = _verdict("improvement", found, n_groups=compared.gain.n_groups)
    if shown or found.verdict == "accepted":
        low, high = compared.gain.ends(significance=found.significance)
        row |= {
            "kappa": or_none(compared.candidate.value),
            "kappa_baseline": or_none(compared.baseline.value),
            "gain": or_none(compared.gain.value),
            "gain_low": or_none(low),
            "gain_high": or_none(high),
        }
    elif found.verdict in ("inconclusive", "rejected"):
        row["gain"] = or_none(coarse_gain(compared.gain.value))
    return row


def _fitness(found: Fitness, *, shown: bool) -> Row:
    compared = found.compared
    row = _verdict("fitness", found, n_groups=compared.shortfall.n_groups)
    row["margin"] = found.margin
    if shown or found.verdict == "fit":
        low, high = compared.gap.ends(significance=found.significance)
        row |= {
            "kappa": or_none(compared.judge.value),
            "kappa_people": or_none(compared.people.value),
            "gap": or_none(compared.gap.value),
            "gap_low": or_none(low),
            "gap_high": or_none(high),
        }
    return row


def _verdict(kind: str, found: Improvement | Fitness, *, n_groups: int) -> Row:
    """Return what is shown of a verdict whatever it is; every figure is None."""
    return {
        **_EMPTY,
        "kind": kind,
        "n_units": found.compared.n_units,
        "n_groups": n_groups,
        "level": found.significance,
        "groups_wanted": found.groups_wanted,
        "verdict": found.verdict,
        "reason": found.reason,
    }
