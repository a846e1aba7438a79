"""The rated responses of one question, with everything that tuning looks at."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eval_assets.config.rubric import RubricQuestion
from eval_assets.config.tuning import SplitShares, Tuning
from eval_assets.scale import Level

Split = Literal["train", "dev", "test"]


def split_of(group_id: str, shares: SplitShares) -> Split:
    """Return the split of a response group: a hash of its name, and nothing else, decides.

    A group keeps its split if data are added, removed, labelled or rated otherwise, for every
    question and on every machine.

    Examples:
        >>> [split_of(name, SplitShares()) for name in ("p0", "p6", "p1")]
        ['train', 'dev', 'test']
    """
    position = int(hashlib.sha256(group_id.encode()).hexdigest()[:16], 16) / 2**64
    if position < shares.train:
        return "train"
    return "dev" if position < shares.train + shares.dev else "test"


def splits_of(group_ids: Iterable[str], shares: SplitShares) -> NDArray[np.str_]:
    """Return the split of each response, given the group of each."""
    groups = list(group_ids)
    split_by_group = {group: split_of(group, shares) for group in set(groups)}
    return np.array(list(map(split_by_group.__getitem__, groups)), dtype=np.str_)


FEWEST_GROUPS_OF_A_TEST = 60
"""Groups from which on a test is held out: two fifths of them, 24, are in it."""


def are_held_out(group_ids: Iterable[str], tuning: Tuning) -> NDArray[np.bool_]:
    """Return which responses are held out for the test of judges, given the group of each."""
    groups = list(group_ids)
    if not tuning.holdout or len(set(groups)) < FEWEST_GROUPS_OF_A_TEST:
        return np.zeros(len(groups), dtype=bool)
    is_test: NDArray[np.bool_] = splits_of(groups, tuning.split) == "test"
    return is_test


def agreement_level(question: RubricQuestion) -> Level:
    """Return the level at which agreement is figured: `nominal` only if classes have no order."""
    has_classes = question.level == "nominal" and not question.scale.has_two_values
    return "nominal" if has_classes else "interval"


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Texts = NDArray[np.str_]


_COLUMNS = (
    *("response_ids", "groups", "splits", "ratings"),
    *("models", "prompt_texts", "response_texts"),
)


@dataclass(frozen=True, eq=False)
class RatedUnits:
    """Responses that people rated on one question, and judges' scores of them.

    Args:
        ratings: Human ratings of shape (n_units, n_raters), NaN if missing.
        scores: Each judge's scores of shape (n_units,), NaN if missing.
        prompt_texts: Prompts of the systems; empty unless prompts are tuned or compared.
        spreads: Highest minus lowest score of each judge's replicates; judges without are missing.
        history: By response, prompt and response of each earlier turn, oldest first.
        shown: By response, columns with their texts that prompts of judges show.
        text_hashes: By response, fingerprint of its prompt and text; none where it has neither.
    """

    question: RubricQuestion
    response_ids: Texts
    groups: Texts
    splits: Texts
    ratings: Floats
    scores: Mapping[str, Floats]
    models: Texts
    prompt_texts: Texts
    response_texts: Texts
    spreads: Mapping[str, Floats] = field(default_factory=dict)
    history: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    shown: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    text_hashes: Mapping[str, str] = field(default_factory=dict)

    @property
    def level(self) -> Level:
        """Level at which agreement is figured: `nominal` only if classes have no order."""
        return agreement_level(self.question)

    @property
    def n_groups(self) -> int:
        """Different groups."""
        return int(np.count_nonzero(np.bincount(self.group_codes)))

    def n_groups_of(self, is_selected: NDArray[np.bool_]) -> int:
        """Return the number of groups of the selected units."""
        return int(np.count_nonzero(np.bincount(self.group_codes[is_selected])))

    @cached_property
    def group_codes(self) -> Integers:
        """Number of each unit's group, in the order of names, which are compared slowly."""
        return numbered(self.groups)[1]

    def is_in(self, split: Split) -> NDArray[np.bool_]:
        """Return which units are of one split."""
        is_in: NDArray[np.bool_] = self.splits == split
        return is_in

    def part(self, split: Split) -> "RatedUnits":
        """Return the units of one split, the same object each time."""
        if split not in self._parts:
            self._parts[split] = self.only(self.is_in(split))
        return self._parts[split]

    def texts_by_response(self) -> dict[str, str]:
        """Return the fingerprint of the text of each response, empty if it has none."""
        return {name: self.text_hashes.get(name, "") for name in map(str, self.response_ids)}

    @cached_property
    def score_hashes(self) -> dict[bytes, str]:
        """Fingerprints of scores of these units, by their bytes: `scores_hash` takes each once."""
        return {}

    @cached_property
    def _parts(self) -> dict[Split, "RatedUnits"]:
        return {}

    def are_of(self, groups: Collection[str]) -> NDArray[np.bool_]:
        """Return which units are of one of these groups."""
        if not len(groups):
            return np.zeros(len(self.groups), dtype=bool)
        is_selected = frozenset(groups).__contains__
        return np.fromiter(map(is_selected, self.groups.tolist()), np.bool_, len(self.groups))

    def only(self, is_selected: NDArray[np.bool_]) -> "RatedUnits":
        """Return the selected units."""
        columns = {name: getattr(self, name)[is_selected] for name in _COLUMNS}
        scores = {judge: scores[is_selected] for judge, scores in self.scores.items()}
        spreads = {judge: spreads[is_selected] for judge, spreads in self.spreads.items()}
        part = replace(self, scores=scores, spreads=spreads, **columns)
        part.__dict__["group_codes"] = self.group_codes[is_selected]  # as if it were cached
        return part


@lru_cache(maxsize=1)  # all candidates of a question are planned on the same units
def outside_test(units: RatedUnits) -> RatedUnits:
    """Return the units of train and dev."""
    return units.only(~units.is_in("test"))


def numbered(names: NDArray[np.generic]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct names, sorted, and the index of each value among them."""
    values = names.tolist()
    index = {name: number for number, name in enumerate(sorted(set(values)))}
    return list(index), np.fromiter(map(index.__getitem__, values), np.int64, len(values))
