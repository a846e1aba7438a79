"""Tuning steps that change a judge's prompt, made from train and selected on dev."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eval_assets.config.tuning import PromptStep, Tuning
from eval_assets.stats import agreement_gain, best_monotone_map, concordance
from eval_assets.tuning.prompt_training_data import (
    PromptMaterial,
    ScoreDisagreement,
    Words,
    guidelines_request,
    instructions_request,
    read_instructions,
    read_rules,
)
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.tuned_prompts import Example, PromptSection

SHOWN = 10
"""Disagreements that the writer reads for one candidate, and on which each is tried first."""

Write = Callable[[Sequence[str]], Sequence[str | None]]
"""Sends the writer several requests; None for one without a reply, or if the budget ran out."""

Score = Callable[[RatedUnits, Sequence[PromptSection]], Sequence[Floats]]
"""Asks the judge about units with each section; NaN if a score is missing."""


@dataclass(frozen=True)
class TunedSection:
    """Text that tuning added to a judge's prompt on one question."""

    section: PromptSection
    step: PromptStep | None
    outcomes: tuple[str, ...]


def tune_section(  # noqa: PLR0913 - what is tuned, from what, and two models
    units: RatedUnits,
    raw: Floats,
    words: Words,
    *,
    tuning: Tuning,
    known: Sequence[str],
    write: Write,
    score: Score,
) -> TunedSection:
    """Return the additions to a judge's prompt that improve its agreement on dev.

    Units of the test are not looked at.

    `known` are texts that the prompt may repeat: the declared template.
    """
    dev, on_dev = units.part("dev"), raw[units.is_in("dev")]
    training_data = PromptMaterial(units.part("train"), raw[units.is_in("train")], words, known)
    best, last = PromptSection(), None
    outcomes: list[str] = []
    for step in tuning.prompt_steps:
        match step:
            case "few_shot_examples":
                examples = few_shot_examples(training_data.train, training_data.scores)
                draft = replace(best, examples=examples)
            case "judge_guidelines":
                draft = _with_rules(best, training_data, write)
            case "prompt_candidates":
                search = search_instructions(
                    training_data, dev, on_dev, start=best, tuning=tuning, write=write, score=score
                )
                draft = search.section
                outcomes += [
                    f"{step}, round {candidate.round}: {candidate.outcome}"
                    + (
                        ""
                        if np.isnan(candidate.dev_figure)
                        else f" ({candidate.dev_figure:z.3f} on dev)"
                    )
                    for candidate in search.tried
                ]
        if draft == best:
            outcomes.append(f"{step}: found nothing to add")
            continue
        [scores] = score(dev, [draft])
        if is_improved(dev, scores, on_dev):
            best, on_dev, last = draft, scores, step
            outcomes.append(f"{step}: kept")
        else:
            outcomes.append(f"{step}: no clear gain on dev")
    return TunedSection(best, last, tuple(outcomes))


def _with_rules(best: PromptSection, training_data: PromptMaterial, write: Write) -> PromptSection:
    """Return the section with rules that the writer distilled and that quote nothing."""
    remarks = training_data.remarks()
    if not remarks:
        return best
    [reply] = write([guidelines_request(training_data.train.question, remarks)])
    rules = read_rules(reply or "", sources=[remark.source for remark in remarks])
    clean = tuple(rule for rule in rules if not training_data.is_quoted_in(rule.text))
    return replace(best, rules=clean) if clean else best


MOST_EXAMPLES = 8

MOST_ALIKE = 0.5
"""Share of words that two examples may have in common."""

_FAR_ON_A_CONTINUOUS_SCALE = 0.1
"""Share of the scale by which a judge is wrong, and within which people agree."""


def few_shot_examples(train: RatedUnits, scores: Floats) -> tuple[Example, ...]:
    """Return at most eight examples: one for each level, then the judge's largest errors.

    People agree on all of them: disputed responses would teach the judge one rater's view. No two
    come from one group, and no two are much alike.
    """
    value, agreed = _consensus(train)
    off = np.abs(scores - value)
    wrong = agreed & (off >= _least_error(train))
    chosen: list[int] = []
    for level in _levels(train, value[agreed]):
        at_level = agreed & (np.abs(value - level) < _least_error(train) / 2)
        _choose(train, np.flatnonzero(at_level & wrong), off, chosen, most=len(chosen) + 1)
        if not any(at_level[chosen]):
            _choose(train, np.flatnonzero(at_level), off, chosen, most=len(chosen) + 1)
    _choose(train, np.flatnonzero(wrong), off, chosen, most=MOST_EXAMPLES)
    if not wrong[chosen].any():
        return ()
    return tuple(
        Example(
            response_id=str(train.response_ids[k]),
            prompt_text=str(train.prompt_texts[k]),
            response_text=str(train.response_texts[k]),
            value=float(value[k]),
            history=_as_text(train.history.get(str(train.response_ids[k]), ())),
        )
        for k in sorted(chosen, key=lambda k: (value[k], str(train.response_ids[k])))
    )


