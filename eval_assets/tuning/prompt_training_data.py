"""Training data of prompts: responses of train, with comments on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from eval_assets.tuning._writer import Remark, ScoreDisagreement
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.tuned_prompts import copied_share

MOST_REMARKS = 40
"""Notes, adjudications and disagreements that rules are distilled from at a time."""


@dataclass(frozen=True)
class Words:
    """Comments of people and of the judge on the answers to one question.

    Rationales are by response. Notes of raters and reasons of adjudications are by response and by
    the id by which they can be withdrawn.
    """

    rationales: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PromptMaterial:
    """Answers of train to one question, a judge's scores of them, and comments.

    Args:
        train: Units of the split `train`, no others.
        scores: The judge's scores of these units as it stands, NaN if missing.
        words: What people and the judge wrote.
        known: Texts that a prompt may repeat beside the question: the declared template.
    """

    train: RatedUnits
    scores: Floats
    words: Words = field(default_factory=Words)
    known: Sequence[str] = ()

    def is_quoted_in(self, text: str) -> bool:
        """Return whether a text copies a sequence of words from an answer, a prompt or a note."""
        question = self.train.question
        notes = [note for by_source in self.words.notes.values() for note in by_source.values()]
        return (
            copied_share(
                text,
                [*map(str, self.train.prompt_texts), *map(str, self.train.response_texts), *notes],
                known=[*self.known, question.question, question.guidelines or ""],
            )
            > 0
        )

    def disagreements(self) -> list[ScoreDisagreement]:
        """Return the units on which the judge is furthest from people, one of each group."""
        train, scores = self.train, self.scores
        compared = np.flatnonzero(~np.isnan(scores) & ~np.isnan(train.ratings).all(axis=1))
        off = {int(k): abs(float(np.nanmean(train.ratings[k])) - scores[k]) for k in compared}
        disagreements, groups = [], set()
        for k in sorted(off, key=lambda k: (-off[k], str(train.response_ids[k]))):
            response_id = str(train.response_ids[k])
            if off[k] > 0 and train.groups[k] not in groups:
                groups.add(train.groups[k])
                ratings = train.ratings[k]
                disagreements.append(
                    ScoreDisagreement(
                        response_id=response_id,
                        prompt_text=str(train.prompt_texts[k]),
                        response_text=str(train.response_texts[k]),
                        ratings=tuple(ratings[~np.isnan(ratings)].tolist()),
                        score=float(scores[k]),
                        rationale=self.words.rationales.get(response_id, ""),
                        notes=tuple(self.words.notes.get(response_id, {}).values()),
                    )
                )
        return disagreements

    def remarks(self) -> list[Remark]:
        """Return notes, then responses on which people disagree, the largest spread first."""
        train, remarks = self.train, []
        for index, (response, ratings, score) in enumerate(
            zip(train.response_ids.astype(str), train.ratings, self.scores, strict=True)
        ):
            values = ratings[~np.isnan(ratings)]
            judged = "none" if np.isnan(score) else f"{score:g}"
            rated = ", ".join(f"{rating:g}" for rating in values)
            context = f"People rated it: {rated}. The judge gave: {judged}."
            remarks += [
                (0.0, Remark(source, note, context))
                for source, note in self.words.notes.get(response, {}).items()
            ]
            if len(values) > 1 and values.max() > values.min():
                text = str(train.response_texts[index])
                remarks.append(
                    (float(values.min() - values.max()), Remark(response, text, context))
                )
        remarks.sort(key=lambda entry: (entry[0] < 0, entry[0], entry[1].source))
        return [remark for _, remark in remarks[:MOST_REMARKS]]
