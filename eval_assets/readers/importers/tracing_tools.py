"""Exports of tools that trace applications: MLflow, LangSmith, Phoenix and the like."""

from collections import Counter
from collections.abc import Iterable

from eval_assets.readers.importers.export_content import (
    Export,
    Record,
    at,
    from_json,
    importer,
    object_at,
    rating_of,
    records_at,
    text_of,
)


def _is_of_mlflow(record: Record) -> bool:
    trace = at(record, "trace") or record
    if isinstance(at(trace, "info.assessments"), list):
        return True
    is_trace = "assessments" in record and ("trace_id" in record or "request" in record)
    # Others have assessments, too: these say whose they are.
    kinds = [at(of, "source") is not None for of in records_at(record, "assessments")]
    return is_trace and isinstance(record["assessments"], list) and all(kinds)


@importer("mlflow", _is_of_mlflow)
def read_mlflow(records: Iterable[Record], export: Export) -> None:
    """Add the traces: feedback by people is a rating, any other a judge's score.

    MLflow: traces with assessments, as JSON of traces or as rows of `search_traces`.
    https://mlflow.org/docs/latest/genai/assessments/feedback/
    """
    for row in records:
        trace = row.get("trace")
        record = trace if isinstance(trace, dict) else row
        if record is trace:  # the other columns repeat it
            for key in row.keys() - {"trace"}:
                text_of(row[key])
        info = record.get("info") or record
        response_id = export.add_response(
            at(info, "trace_id", "request_id"),
            prompt=_mlflow_text(record, info, "request", "mlflow.spanInputs", export),
            response=_mlflow_text(record, info, "response", "mlflow.spanOutputs", export),
            model=at(info, "tags.model", "trace_metadata.model"),
        )
        for assessment in records_at(info, "assessments"):
            name = str(at(assessment, "assessment_name", "name"))
            value, kind = at(assessment, "feedback.value"), at(assessment, "source.source_type")
            rater = at(assessment, "source.source_id") or kind
            if at(assessment, "feedback") is None:
                export.notes["assessments are expectations, not feedback"] += 1
            elif at(assessment, "valid") is False:
                export.notes["assessments were overwritten later"] += 1
            elif kind in ("LLM_JUDGE", "AI_JUDGE", "CODE"):
                export.add_score(response_id, name, rater, value, reply=assessment.get("rationale"))
            else:
                remark, time = assessment.get("rationale"), at(assessment, "create_time")
                export.add_rating(response_id, name, rater, value, at=time, remark=remark)


def _mlflow_text(record: Record, info: Record, key: str, attribute: str, export: Export) -> object:
    """Return a text of a trace: from its row, its first span, or else a preview."""
    roots = (s for s in records_at(record, "data.spans") if not s.get("parent_span_id"))
    whole = at(record, key) or at(next(roots, {}), f"attributes.{attribute}")
    text = whole or at(info, f"{key}_preview", key)
    if text is not whole and len(str(text)) >= _PREVIEW:
        export.notes["texts are previews, cut after 1,000 characters"] += 1
    return from_json(text)


_PREVIEW = 1_000


@importer(
    "langsmith",
    lambda record: record.keys() >= {"key", "run_id"} or record.keys() >= {"run_type", "inputs"},
)
def read_langsmith(records: Iterable[Record], export: Export) -> None:
    """Add runs as responses, and their feedback.

    LangSmith: exported runs and feedback; feedback from the app is human, from models a judge's.
    https://docs.langchain.com/langsmith/feedback-data-format
    """
    summarised = Counter[str]()
    for record in records:
        if "run_type" not in record:
            _read_feedback(record, export, run=str(record.get("run_id")))
            continue
        metadata = at(record, "extra.metadata")
        response_id = export.add_response(
            record.get("id"),
            prompt=record.get("inputs"),
            response=record.get("outputs"),
            model=at(metadata, "ls_model_name", "model") or record.get("name"),
            group_id=record.get("reference_example_id"),
        )
        for item in records_at(record, "feedback"):
            _read_feedback(item, export, run=response_id)
        # A mean mixes the ratings of people with scores of judges.
        for stats in object_at(record, "feedback_stats").values():
            n_rated = at(stats, "n")
            summarised[response_id] += n_rated if isinstance(n_rated, int) else 1
    rated = {response_id for response_id, _, _ in (*export.ratings, *export.scores)}
    n_lost = sum(n for response_id, n in summarised.items() if response_id not in rated)
    if n_lost:
        export.losses["ratings or scores are only in means by run; export the feedback"] += n_lost


