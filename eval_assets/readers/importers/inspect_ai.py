"""Logs of inspect_ai, .eval or .json: each scorer is a judge, edited scores are human.

https://inspect.aisi.org.uk/eval-logs.html
"""

from collections.abc import Iterable, Iterator

from eval_assets.readers.importers.imported import Imported, Record, at, records_at, text_of

_LETTERS = {"C": 1, "P": 0.5, "I": 0, "N": 0}
"""Correct, partially correct, incorrect and no answer, as inspect_ai counts them."""

_UNCHANGED = "UNCHANGED"


def recognises(record: Record) -> bool:
    """Return whether a record is an eval log."""
    return isinstance(record.get("eval"), dict) and "samples" in record


def read(records: Iterable[Record], into: Imported) -> None:
    """Add the samples with a score for each scorer."""
    for log in records:
        model, task = at(log, "eval", "model"), at(log, "eval", "task")
        run = at(log, "eval", "run_id") or ""
        for sample in records_at(log, "samples"):
            name = f"{run}/{sample.get('id')}/{sample.get('epoch', 1)}"
            response_id = into.add_response(
                name,
                prompt=sample.get("input"),
                response=_output_of(sample),
                model=model,
                group_id=f"{task}/{sample.get('id')}",
                seed=sample.get("epoch"),
            )
            for scorer, score in (sample.get("scores") or {}).items():
                _add_scores(into, response_id, scorer, score)


def _output_of(sample: Record) -> str:
    choices = records_at(sample, "output", "choices")
    return text_of(at(choices[0], "message", "content")) if choices else ""


def _add_scores(into: Imported, response_id: str, scorer: str, score: Record) -> None:
    """Add the score of a scorer, or of each thing that it scores; the last edit by a person."""
    edits = records_at(score, "history")
    scored = edits[0] if edits else score
    for name, value in _values(scorer, scored.get("value")):
        into.add_score(response_id, name, scorer, value, reply=score.get("explanation"))
    for edit in edits[1:]:
        author = at(edit, "provenance", "author") or "editor"
        if edit.get("value") != _UNCHANGED:
            for name, value in _values(scorer, edit.get("value")):
                into.add_rating(response_id, name, author, value)


def _values(scorer: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield name and number of each value of a score."""
    for name, each in value.items() if isinstance(value, dict) else [(scorer, value)]:
        yield name, _LETTERS.get(each, each) if isinstance(each, str) else each
