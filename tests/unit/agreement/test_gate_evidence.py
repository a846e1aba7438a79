"""The version of everything that agreement depends on."""

from dataclasses import replace
from pathlib import Path

import pytest

from eval_assets.agreement.gates.evidence import measures_version
from eval_assets.config.evaluation import Evaluation, Gate, GateName, default_gates
from eval_assets.config.judges import Judge
from eval_assets.config.rubric import RubricQuestion
from eval_assets.figures import RaterKind
from eval_assets.scale import LIKERT5, Scale

CLARITY = RubricQuestion("clarity", "Is it clear?", LIKERT5, "ordinal")
JUDGES = (Judge("gpt", "openai", "gpt-6-luna"), Judge("haiku", "anthropic", "claude-haiku-5-5"))
DECLARED = Evaluation("test", Path(), (CLARITY,), judges=JUDGES)


def gated(name: GateName, gate: Gate) -> Evaluation:
    return replace(DECLARED, gates={**default_gates(), name: gate})


@pytest.mark.parametrize(
    ("declared", "kinds"),
    [
        (replace(DECLARED, rubric=(replace(CLARITY, level="interval"),)), {"human"}),
        (gated("human_alpha", Gate(0.667, level="nominal")), {"human"}),
        (gated("judge_alpha", Gate(0.667, level="ordinal")), {"judge"}),
        (
            replace(DECLARED, rubric=(replace(CLARITY, scale=Scale(1, 7)),)),
            {"human", "judge"},
        ),
        (replace(DECLARED, judges=JUDGES[:1]), {"judge"}),
        (gated("human_alpha", Gate(0.9)), set()),
        (replace(DECLARED, rubric=(replace(CLARITY, question="Clear?"),)), set()),
    ],
    ids=["level", "gate's level", "judges' level", "scale", "judges", "minimum", "wording"],
)
def test_the_version_covers_what_decides_the_figures_and_nothing_else(
    declared: Evaluation, kinds: set[RaterKind]
) -> None:
    both: tuple[RaterKind, ...] = ("human", "judge")
    changed = {
        kind
        for kind in both
        if measures_version(declared, kind, data_version="v1")
        != measures_version(DECLARED, kind, data_version="v1")
    }
    assert changed == kinds