def _read_feedback(feedback: Record, export: Export, *, run: str) -> None:
    key = str(feedback.get("key"))
    score, value = feedback.get("score"), feedback.get("value")
    rating = value if rating_of(value) is not None and score is None else score
    source = feedback.get("feedback_source")
    kind = at(source, "type")
    if kind in ("model", "auto_eval", "autoeval"):
        judge = at(source, "metadata.model") or f"{key} ({kind})"
        export.add_score(run, key, judge, rating, reply=feedback.get("comment"))
    else:
        rater = at(source, "user_name", "user_id", "ls_user_id") or kind
        remark, time = feedback.get("comment"), feedback.get("created_at")
        export.add_rating(run, key, rater, rating, at=time, remark=remark)


_SPAN = ("context.span_id", "span_id", "trace_id")


@importer(
    "phoenix",
    lambda record: (
        None not in (at(record, "annotator_kind"), at(record, *_SPAN))
        or at(record, "attributes.output.value") is not None
    ),
)
def read_phoenix(records: Iterable[Record], export: Export) -> None:
    """Add spans as responses, and their annotations.

    Phoenix: exported spans and their annotations, by people, models or code.
    https://arize.com/docs/phoenix/tracing/how-to-tracing/feedback-and-annotations/capture-feedback
    """
    for record in records:
        if at(record, "annotator_kind") is None:
            export.add_response(
                at(record, "context.span_id", "span_id", "id"),
                prompt=at(record, "attributes.input.value"),
                response=at(record, "attributes.output.value"),
                model=at(record, "attributes.llm.model_name", "name"),
                convo_id=at(record, "attributes.session.id"),
            )
            continue
        response_id = str(at(record, *_SPAN))
        name = str(at(record, "annotation_name", "name"))
        result = record.get("result") or {
            key: at(record, f"result.{key}", key) for key in ("score", "label")
        }
        value = at(result, "score", "label")
        kind = str(at(record, "annotator_kind"))
        if kind == "HUMAN":
            user = at(record, "user_id", "username", "identifier") or kind
            export.add_rating(response_id, name, user, value, at=record.get("created_at"))
        else:
            reply = at(result, "explanation") or at(record, "result.explanation")
            judge = at(record, "metadata.model") or f"{name} ({kind.lower()})"
            export.add_score(response_id, name, judge, value, reply=reply)


_HUMAN = "ANNOTATION"
_TRACE_KEYS = ("html_path", "session_id", "project_id")


@importer(
    "langfuse",
    lambda record: (
        _is_score(record)
        or (at(record, "scores") is not None and at(record, *_TRACE_KEYS) is not None)
    ),
)
def read_langfuse(records: Iterable[Record], export: Export) -> None:
    """Add traces and observations as responses, annotations as ratings, others as scores.

    Langfuse: exported traces and scores, from the API, the interface or blob storage.
    https://langfuse.com/docs/api-and-data-platform/features/export-from-ui
    """
    for record in records:
        if _is_score(record):
            _read_score(record, export, trace=None)
            continue
        export.add_response(
            at(record, "id", "trace_id"),
            prompt=from_json(at(record, "input")),
            response=from_json(at(record, "output")),
            model=at(record, "model", "model_id", "name"),
            convo_id=at(record, "session_id"),
        )
        for score in records_at(record, "scores"):
            _read_score(score, export, trace=at(record, "id"))


