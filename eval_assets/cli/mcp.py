"""`eval-assets mcp`: judging and results as tools of the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import click

from eval_assets.cli.exit_codes import DONE, EXPECTED
from eval_assets.cli.options import data_option, database_option, resolve_database
from eval_assets.errors import leaves

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fastmcp import FastMCP


@click.command()
@data_option
@database_option
def mcp(data: Path, database: str | None) -> int:
    """Offer tools to an agent on standard input and output, by the Model Context Protocol.

    store_dual_judge_scores asks two judges, within the budget, and stores their scores;
    human_agreement, gates and certificates only read. Needs the extra: pip install
    'eval-assets[mcp]'.
    """
    try:
        server = make_server(data, resolve_database(data, database))
    except ModuleNotFoundError as error:
        if error.name != "fastmcp":
            raise
        raise click.UsageError("FastMCP is missing: pip install 'eval-assets[mcp]'") from error
    server.run(show_banner=False)
    return DONE


def make_server(data: Path, database: Path) -> FastMCP:
    """Return the server with its tools.

    Raises:
        ModuleNotFoundError: If FastMCP is not installed.
    """
    from fastmcp import FastMCP
    from fastmcp.exceptions import ToolError
    from pydantic import WithJsonSchema

    from eval_assets.cli.dual_judging import of_one_query, store_dual_judge_scores
    from eval_assets.cli.results import stored_certificates, stored_gates, stored_irr
    from eval_assets.readers.documents import document_query
    from eval_assets.readers.evaluation.read import read_evaluation

    server: FastMCP = FastMCP("eval-assets", instructions="Can this LLM judge be trusted?")

    def ask(query_id: int, query: str, docs: list[dict[str, Any]]) -> dict[str, Any]:
        """Ask two judges how relevant each document is to a query, from 0 to 1, and store it.

        Nothing is asked again that was answered before; a missing score is null.
        """
        return _answer(
            lambda: of_one_query(
                store_dual_judge_scores([document_query(query_id, query, docs)], data, database)
            )
        )

    # Only its schema: what is wrong with a document is said by the product, all at once.
    fields = {"id": {"type": "integer"}, "content": {"type": "string"}}
    schema = {"type": "object", "properties": fields, "required": [*fields]}
    ask.__annotations__["docs"] = list[Annotated[dict[str, Any], WithJsonSchema(schema)]]

    def human_agreement() -> dict[str, Any]:
        """Return the agreement of human raters, by question and overall, as measured last."""
        result = _answer(lambda: stored_irr(data, database) or {})
        if not result:
            raise ToolError(f"Nothing is measured yet. Run: eval-assets run --data {data}")
        return result

    def gates() -> dict[str, Any]:
        """Return whether judges may be tuned: each gate's verdict on the data as it is now."""
        return _answer(
            lambda: {
                "evaluation": read_evaluation(data).name,
                "gates": stored_gates(data, database),
            }
        )

    def certificates() -> dict[str, Any]:
        """Return which judge can replace a rater on which question, and whether it holds."""
        return _answer(lambda: {"certificates": stored_certificates(data, database)})

    server.tool(ask, name="store_dual_judge_scores")
    for tool in (human_agreement, gates, certificates):
        server.tool(tool, annotations={"readOnlyHint": True})
    return server


def _answer(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the output of a tool; expected errors are errors of the tool, a line each."""
    from fastmcp.exceptions import ToolError

    try:
        return work()
    except (*EXPECTED, ExceptionGroup) as error:
        if isinstance(error, ExceptionGroup) and error.split(EXPECTED)[1] is not None:
            raise
        raise ToolError("\n".join(map(str, leaves(error)))) from None
