"""The evaluation as evaluation.yaml declares it.

Each section of the file is one frozen dataclass: its fields are the keys, with their defaults and
limits (`eval_assets.config.types`). Rules over several keys are checked in `__post_init__`, which
raises a DeclarationError. A new section is such a dataclass and one field of `Evaluation`: the
readers take it from there, files included (a field of type `Path` is a file of the folder).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import MinLen

from eval_assets.catalogue import ALPHA, GATED, MeasurementUnit
from eval_assets.config.judges import DualJudge, Generator, Judge, Staged, judge_fingerprint
from eval_assets.config.labelling import Labelling
from eval_assets.config.models import Price
from eval_assets.config.operations import (
    Alerts,
    Currency,
    Drift,
    Judging,
    Schedule,
)
from eval_assets.config.rubric import PAIR_COLUMNS, RubricQuestion
from eval_assets.config.tuning import Tuning
from eval_assets.config.types import Name, NotNegative, Text, set_by_reader
from eval_assets.errors import Fault, raise_faults
from eval_assets.scale import TOLERANCE, Level

FILE = "evaluation.yaml"

Severity = Literal["error", "warn"]
OnError = Literal["fail", "reject_rows"]
GateName = Literal[
    "human_a_hh",
    "human_alpha",
    "judge_alpha",
    "exact_agreement",
    "adjacent_agreement",
    "kappa",
    "gwet_ac",
]
SHIPPED_PROMPTS = ("rating", "relevance", "relevance-number")
"""Prompts that ship with the program, which `judge_prompt` may name instead of a file."""

_PAIR = 2
_MOST_JURORS = 8


@dataclass(frozen=True)
class LabelFiles:
    """Files of human ratings.

    Args:
        files: Label files.
        on_error: Handling of bad labels: `fail` the import, or `reject_rows` one by one.
        are_named: Whether the evaluation names the files, if only as an empty list.
    """

    files: tuple[Path, ...] = ()
    on_error: OnError = "fail"
    are_named: bool = field(default=False, metadata=set_by_reader("are named"))


@dataclass(frozen=True)
class Gate:
    """A minimum that agreement must reach before judges may be tuned.

    Args:
        minimum: Lowest value that passes, unrounded.
        severity: Whether a closed gate blocks (`error`) or only warns (`warn`).
        level: Level of measurement for alpha; None for each question's own, of judges `interval`.
        by: Compared with the minimum: the `value`, or the lower end of its interval (`low`).
    """

    minimum: float = field(metadata={"alias": "min"})
    severity: Severity = "error"
    level: Level | None = None
    by: Literal["value", "low"] = "value"

    def is_reached(self, *, value: float, low: float) -> bool:
        """Return whether a figure, or the lower end of its interval, reaches the minimum."""
        return (value if self.by == "value" else low) >= self.minimum - TOLERANCE


USUAL_MINIMUMS: Mapping[GateName, float] = {
    "human_a_hh": 0.75,
    "human_alpha": 0.667,
    "judge_alpha": 0.667,
}
"""0.75 is where A^HH is called good agreement (GDPval's bands), 0.667 where Krippendorff (2004)
allows tentative conclusions."""


def default_gates() -> dict[GateName, Gate]:
    """Return the default gates."""
    return {name: Gate(minimum=minimum) for name, minimum in USUAL_MINIMUMS.items()}


@dataclass(frozen=True)
class ExecutiveSummary:
    """A few paragraphs at the top of the report, written by a judge from its figures alone.

    Args:
        judge: Id of the live judge that writes them.
    """

    judge: Name


@dataclass(frozen=True)
class Evaluation:
    """Everything that evaluation.yaml declares, checked.

    Args:
        name: Name of the evaluation.
        folder: The evaluation folder, which holds evaluation.yaml.
        rubric: Questions, in the declared order.
        responses: Response files, in the order in which they are merged.
        labels: Label files, and the handling of bad labels.
        judges: LLM raters; without any the human side runs alone.
        gates: Gates by name. The first three are there by default, others if they are declared.
        budget_usd: Most that one run may spend on judges and generators; None for no cap.
        budget_usd_per_month: Most that all runs of one calendar month (UTC) may spend.
        currency: Currency of the log of costs and of a monthly limit.
        judge_prompt: Template of the judges' prompt; None for the one that ships.
        staged: Conditions for one judge of the first pair; None to ask all about everything.
        dual_judge: Target for the agreement of two judges, and limits of listed differences.
        generators: Models that respond to the prompts; empty if there are responses.
        prompts: Prompt files for the generators.
        prices: Prices by model, which take precedence over those of genai-prices.
        capabilities: Capabilities by model, which take precedence over those that ship.
        tuning: Settings of judge tuning.
        labelling: Settings of labelling.
        schedule: Times of automatic runs; None for no schedule.
        alerts: Changes to report.
        judging: Division of the work of live judges.
        drift: Monitoring of live judges for changes; None to judge nothing again.
        executive_summary: Judge that writes a summary of the report; None for no summary.

    Raises:
        DeclarationError: If two entries share an id, a gate cannot have its minimum, fewer than
            two judges are staged, staged judges are split into shards, or an owner is neither an
            address nor a team.
    """

    name: Text
    folder: Path = field(metadata=set_by_reader("folder"))
    rubric: Annotated[tuple[RubricQuestion, ...], MinLen(1)]
    responses: tuple[Path, ...] = ()
    labels: LabelFiles = field(default_factory=LabelFiles)
    judges: tuple[Judge, ...] = ()
    gates: Mapping[GateName, Gate] = field(default_factory=default_gates)
    budget_usd: NotNegative | None = None
    budget_usd_per_month: NotNegative | None = None
    currency: Currency = field(default_factory=Currency)
    judge_prompt: Path | None = None
    staged: Staged | None = None
    dual_judge: DualJudge = field(default_factory=DualJudge)
    generators: tuple[Generator, ...] = ()
    prompts: tuple[Path, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)
    capabilities: Mapping[str, Mapping[str, bool | str]] = field(default_factory=dict)
    tuning: Tuning = field(default_factory=Tuning)
    labelling: Labelling = field(default_factory=Labelling)
    schedule: Schedule | None = None
    alerts: Alerts = field(default_factory=Alerts)
    judging: Judging = field(default_factory=Judging)
    drift: Drift | None = None
    executive_summary: ExecutiveSummary | None = None

    def __post_init__(self) -> None:
        faults = [
            *_repeated("rubric", [question.id for question in self.rubric]),
            *self._option_id_faults(),
            *self._compared_column_faults(),
            *_repeated("judges", [judge.id for judge in self.judges]),
            *_repeated("generators", [generator.id for generator in self.generators]),
            *self._twin_faults(),
            *self._backup_faults(),
            *_gate_faults(self.gates),
            *self._jury_faults(),
            *self._writer_faults(),
        ]
        if None not in (self.budget_usd_per_month, self.currency.limit_per_month):
            message = "budget_usd_per_month limits a month as well"
            faults.append(Fault(("currency", "limit_per_month"), message, "Remove one of them"))
        if self.staged is not None and len(self.judges) < _PAIR:
            remedy = "Declare a second judge, or remove it"
            faults.append(Fault(("staged",), "staging takes two judges", remedy))
        if self.staged is not None and self.judging.shards > 1:
            message = "staged judging goes through the units one after the other"
            faults.append(Fault(("judging", "shards"), message, "Remove shards, or staged"))
        raise_faults(faults)
        measured = tuple(item for question in self.rubric for item in question.measured())
        object.__setattr__(self, "rubric", measured)

    @property
    def month_cap_usd(self) -> float | None:
        """Limit of spending of all runs in a calendar month (UTC); None for no cap."""
        if self.currency.limit_per_month is None:
            return self.budget_usd_per_month
        return self.currency.limit_per_month / self.currency.per_usd

    def _option_id_faults(self) -> Iterator[Fault]:
        """Yield questions with the id of an option, whose labels would be mixed up."""
        options = {item.id for q in self.rubric if q.options for item in q.measured()}
        for index, question in enumerate(self.rubric):
            if question.id in options:
                message = f'the id "{question.id}" is that of an option'
                yield Fault(("rubric", index, "id"), message, "Give the question another id")

    def _compared_column_faults(self) -> Iterator[Fault]:
        """Yield `show` and `hide` of the compared columns, whose sides are drawn at random."""
        if all(question.type != "pairwise" for question in self.rubric):
            return
        for key, columns in (("show", self.labelling.show), ("hide", self.labelling.hide)):
            for index, column in enumerate(columns):
                if column in PAIR_COLUMNS:
                    message = f"{column} is one of the two answers that raters compare"
                    yield Fault(("labelling", key, index), message, "Remove it")

    def _twin_faults(self) -> Iterator[Fault]:
        """Yield judges that equal another one except for the id, and would agree perfectly."""
        first: dict[tuple[str, Path | None], str] = {}
        for index, judge in enumerate(self.judges):
            same = (judge_fingerprint(judge, settings=judge.settings, prompt=""), judge.scores)
            twin = first.setdefault(same, judge.id)
            if twin != judge.id:
                message = f'"{judge.id}" is the same judge as "{twin}": model, settings and scores'
                yield Fault(("judges", index), message, "Remove one of them, or change its model")

    @property
    def live_judges(self) -> tuple[Judge, ...]:
        """The declared judges without recorded ones."""
        return tuple(judge for judge in self.judges if judge.provider != "recorded")

    @property
    def primary_judges(self) -> tuple[Judge, ...]:
        """The declared judges without backups."""
        return tuple(judge for judge in self.judges if not judge.backup)

    def _backup_faults(self) -> Iterator[Fault]:
        """Yield backup judges without a judge to replace, or beside staged judges."""
        if self.judges and not self.primary_judges:
            yield Fault(("judges",), "all judges are backups", "Declare a judge that is none")
        if self.staged is not None and len(self.primary_judges) < len(self.judges):
            message = "staged judging asks one judge of two, and takes no backup"
            yield Fault(("staged",), message, "Remove the backup judge, or staged")

    def _jury_faults(self) -> Iterator[Fault]:
        if "jury" not in self.tuning.steps:
            return
        if not _PAIR <= len(self.judges) <= _MOST_JURORS:
            message = (
                f"a jury takes {_PAIR} to {_MOST_JURORS} judges, and there are {len(self.judges)}"
            )
            yield Fault(("tuning", "steps"), message, "Remove the step, or change the judges")
        if "jury" in [judge.id for judge in self.judges]:
            yield Fault(("judges",), 'the id "jury" is the jury\'s own', "Rename that judge")

    def _writer_faults(self) -> Iterator[Fault]:
        live = [judge.id for judge in self.live_judges]
        writers = {("tuning", "writer"): self.tuning.writer}
        if self.executive_summary is not None:
            writers["executive_summary", "judge"] = self.executive_summary.judge
        for path, writer in writers.items():
            if writer is not None and writer not in live:
                remedy = f"Use {', '.join(live)}" if live else "Declare a live judge"
                yield Fault(path, f'no live judge has the id "{writer}"', remedy)

    def question(self, question_id: str) -> RubricQuestion:
        """Return the question with that id.

        Raises:
            KeyError: If the rubric has none of that name.
        """
        return {question.id: question for question in self.rubric}[question_id]

    def asked(self, response: Mapping[str, object]) -> tuple[RubricQuestion, ...]:
        """Return the questions about a response: the one its indicator names, otherwise all.

        Args:
            response: Its columns by name, as text, and its attributes likewise; at least
                `indicator_id` and `filter_columns`.
        """
        indicator = response.get("indicator_id")
        named = tuple(q for q in self.rubric if indicator in q.names) or self.rubric
        return tuple(question for question in named if question.applies(response))

    @property
    def filter_columns(self) -> tuple[str, ...]:
        """Columns of responses that limit questions to some of them."""
        return tuple(dict.fromkeys(column for q in self.rubric for column in q.applies_to))


def _repeated(section: str, ids: Sequence[str]) -> Iterator[Fault]:
    for index, name in enumerate(ids):
        if name in ids[:index]:
            message = f'the id "{name}" is repeated'
            yield Fault((section, index, "id"), message, "Give each entry its own id")


def _gate_faults(gates: Mapping[GateName, Gate]) -> Iterator[Fault]:
    for name, gate in gates.items():
        statistic = GATED[name]
        least = 1.0 if statistic.highest > 1 else statistic.lowest  # 0.75 for 75 % is a mistake
        if not least <= gate.minimum <= statistic.highest:
            message = f"{gate.minimum:g} cannot be a minimum of this gate"
            remedy = f"Use a number from {least:g} to {statistic.highest:g}"
            unit = ", in percent" if statistic.unit is MeasurementUnit.PERCENT else ""
            yield Fault(("gates", name, "min"), message, f"{remedy}{unit}")
        if statistic is not ALPHA and gate.level is not None:
            message = f"{statistic.title} has no level of measurement"
            yield Fault(("gates", name, "level"), message, "Remove it")
