"""Figures of one run as rows of `agreement_history`."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from eval_assets.catalogue import UNDEFINED_FIGURE, Figure
from eval_assets.figures import HumanFigures, JudgeFigures
from eval_assets.wording import or_none


def history_rows(
    humans: Sequence[HumanFigures],
    judges: Sequence[JudgeFigures],
    *,
    run_id: str,
    at: datetime,
) -> Iterator[Mapping[str, object]]:
    """Yield a row of `agreement_history` for each question that a run measured, and one over all.

    Args:
        humans: Agreement of humans, overall and by question.
        judges: Agreement of judges likewise.
        run_id: Id of the run.
        at: When it measured.
    """
    by_question = {row.question_id: row for row in judges}
    for row in humans:
        of_judges = by_question.get(row.question_id)
        versions = [row.data_version, *([of_judges.data_version] if of_judges else [])]
        yield {
            "run_id": run_id,
            "measured_at": at,
            "scope": row.scope.value,
            "question_id": row.question_id,
            **_columns("a_hh", row.a_hh),
            **_columns("alpha", row.alpha),
            **_columns("judge_alpha", of_judges.alpha if of_judges else UNDEFINED_FIGURE),
            "data_version": " ".join(versions),
            "judge_set_fingerprint": of_judges.judge_set_fingerprint if of_judges else None,
        }


def _columns(name: str, figure: Figure) -> dict[str, float | None]:
    return {
        name: or_none(figure.value),
        f"{name}_low": or_none(figure.low),
        f"{name}_high": or_none(figure.high),
    }
