"""Servers of Langfuse, LangSmith and Argilla on loopback, of what their clients ask for.

Run in an environment with the clients: `python recorded_tools.py TOOL FOLDER`. It prints its
address. The ratings are those of FOLDER/ratings.json, put into the clients' own API models; what is
written is kept in FOLDER/written.json.
"""

# ruff: noqa: PLC0415, PLR0911 - one client a tool, one answer a path

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import NAMESPACE_URL, uuid5

Reply = tuple[object, object]
"""What was written, None if nothing, and the answer."""

AT = datetime(2026, 1, 1, tzinfo=UTC).isoformat()
PAGE = 5


def number(name: str) -> str:
    """Return the id of a name."""
    return str(uuid5(NAMESPACE_URL, name))


def page(items: list[Any], query: Mapping[str, list[str]]) -> tuple[list[Any], str | None]:
    """Return the page at a cursor, and the next cursor."""
    start = int(query.get("cursor", ["0"])[0])
    end = start + PAGE
    return items[start:end], str(end) if end < len(items) else None


def langfuse(
    method: str, path: str, query: Mapping[str, list[str]], body: Any, content: Any
) -> Reply:
    """Answer as Langfuse: observations are the roots of traces, scores name their traces."""
    from langfuse.api.commons.types.observation_v2 import ObservationV2
    from langfuse.api.scores.types.score_v3 import ScoreV3_Numeric

    if method == "POST":
        return body, {"message": "Accepted"}
    base = {"project_id": "p", "created_at": AT, "updated_at": AT}
    if path.endswith("observations"):
        has_texts = "io" in query["fields"][0]
        items = [
            ObservationV2.model_validate(
                {
                    "id": f"root of {name}",
                    "trace_id": name,
                    "start_time": AT,
                    "type": "SPAN",
                    "is_root_observation": True,
                    "model": "m1",
                    "project_id": "p",
                    **({"input": json.dumps(prompt), "output": text} if has_texts else {}),
                }
            )
            for name, prompt, text in content["responses"]
        ]
    else:
        items = [
            ScoreV3_Numeric.model_validate(
                {
                    **base,
                    "id": f"{name} {rater}",
                    "name": question,
                    "value": value,
                    "source": "EVAL" if is_judge else "ANNOTATION",
                    "timestamp": AT,
                    "environment": "default",
                    "author_user_id": None if is_judge else rater,
                    "metadata": {"model": rater} if is_judge else None,
                    "subject": {"kind": "trace", "id": name},
                }
            )
            for name, question, rater, value, is_judge in content["ratings"]
        ]
    records, cursor = page([json.loads(item.json()) for item in items], query)
    return None, {"data": records, "meta": {"limit": PAGE, "cursor": cursor}}


def langsmith(
    method: str, path: str, query: Mapping[str, list[str]], body: Any, content: Any
) -> Reply:
    """Answer as LangSmith: runs have the fields that are selected, feedback is by run."""
    from langsmith.schemas import Feedback, Run, TracerSessionResult

    names = {number(name): name for name, _, _ in content["responses"]}
    match method, path.rsplit("/", 1)[-1]:
        case "GET", "info":
            return None, {"version": "0.13.0"}
        case "GET", "sessions":
            session = TracerSessionResult(
                id=number("p"),
                name="support",
                tenant_id=number("t"),
                reference_dataset_id=None,
                extra={"metadata": {"team": "a"}},
            )
            known = query["name"] == ["support"]
            return None, [json.loads(session.model_dump_json())] if known else []
        case "PATCH", _:
            answer = {"id": number("p"), "tenant_id": number("t"), "reference_dataset_id": None}
            return body, answer
        case "POST", "query":
            target = set(body.get("id") or names)
            runs = [
                Run(
                    id=number(name),
                    name="m1",
                    start_time=AT,
                    run_type="chain",
                    trace_id=number(name),
                    inputs={"question": prompt},
                    outputs={"output": text},
                )
                for name, prompt, text in content["responses"]
                if number(name) in target
            ]
            rows = [json.loads(run.model_dump_json(include=set(body["select"]))) for run in runs]
            rows, cursor = page(rows, {"cursor": [body.get("cursor") or "0"]})
            return None, {"runs": rows, "cursors": {"next": cursor}}
    target = set(query["run"])
    feedback = [
        Feedback(
            id=number(f"{name} {rater}"),
            created_at=AT,
            modified_at=AT,
            run_id=number(name),
            trace_id=number(name),
            key=question,
            score=value,
            feedback_source={
                "type": "model" if is_judge else "app",
                "metadata": {"model": rater} if is_judge else {},
                **({} if is_judge else {"user_name": rater}),
            },
        )
        for name, question, rater, value, is_judge in content["ratings"]
        if number(name) in target
    ]
    return None, [json.loads(item.model_dump_json()) for item in feedback]


