"""The steps of tuning that change a judge's prompt: made from train, kept if dev says so."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from eval_assets.config.tuning import PromptStep, Tuning
from eval_assets.tuning._candidates import Score, Write, is_improved, search_instructions
from eval_assets.tuning._exemplars import few_shot_examples
from eval_assets.tuning._writer import guidelines_request, read_rules
from eval_assets.tuning.prompt_training_data import PromptMaterial, Words
from eval_assets.tuning.rated import Floats, RatedUnits
from eval_assets.tuning.tuned_prompts import Section


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
    """Add to a judge's prompt on one question what makes it agree better with people on dev.

    Units of the test are not looked at.

    Args:
        units: Rated units of the question.
        raw: The judge's scores of them as it stands.
        words: What people and the judge wrote.
        tuning: Declares the steps, in the order in which they are tried, and how long to search.
        known: Texts that the prompt may repeat: the declared template.
        write: Asks the writer.
        score: Asks the judge about units of train or dev.
    """
    dev, on_dev = units.part("dev"), raw[units.splits == "dev"]
    material = PromptMaterial(units.part("train"), raw[units.splits == "train"], words, known)
    best, last = Section(), None
    outcomes: list[str] = []
    for step in tuning.prompt_steps:
        match step:
            case "few_shot_examples":
                examples = few_shot_examples(material.train, material.scores)
                draft = replace(best, examples=examples)
            case "judge_guidelines":
                draft = _with_rules(best, material, write)
            case "prompt_candidates":
                search = search_instructions(
                    material, dev, on_dev, start=best, tuning=tuning, write=write, score=score
                )
                draft = search.section
                outcomes += [
                    f"{step}, round {each.round}: {each.outcome}"
                    + ("" if np.isnan(each.dev_figure) else f" ({each.dev_figure:.3f} on dev)")
                    for each in search.tried
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


def _with_rules(best: Section, material: PromptMaterial, write: Write) -> Section:
    """Return the section with rules that the writer distilled and that quote nothing."""
    remarks = material.remarks()
    if not remarks:
        return best
    [reply] = write([guidelines_request(material.train.question, remarks)])
    rules = read_rules(reply or "", sources=[remark.source for remark in remarks])
    clean = tuple(rule for rule in rules if not material.is_quoted_in(rule.text))
    return replace(best, rules=clean) if clean else best
