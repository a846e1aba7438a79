"""The tools that agents are offered."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from eval_assets.cli.mcp import make_server
from tests.fake_provider.behaviour import Behaviour
from tests.fake_provider.server import running


def call(folder: Path, tool: str, **arguments: object) -> dict[str, Any]:
    """Return what a tool answers to a client in this process."""
    from fastmcp import Client

    async def ask() -> dict[str, Any]:
        server = make_server(folder, folder / "out" / "eval.duckdb")
        async with Client(server) as client:
            result = await client.call_tool(tool, arguments)
        return dict(result.structured_content)

    return asyncio.run(ask())


@pytest.mark.slow
def test_two_judges_are_asked_and_what_they_say_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = [{"id": 1, "content": "Paris."}, {"id": 2, "content": "Bananas."}]
    with running(Behaviour()) as provider:
        for name, value in provider.environment.items():
            monkeypatch.setenv(name, value)
        requested = {"query_id": 7, "query": "capital of France", "docs": docs}
        first = call(tmp_path, "store_dual_judge_scores", **requested)
        repeat = call(tmp_path, "store_dual_judge_scores", **requested)

    assert (first["query_id"], first["status"]) == (7, "success")
    assert len(first["judge1_scores"]) == len(first["judge2_scores"]) == 2
    assert first["n_calls"] == 4
    assert repeat["judge1_scores"] == first["judge1_scores"]
    assert repeat["n_calls"] == 0
    json.dumps(first, allow_nan=False)


def test_the_schema_names_the_fields_of_a_document(tmp_path: Path) -> None:
    server = make_server(tmp_path, tmp_path / "eval.duckdb")
    tool = asyncio.run(server.get_tool("store_dual_judge_scores"))

    assert tool is not None
    document = tool.parameters["properties"]["docs"]["items"]
    assert document["required"] == ["id", "content"]


def test_a_query_that_makes_no_sense_is_answered_with_every_fault(tmp_path: Path) -> None:
    from fastmcp.exceptions import ToolError

    with pytest.raises(ToolError) as raised:
        call(tmp_path, "store_dual_judge_scores", query_id=0, query=" ", docs=[{"id": 1}])

    assert [line.split(". ")[0] for line in str(raised.value).splitlines()] == [
        "query_id: 0 is not a positive integer",
        "query: the query is empty",
        "docs:1:content: the document has no content",
    ]


def test_results_are_read_and_their_absence_is_said(tmp_path: Path) -> None:
    (tmp_path / "responses.csv").write_text("response_id,prompt_text,response_text,model_name\n")
    rubric = "rubric: [{id: clarity, question: Is it clear?, scale: binary}]"
    (tmp_path / "evaluation.yaml").write_text(f"name: pilot\n{rubric}\n")

    from fastmcp.exceptions import ToolError

    with pytest.raises(ToolError, match="Nothing is measured yet"):
        call(tmp_path, "human_agreement")
    assert call(tmp_path, "certificates") == {"certificates": []}
    result = call(tmp_path, "gates")
    assert (result["evaluation"], result["gates"][0]["is_closed"]) == ("pilot", True)
