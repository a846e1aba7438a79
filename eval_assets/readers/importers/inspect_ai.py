"""Logs of inspect_ai, .eval or .json: each scorer is a judge, edited scores are human.

https://inspect.aisi.org.uk/eval-logs.html
"""

from collections.abc import Iterable, Iterator

from eval_assets.readers.importers.export_content import Export, Record, at, records_at

_LETTERS = {"C": 1, "P": 0.5, "I": 0, "N": 0}
"""Correct, partially correct, incorrect and no answer, as inspect_ai counts them."""

_UNCHANGED = "UNCHANGED"


def recognises(record: Record) -> bool:
    """Return whether a record is an eval log."""
    return isinstance(record.get("eval"), dict) and "samples" in record


def read(records: Iterable[Record], export: Export) -> None:
    """Add the samples with a score for each scorer."""
    for log in records:
        run, task = at(log, "eval", "run_id") or "", at(log, "eval", "task")
        for sample in records_at(log, "samples"):
            choices = records_at(sample, "output", "choices")
            response_id = export.add_response(
                f"{run}/{sample.get('id')}/{sample.get('epoch', 1)}",
                prompt=sample.get("input"),
                response=at(choices[0], "message", "content") if choices else "",
                model=at(log, "eval", "model"),
                group_id=f"{task}/{sample.get('id')}",
                seed=sample.get("epoch"),
            )
            for scorer, score in (sample.get("scores") or {}).items():
                _add_scores(export, response_id, scorer, score)


def _add_scores(export: Export, response_id: str, scorer: str, score: Record) -> None:
    """Add the original score of a scorer, and its edits by people."""
    original, *edits = records_at(score, "history") or [score]
    for name, value in _values(scorer, original.get("value")):
        export.add_score(response_id, name, scorer, value, reply=score.get("explanation"))
    for edit in edits:
        author = at(edit, "provenance", "author") or "editor"
        if edit.get("value") != _UNCHANGED:
            for name, value in _values(scorer, edit.get("value")):
                export.add_rating(response_id, name, author, value)


def _values(scorer: str, score: object) -> Iterator[tuple[str, object]]:
    """Yield name and number of each value of a score."""
    for name, value in score.items() if isinstance(score, dict) else [(scorer, score)]:
        yield name, _LETTERS.get(value, value) if isinstance(value, str) else value
