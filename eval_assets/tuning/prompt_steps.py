"""The steps of tuning that change a judge's prompt: made from train, kept if dev says so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from eval_assets.tuning.candidates import (
    Score,
    Write,
    is_improved,
    search_instructions,
    worst_disagreements,
)
from eval_assets.tuning.exemplars import few_shot_examples
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.tuned_prompts import Section, copied_share
from eval_assets.tuning.writer import Remark, guidelines_request, read_rules
from eval_assets.tuning_options import PromptStep

MOST_REMARKS = 40
"""Notes, adjudications and disagreements that rules are distilled from at a time."""


@dataclass(frozen=True)
class Words:
    """Comments of people and of the judge on the answers to one question.

    Args:
        rationales: The judge's reasons by response.
        notes: What raters wrote, and why disagreements were settled as they were, by response;
            each with the id by which it can be withdrawn.
    """

    rationales: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class TunedSection:
    """Text that tuning added to a judge's prompt on one question.

    Args:
        section: The section; empty if nothing helped on dev.
        step: The last step that changed it; None if none did.
        outcomes: What became of every candidate, in words.
    """

    section: Section
    step: PromptStep | None
    outcomes: tuple[str, ...]


def tune_section(  # noqa: PLR0913 - material, two models and how long
    units: RatedUnits,
    raw: Floats,
    words: Words,
    *,
    steps: Sequence[PromptStep],
    known: Sequence[str],
    write: Write,
    score: Score,
    rounds: int,
    per_round: int,
) -> TunedSection:
    """Add to a judge's prompt on one question what makes it agree better with people on dev.

    Units of the test are not looked at.

    Args:
        units: Rated units of the question.
        raw: The judge's scores of them as it stands.
        words: What people and the judge wrote.
        steps: Steps, in the order in which they are tried.
        known: Texts that the prompt may repeat: the declared template.
        write: Asks the writer.
        score: Asks the judge about units of train or dev.
        rounds: Rounds of the search for instructions.
        per_round: Candidates in each.
    """
    train, dev = units.part("train"), units.part("dev")
    on_train, on_dev = raw[units.splits == "train"], raw[units.splits == "dev"]
    question = units.question
    allowed = [*known, question.question, question.guidelines or ""]
    material = [*map(str, train.prompt_texts), *map(str, train.response_texts)]
    material += [note for notes in words.notes.values() for note in notes.values()]
    best, last = Section(), None
    outcomes: list[str] = []
    for step in steps:
        if step == "prompt_candidates":
            notes = {response: tuple(given.values()) for response, given in words.notes.items()}
            disagreements = worst_disagreements(
                train, on_train, rationales=words.rationales, notes=notes
            )
            if not disagreements:
                outcomes.append(f"{step}: the judge differs from people on no answer of train")
                continue
            search = search_instructions(
                train,
                dev,
                on_dev,
                disagreements,
                start=best,
                material=material,
                known=allowed,
                write=write,
                score=score,
                rounds=rounds,
                per_round=per_round,
            )
            outcomes += [
                f"{step}, round {each.round}: {each.outcome}"
                + ("" if np.isnan(each.dev_figure) else f" ({each.dev_figure:.3f} on dev)")
                for each in search.tried
            ]
            draft = search.section
        else:
            draft = (
                replace(best, examples=few_shot_examples(train, on_train))
                if step == "few_shot_examples"
                else _with_rules(best, train, on_train, words, material, allowed, write)
            )
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


def _with_rules(  # noqa: PLR0913, PLR0917 - what rules are made from
    best: Section,
    train: RatedUnits,
    scores: Floats,
    words: Words,
    material: Sequence[str],
    allowed: Sequence[str],
    write: Write,
) -> Section:
    """Return the section with rules that the writer distilled and that quote nothing."""
    remarks = _remarks(train, scores, words)
    if not remarks:
        return best
    [reply] = write([guidelines_request(train.question, remarks)])
    rules = read_rules(reply or "", sources=[remark.source for remark in remarks])
    clean = tuple(r for r in rules if copied_share(r.text, material, known=allowed) == 0)
    return replace(best, rules=clean) if clean else best


def _remarks(train: RatedUnits, scores: Floats, words: Words) -> list[Remark]:
    """Return notes of train, then answers on which people disagree, the furthest apart first."""
    remarks = []
    for response, ratings, score in zip(train.response_ids, train.ratings, scores, strict=True):
        given = ratings[~np.isnan(ratings)]
        said = "none" if np.isnan(score) else f"{score:g}"
        context = f"People rated it: {', '.join(f'{r:g}' for r in given)}. The judge gave: {said}."
        remarks += [
            (0.0, Remark(source, note, context))
            for source, note in words.notes.get(str(response), {}).items()
        ]
        if len(given) > 1 and given.max() > given.min():
            text = str(train.response_texts[list(train.response_ids).index(response)])
            remarks.append((float(given.min() - given.max()), Remark(str(response), text, context)))
    remarks.sort(key=lambda each: (each[0] < 0, each[0], each[1].source))
    return [remark for _, remark in remarks[:MOST_REMARKS]]