def argilla(
    method: str, path: str, query: Mapping[str, list[str]], body: Any, content: Any
) -> Reply:
    """Answer as Argilla: a dataset with one question, and its records by offset."""
    steps = path.removeprefix("/api/v1/").split("/")
    times = {"inserted_at": AT, "updated_at": AT}
    owner = {"id": number("user"), "username": "owner", "role": "owner", **times}
    dataset = {
        "id": number("dataset"),
        "name": "support",
        "status": "ready",
        "guidelines": "Rate.",
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "workspace_id": number("workspace"),
        "last_activity_at": AT,
        **times,
    }
    of_dataset = {"dataset_id": number("dataset"), **times}
    fields = [
        {
            "id": number(name),
            "name": name,
            "title": name,
            "required": True,
            "settings": {"type": "text", "use_markdown": False},
            **of_dataset,
        }
        for name in ("prompt", "response")
    ]
    question = {
        "id": number("question"),
        "name": "helpful",
        "title": "helpful",
        "required": True,
        "settings": {"type": "rating", "options": [{"value": value} for value in range(1, 6)]},
        **of_dataset,
    }
    match method, steps[-1]:
        case "PATCH" | "PUT", _:
            return body, dataset if steps[-2] == "datasets" else question
        case "GET", "me":
            return None, owner
        case "GET", "workspaces":
            return None, {"items": [{"id": number("workspace"), "name": "default", **times}]}
        case "GET", "datasets":
            return None, {"items": [dataset]}
        case "GET", _ if steps[-2] == "workspaces":
            return None, {"id": number("workspace"), "name": "default", **times}
        case "GET", "fields":
            return None, {"items": fields}
        case "GET", "questions":
            return None, {"items": [question]}
        case "GET", "records":
            offset = int(query["offset"][0])
            rows = content["responses"][offset : offset + PAGE]
            return None, {"items": [argilla_record(row, content, of_dataset) for row in rows]}
        case "GET", _ if steps[-2:] == ["datasets", number("dataset")]:
            return None, dataset
    return None, {"items": []}


def argilla_record(row: Any, content: Any, of_dataset: Any) -> dict[str, object]:
    """Return a record with the responses and suggestions of its raters and judges."""
    record, prompt, text = row
    ratings = [item for item in content["ratings"] if item[0] == record]
    return {
        "id": number(record),
        "external_id": record,
        "status": "completed",
        "fields": {"prompt": prompt, "response": text},
        "metadata": {"model": "m1"},
        "vectors": {},
        "responses": [
            {
                "id": number(f"{record} {rater}"),
                "record_id": number(record),
                "user_id": number(rater),
                "status": "submitted",
                "values": {question: {"value": value}},
                **of_dataset,
            }
            for _, question, rater, value, is_judge in ratings
            if not is_judge
        ],
        "suggestions": [
            {
                "id": number(f"{record} {rater}"),
                "record_id": number(record),
                "question_id": number("question"),
                "value": value,
                "agent": rater,
                **of_dataset,
            }
            for _, _, rater, value, is_judge in ratings
            if is_judge
        ],
        **of_dataset,
    }


def main(tool: str, folder: Path) -> None:
    """Serve until the process is ended."""
    answer = {"langfuse": langfuse, "langsmith": langsmith, "argilla": argilla}[tool]

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            content = json.loads((folder / "ratings.json").read_text())
            address = urlsplit(self.path)
            written, reply = answer(
                self.command, address.path, parse_qs(address.query), body, content
            )
            if written is not None:
                with (folder / "written.json").open("a") as log:
                    log.write(json.dumps(written) + "\n")
            text = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_PUT = handle_any  # noqa: N815 - names of the base class

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)  # noqa: T201 - the caller reads it
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
