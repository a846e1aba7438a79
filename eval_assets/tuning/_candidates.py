"""The search for better instructions: a few rounds of reading disagreements and rewriting."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eval_assets.config.tuning import Tuning
from eval_assets.stats import agreement_gain, best_monotone_map, concordance
from eval_assets.tuning._writer import ScoreDisagreement, instructions_request, read_instructions
from eval_assets.tuning.prompt_training_data import PromptMaterial
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.tuned_prompts import PromptSection

SHOWN = 10
"""Disagreements that the writer reads for one candidate, and on which each is tried first."""

Write = Callable[[Sequence[str]], Sequence[str | None]]
"""Asks the writer several requests; None if one was not answered or the budget ran out."""

Score = Callable[[RatedUnits, Sequence[PromptSection]], Sequence[Floats]]
"""Asks the judge about units with each section; NaN if a score is missing."""


@dataclass(frozen=True)
class Tried:
    """A candidate of the search, as the log shows it.

    Args:
        round: Round that it was written in, from 1.
        section: What it adds to the prompt; None if the writer's reply could not be used.
        dev_figure: Its agreement with people on dev after a map fitted there; NaN if not scored.
        outcome: What became of it, in words.
    """

    round: int
    section: PromptSection | None
    dev_figure: float
    outcome: str


@dataclass(frozen=True)
class Search:
    """Result of a search."""

    section: PromptSection
    tried: tuple[Tried, ...]


def search_instructions(  # noqa: PLR0913 - what is tuned, from what, and two models
    training_data: PromptMaterial,
    dev: RatedUnits,
    scores: Floats,
    *,
    start: PromptSection,
    tuning: Tuning,
    write: Write,
    score: Score,
) -> Search:
    """Return the best instructions of several rounds of rewriting, selected on dev.

    Candidates are compared by agreement beyond chance after the best map, so that a candidate
    which only moves scores gains nothing: that is what calibration is for. One that comes no
    nearer to people than the best so far on the worst disagreements of train is not asked about
    dev, so that most of what is spent goes to promising ones.

    Args:
        training_data: Source of the candidates, each from other disagreements, worst first.
        dev: Units of the split `dev`, no others.
        scores: The judge's scores of them as it stands.
        start: What the judge's prompt adds now.
        tuning: Declares the number of rounds, and of candidates in each.
        write: Asks the writer.
        score: Asks the judge about units.
    """
    disagreements = training_data.disagreements()
    tried: list[Tried] = []
    if not disagreements:
        outcome = "the judge differs from people on no answer of train"
        return Search(start, (Tried(1, None, float("nan"), outcome),))
    best, best_figure = start, _mapped_figure(dev, scores)
    trial = _trial(training_data.train, disagreements, start)
    [best_error] = [_error(trial, trial_scores) for trial_scores in score(trial, [start])]
    n_batches = tuning.rounds * tuning.candidates
    for round_ in range(1, tuning.rounds + 1):
        first = (round_ - 1) * tuning.candidates
        batches = [
            _batch(disagreements, index, n_batches=n_batches)
            for index in range(first, first + tuning.candidates)
        ]
        replies = write([instructions_request(dev.question, best, batch) for batch in batches])
        drafts, unusable = _read(replies, best, training_data, round_)
        tried += unusable
        errors = [_error(trial, trial_scores) for trial_scores in score(trial, drafts)]
        promising = []
        for draft, error in zip(drafts, errors, strict=True):
            if error < best_error or not trial.n_groups:
                promising.append((draft, error))
            else:
                outcome = "dropped: no nearer to people on the worst answers of train"
                tried.append(Tried(round_, draft, float("nan"), outcome))
        on_dev = score(dev, [draft for draft, _ in promising])
        for (draft, error), dev_scores in zip(promising, on_dev, strict=True):
            figure = _mapped_figure(dev, dev_scores)
            better = figure > best_figure
            outcome = "best so far" if better else "no better than the best so far"
            tried.append(Tried(round_, draft, figure, outcome))
            if better:
                best, best_figure, best_error = draft, figure, error
    return Search(best, tuple(tried))


def _read(
    replies: Sequence[str | None], best: PromptSection, training_data: PromptMaterial, round_: int
) -> tuple[list[PromptSection], list[Tried]]:
    """Return the candidates in the writer's replies, and those that are not tried."""
    drafts, unusable = [], []
    for reply in replies:
        text = read_instructions(reply) if reply else None
        if text is None:
            unusable.append(Tried(round_, None, float("nan"), "the writer's reply is unusable"))
            continue
        draft = replace(best, instructions=text)
        if training_data.is_quoted_in(draft.words):
            unusable.append(Tried(round_, draft, float("nan"), "dropped: it quotes train"))
        else:
            drafts.append(draft)
    return drafts, unusable


def _trial(
    train: RatedUnits, disagreements: Sequence[ScoreDisagreement], start: PromptSection
) -> RatedUnits:
    """Return the worst disagreements of train that the prompt does not show as examples."""
    example_ids = {example.response_id for example in start.examples}
    others = [
        disagreement.response_id
        for disagreement in disagreements
        if disagreement.response_id not in example_ids
    ]
    return train.only(np.isin(train.response_ids.astype(str), others[:SHOWN]))


def _error(trial: RatedUnits, scores: Floats) -> float:
    """Return the summed distance from mean ratings; a missing score costs a whole scale."""
    scale = trial.question.scale
    off = np.abs(scores - np.nanmean(trial.ratings, axis=1))
    return float(np.nan_to_num(off, nan=scale.high - scale.low).sum())


def _batch(
    disagreements: Sequence[ScoreDisagreement], index: int, *, n_batches: int
) -> Sequence[ScoreDisagreement]:
    """Return the disagreements that one candidate is written from: bad ones for each candidate."""
    worst = disagreements[: n_batches * SHOWN]
    return worst[index::n_batches][:SHOWN] or disagreements[:SHOWN]


def _mapped_figure(dev: RatedUnits, scores: Floats) -> float:
    """Return agreement beyond chance after the best map on dev itself; -1 if undefined."""
    figure = concordance(dev.ratings, _mapped(dev, scores))
    return -1.0 if np.isnan(figure) else figure


def _mapped(dev: RatedUnits, scores: Floats) -> Floats:
    if dev.level == "nominal":
        return scores
    return best_monotone_map(dev.ratings, scores, scale=dev.question.scale)(scores)


def is_improved(dev: RatedUnits, best: Floats, start: Floats) -> bool:
    """Return whether scores gain more than one standard error on dev, both after a map."""
    gain = agreement_gain(
        dev.ratings, _mapped(dev, best), _mapped(dev, start), level=dev.level, groups=dev.groups
    ).gain
    return gain.value > gain.standard_error
