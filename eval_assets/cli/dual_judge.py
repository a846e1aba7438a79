"""`eval-assets dual-judge`: scores of two judges for the documents of queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from eval_assets.cli.exit_codes import DONE, FAILED, print_errors
from eval_assets.cli.options import database_option, print_json, resolve_database

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eval_assets.config.judges import ReplyForm
    from eval_assets.judges.calling.progress import Estimate, Progress
    from eval_assets.readers.documents import DocumentQuery


@click.command("dual-judge")
@click.option("--query-id", type=click.IntRange(1), metavar="NUMBER", help="Number of the query.")
@click.option("--query", help="The query.")
@click.option(
    "--docs",
    type=click.Path(path_type=Path),
    help='JSON file of its documents: [{"id": 1, "content": "…"}, …]. A document may have '
    '"relevant": true or false, as people marked it.',
)
@click.option(
    "--queries",
    type=click.Path(path_type=Path),
    help='JSON file of several queries: [{"id": 1, "query": "…", "docs": […]}, …].',
)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="VENDOR/MODEL",
    help="One of two judges, such as openai/gpt-4o.  [default: the evaluation's first two live "
    "ones, else gpt-6-luna and claude-haiku-5-5]",
)
@click.option(
    "--reply",
    type=click.Choice(["json", "number"]),
    help="Form of a reply: JSON with reasons, or a bare number.  [default: dual_judge.reply]",
)
@click.option(
    "--data",
    envvar="EVAL_DATA",
    show_envvar=True,
    default=".",
    type=click.Path(path_type=Path),
    help="The evaluation folder.  [default: the current one]",
)
@database_option
def dual_judge(  # noqa: PLR0913 - one parameter for each option
    *,
    query_id: int | None,
    query: str | None,
    docs: Path | None,
    queries: Path | None,
    judges: tuple[str, ...],
    reply: ReplyForm | None,
    data: Path,
    database: str | None,
) -> int:
    """Ask two judges how relevant each document is to a query, from 0 to 1, and print JSON.

    The scores are stored in the view `ground_truth`, in place of earlier scores of the same query
    id; marks of people stay. No request is sent twice. A missing score is null. A folder without
    evaluation.yaml gets one. The exit code is 1 if a judge scored no document, or a query or
    document was left out.
    """
    if len(judges) not in {0, 2}:
        raise click.UsageError("Give --judge twice, or not at all.")
    read_queries: Sequence[DocumentQuery]
    problems: Sequence[str] = ()
    match query_id, query, docs, queries:
        case int(), str(), Path(), None:
            from eval_assets.readers.documents import document_query

            read_queries = (document_query(query_id, query, docs),)
        case None, None, None, Path():
            from eval_assets.errors import InputError
            from eval_assets.readers.documents import read_document_queries

            read_queries, faults = read_document_queries(queries)
            problems = [str(InputError(problem)) for problem in faults]
        case _:
            raise click.UsageError("Give --query-id, --query and --docs, or --queries alone.")

    from eval_assets.cli.dual_judging import of_one_query, parse_judge, store_dual_judge_scores

    try:
        pair = [parse_judge(text) for text in judges]
    except ValueError as error:
        raise click.BadParameter(f"{error}.", param_hint="--judge") from error
    if pair and pair[0].id == pair[1].id:
        raise click.BadParameter(f"both models are {pair[0].id}. Name two.", param_hint="--judge")
    answer = store_dual_judge_scores(
        read_queries,
        data,
        resolve_database(data, database),
        pair=pair,
        form=reply,
        report=_print_progress,
    )
    problems = [*problems, *cast("list[str]", answer["problems"])]
    print_json(answer | {"problems": problems} if queries is not None else of_one_query(answer))
    print_errors(problems)
    if answer["is_interrupted"]:
        raise KeyboardInterrupt
    return FAILED if answer["judges_without_scores"] or problems else DONE


def _print_progress(report: Progress | Estimate | str) -> None:
    """Print what takes long, and a budget that is too small."""
    from eval_assets.judges.calling.progress import Estimate, Progress
    from eval_assets.judges.calling.session import SECONDS_BETWEEN_REPORTS

    is_short = isinstance(report, Progress) and report.elapsed_seconds < SECONDS_BETWEEN_REPORTS
    if not (is_short or isinstance(report, Estimate)):
        click.echo(str(report), err=True)
