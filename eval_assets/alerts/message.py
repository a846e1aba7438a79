"""Alert on a change of state of a check or of an evaluation's runs."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["passed", "warned", "failed", "crashed"]


@dataclass(frozen=True)
class Alert:
    """One change of state, with the information to act on it.

    Args:
        number: Position among the alerts of its evaluation, from 1.
        evaluation: Name of the evaluation.
        subject: The check, as `asset/check`, or `run`.
        state: Its state now.
        before: Its state before; empty if it had none.
        since: When it came to this state, in ISO 8601.
        reason: Why, and what to do.
        value: What was measured; None if the check measures nothing.
        low: Lower end of the 95 % interval.
        high: Upper end of the 95 % interval.
        minimum: What the value is compared with.
        questions: Questions that do not pass.
        run_url: Page of the run that changed it.
        report: Path of the report.
    """

    number: int
    evaluation: str
    subject: str
    state: State
    before: str
    since: str
    reason: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    minimum: float | None = None
    questions: tuple[str, ...] = ()
    run_url: str = ""
    report: str = ""

    @property
    def title(self) -> str:
        """The change in one line."""
        was = f" (was {self.before})" if self.before else ""
        return f"{self.evaluation}: {self.subject} {self.state}{was}"

    @property
    def text(self) -> str:
        """Everything else, a line each."""
        lines = [self.reason]
        if self.value is not None and self.minimum is not None:
            interval = ""
            if self.low is not None and self.high is not None:
                interval = f", 95 % interval {self.low:z.3f} to {self.high:z.3f}"
            lines.append(f"Value {self.value:z.3f}, minimum {self.minimum:g}{interval}")
        if self.questions:
            lines.append(f"Questions: {', '.join(self.questions)}")
        lines.append(f"Since {self.since}")
        lines += [f"Run {self.run_url}"] if self.run_url else []
        lines += [f"Report {self.report}"] if self.report else []
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return it in the types of JSON."""
        return {**asdict(self), "questions": list(self.questions)}
