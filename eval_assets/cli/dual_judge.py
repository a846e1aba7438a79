"""`eval-assets dual-judge`: scores of two judges for the documents of one query."""

import json
from pathlib import Path

import click

from eval_assets.cli.exit_codes import DONE, FAILED
from eval_assets.cli.options import data_option, database_option, resolve_database


@click.command("dual-judge")
@click.option(
    "--query-id",
    required=True,
    type=click.IntRange(1),
    metavar="NUMBER",
    help="Number of the query, from 1.",
)
@click.option("--query", required=True, help="The query.")
@click.option(
    "--docs",
    required=True,
    type=click.Path(path_type=Path),
    help='JSON file of its documents: [{"id": 1, "content": "…"}, …].',
)
@data_option
@database_option
def dual_judge(query_id: int, query: str, docs: Path, data: Path, database: str | None) -> int:
    """Ask two judges how relevant each document is to a query, from 0 to 1, and print JSON.

    The judges are the evaluation's first two live ones, else gpt-6-luna and claude-haiku-5-5. What
    they say is stored in the view `ground_truth`, in place of an earlier answer to the same query
    id; nothing is asked again that was answered before. A missing score is null. The exit
    code is 1 if every score is missing.
    """
    from eval_assets.cli.dual_judging import store_dual_judge_scores
    from eval_assets.readers.documents import read_document_query

    asked = read_document_query(query_id, query, docs)
    answer = store_dual_judge_scores(asked, data, resolve_database(data, database))
    click.echo(json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False))
    return FAILED if answer["status"] == "error" else DONE