def _is_score(record: Record) -> bool:
    return at(record, "source") in (_HUMAN, "API", "EVAL") and at(record, "name") is not None


def _read_score(score: Record, export: Export, *, trace: object) -> None:
    name, source = str(at(score, "name")), at(score, "source")
    response_id = at(score, "observation_id", "trace_id", "trace.id") or trace
    response_id = response_id or at(score, "subject.id")
    if response_id is None:
        export.losses[f"scores of {name} do not say of what; export them with their subject"] += 1
        return
    is_word = at(score, "data_type") == "CATEGORICAL"
    value = at(score, *(("string_value", "value") if is_word else ("value", "string_value")))
    if source == _HUMAN:
        rater = at(score, "author_user_id", "author_user_name", "author")
        remark, time = at(score, "comment"), at(score, "timestamp")
        export.add_rating(str(response_id), name, rater, value, at=time, remark=remark)
    else:
        judge = at(score, "metadata.model") or f"{name} ({str(source).lower()})"
        export.add_value(str(response_id), name, judge, value, reply=at(score, "comment"))


_PREFIX = "scores."


@importer(
    "braintrust",
    lambda record: (
        (isinstance(record.get("scores"), dict) or any(key.startswith(_PREFIX) for key in record))
        and record.keys() >= {"input", "output"}
    ),
)
def read_braintrust(records: Iterable[Record], export: Export) -> None:
    """Add each row with its scores; only their names separate people's from automatic ones.

    Braintrust: an exported experiment or log, JSON or CSV; scores are judges' or people's by name.
    https://www.braintrust.dev/docs/annotate/export
    """
    for record in records:
        if at(record, "span_attributes.type") == "score" or record.get("is_root") is False:
            export.notes["rows are spans below a row, not rows"] += 1
            continue
        response_id = export.add_response(
            record.get("id"),
            prompt=record.get("input"),
            response=record.get("output"),
            model=at(record.get("metadata"), "model", "model_name"),
        )
        flat = {k.removeprefix(_PREFIX): record[k] for k in record if k.startswith(_PREFIX)}
        for name, value in (object_at(record, "scores") or flat).items():
            if value not in (None, ""):
                export.add_value(response_id, name, "braintrust", value)


_EVENT = "gen_ai.evaluation.result"
_SCORE = "gen_ai.evaluation.score."


@importer("opentelemetry", lambda record: isinstance(record.get("resourceLogs"), list))
def read_opentelemetry(records: Iterable[Record], export: Export) -> None:
    """Add each event as a score of a judge, which has the name of the event's scope.

    OpenTelemetry: events `gen_ai.evaluation.result` in OTLP JSON; each is a judge's score.
    https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-events.md
    """
    for record in records:
        for resource in records_at(record, "resourceLogs"):
            for scope in records_at(resource, "scopeLogs"):
                for event in records_at(scope, "logRecords"):
                    _read_event(event, str(at(scope, "scope.name") or "judge"), export)


def _read_event(event: Record, scope: str, export: Export) -> None:
    values = {
        str(attribute.get("key")): next(iter(object_at(attribute, "value").values()), None)
        for attribute in records_at(event, "attributes")
    }
    if _EVENT not in (event.get("eventName"), values.get("event.name")):
        export.notes["log records are other events than evaluations"] += 1
        return
    response_id = values.get("gen_ai.response.id") or at(event, "spanId", "traceId")
    if not response_id:
        export.notes["evaluations do not say of which response"] += 1
        return
    name = str(values.get("gen_ai.evaluation.name"))
    export.add_response(response_id)
    value = values.get(f"{_SCORE}value", values.get(f"{_SCORE}label"))
    reply = values.get("gen_ai.evaluation.explanation") or values.get("error.type")
    export.add_score(str(response_id), name, scope, value, reply=reply)