def _as_text(turns: Sequence[tuple[str, str]]) -> str:
    """Return the turns before a response as one text."""
    return "\n".join(f"Asked: {prompt}\nAnswered: {response}" for prompt, response in turns)


def _consensus(train: RatedUnits) -> tuple[Floats, np.ndarray]:
    """Return the consensus of each unit, and whether at least two people share it."""
    rated = np.count_nonzero(~np.isnan(train.ratings), axis=1) > 1
    lowest = np.min(np.where(np.isnan(train.ratings), np.inf, train.ratings), axis=1)
    highest = np.max(np.where(np.isnan(train.ratings), -np.inf, train.ratings), axis=1)
    scale = train.question.scale
    tolerance = (
        _FAR_ON_A_CONTINUOUS_SCALE * (scale.high - scale.low) if scale.values is None else 0.0
    )
    agreed = rated & (highest - lowest <= tolerance)
    return np.where(agreed, (lowest + highest) / 2, np.nan), agreed


def _least_error(train: RatedUnits) -> float:
    """Return the distance from which on a judge is wrong: half a step, or a tenth of the scale."""
    scale = train.question.scale
    if scale.values is None:
        return _FAR_ON_A_CONTINUOUS_SCALE * (scale.high - scale.low)
    return float(np.diff(scale.values).min()) / 2


def _levels(train: RatedUnits, agreed: Floats) -> Floats:
    """Return the levels that get an example each, at most eight, the ends among them."""
    levels = np.unique(agreed)
    if train.question.scale.values is None or len(levels) > MOST_EXAMPLES:
        n_levels = min(len(levels), 5)
        levels = levels[np.unique(np.linspace(0, len(levels) - 1, n_levels).astype(int))]
    return levels


def _choose(
    train: RatedUnits, among: np.ndarray, off: Floats, chosen: list[int], *, most: int
) -> None:
    """Add examples to `chosen` until there are so many, the judge's worst errors first."""
    worst_first = sorted(
        (int(k) for k in among),
        key=lambda k: (
            -np.nan_to_num(off[k]),
            len(str(train.response_texts[k])),
            str(train.response_ids[k]),
        ),
    )
    for k in worst_first:
        if len(chosen) >= most:
            return
        if k not in chosen and not any(_is_alike(train, k, choice) for choice in chosen):
            chosen.append(k)


def _is_alike(train: RatedUnits, index: int, choice: int) -> bool:
    """Return whether two responses are of one group or have many words in common."""
    if train.groups[index] == train.groups[choice]:
        return True
    words = [
        set(re.findall(r"\w+", str(train.response_texts[k]).casefold())) for k in (index, choice)
    ]
    union = words[0] | words[1]
    return bool(union) and len(words[0] & words[1]) / len(union) > MOST_ALIKE


@dataclass(frozen=True)
class Tried:
    """A candidate of the search, as the log shows it.

    Args:
        dev_figure: Its agreement with people on dev after a map fitted there; NaN if not scored.
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

    Candidates are compared by agreement beyond chance after the best map, so that a mere shift of
    scores gains nothing: it is left to calibration. A candidate that comes no nearer to people
    than the best so far on the worst disagreements of train is not scored on dev, so that most
    spending goes to promising ones.

    The writer gets the worst disagreements of train, others for each candidate.
    """
    disagreements = training_data.disagreements()
    tried: list[Tried] = []
    if not disagreements:
        outcome = "the judge differs from people on no response of train"
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
                outcome = "dropped: no nearer to people on the worst responses of train"
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
    names = [
        disagreement.response_id
        for disagreement in disagreements
        if disagreement.response_id not in example_ids
    ]
    return train.only(np.isin(train.response_ids.astype(str), names[:SHOWN]))


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
        dev.ratings,
        _mapped(dev, best),
        _mapped(dev, start),
        level=dev.level,
        groups=dev.group_codes,
    ).gain
    return gain.value > gain.standard_error
