"""Content of real MLflow and Label Studio servers, put there and taken from there by their clients.

Run in an environment with the clients: `python real_tools.py TOOL URL ACTION [FILE]`.
"""

# ruff: noqa: C901, PLC0415 - one client a tool, one action a branch

import json
import sys
from pathlib import Path
from typing import Any

ADDED = ("t99", "Why 99?", "Because 99.")


def mlflow(url: str, action: str, file: Path | None) -> object:
    """Seed, change or export an experiment, or return its tags."""
    import mlflow
    from mlflow.entities import AssessmentSource, Feedback, Trace

    client = mlflow.MlflowClient(url)
    mlflow.set_tracking_uri(url)
    mlflow.set_experiment("support")
    experiment = client.get_experiment_by_name("support")

    def trace(prompt: str, text: str) -> str:
        span = mlflow.start_span_no_context("answer", inputs={"question": prompt})
        span.end(outputs=text)
        mlflow.flush_trace_async_logging()
        return str(span.trace_id)

    def rate(trace_id: str, question: str, rater: str, value: object, *, is_judge: bool) -> None:
        kind = "LLM_JUDGE" if is_judge else "HUMAN"
        source = AssessmentSource(source_type=kind, source_id=rater)
        mlflow.log_feedback(trace_id=trace_id, name=question, value=value, source=source)

    def traces() -> Any:
        return client.search_traces(
            locations=[experiment.experiment_id], order_by=["timestamp_ms ASC"]
        )

    def feedback(of: Trace, rater: str) -> Feedback:
        return next(a for a in of.info.assessments if a.source.source_id == rater)

    match action:
        case "seed":
            content = json.loads(file.read_text()) if file else {}
            ids = {name: trace(prompt, text) for name, prompt, text in content["responses"]}
            for name, question, rater, value, is_judge in content["ratings"]:
                rate(ids[name], question, rater, value, is_judge=is_judge)
        case "change":
            first, second, *_ = traces()
            edited = feedback(first, "anna")
            mlflow.override_feedback(
                trace_id=first.info.trace_id,
                assessment_id=edited.assessment_id,
                value=5,
                source=edited.source,
            )
            deleted = feedback(second, "ben")
            mlflow.delete_assessment(second.info.trace_id, deleted.assessment_id)
            added = trace(*ADDED[1:])
            for rater in ("anna", "ben"):
                rate(added, "helpful", rater, 4, is_judge=False)
        case "export" if file:
            file.write_text(json.dumps([trace.to_dict() for trace in traces()]))
        case "verdicts":
            return dict(client.get_experiment_by_name("support").tags)
    return None


def label_studio(url: str, action: str, file: Path | None) -> object:
    """Seed, change or export a project, or return its description."""
    from label_studio_sdk import LabelStudio

    client = LabelStudio(base_url=url)
    project = next((p for p in client.projects.list() if p.title == "support"), None)
    if project is None:
        config = (
            '<View><Text name="text" value="$response"/>'
            '<Rating name="helpful" toName="text" maxRating="5"/></View>'
        )
        project = client.projects.create(title="support", label_config=config)

    def user(name: str) -> int:
        address = f"{name}@example.org"
        users = {user.email: user.id for user in client.users.list()}
        return int(users.get(address) or client.users.create(email=address, username=name).id)

    def result(value: int) -> list[dict[str, Any]]:
        names = {"from_name": "helpful", "to_name": "text", "type": "rating"}
        return [{**names, "value": {"rating": value}}]

    def task(name: str, prompt: str, text: str) -> int:
        data = {"response_id": name, "prompt": prompt, "response": text, "model": "m1"}
        return int(client.tasks.create(project=project.id, data=data).id)

    def rate(task_id: int, rater: str, value: int, *, is_judge: bool) -> None:
        if is_judge:
            client.predictions.create(task=task_id, model_version=rater, result=result(value))
        else:
            client.annotations.create(id=task_id, result=result(value), completed_by=user(rater))

    def annotation(task_id: int, rater: str) -> int:
        of = client.annotations.list(id=task_id)
        return int(next(a.id for a in of if a.completed_by == user(rater)))

    match action:
        case "seed":
            content = json.loads(file.read_text()) if file else {}
            ids = {row[0]: task(*row) for row in content["responses"]}
            for name, _, rater, value, is_judge in content["ratings"]:
                rate(ids[name], rater, value, is_judge=is_judge)
        case "change":
            ids = {t.data["response_id"]: t.id for t in client.tasks.list(project=project.id)}
            client.annotations.update(id=annotation(ids["t0"], "anna"), result=result(5))
            client.annotations.delete(id=annotation(ids["t1"], "ben"))
            added = task(*ADDED)
            for rater in ("anna", "ben"):
                rate(added, rater, 4, is_judge=False)
        case "export" if file:
            file.write_text(json.dumps(client.projects.exports.as_json(project.id)))
        case "verdicts":
            return client.projects.get(project.id).description
    return None


if __name__ == "__main__":
    tool, url, action, *files = sys.argv[1:]
    act = {"mlflow": mlflow, "label-studio": label_studio}[tool]
    print(json.dumps(act(url, action, Path(files[0]) if files else None)))  # noqa: T201 - for tests
