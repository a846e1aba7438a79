"""`eval-assets check`: do our raters agree, and can this judge replace one of them?"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eval_assets.cli.exit_codes import MISUSED
from eval_assets.cli.options import (
    json_option,
    judge_pass_option,
    print_json,
    read_options,
)
from eval_assets.errors import InputError, InputProblem, leaves

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from eval_assets.ratings_check import CheckResult
    from eval_assets.readers.rating_tables import ReadOptions

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("files", type=_PATH, nargs=-1, required=True, metavar="FILE...")
@read_options
@click.option("--pass", "passes", help="Ratings that pass: >=4, or yes. Makes two classes.")
@judge_pass_option
@click.option(
    "--minimum",
    "minimums",
    multiple=True,
    metavar="alpha=.8",
    help="Minimum of alpha or a_hh.  [default: alpha=.667, a_hh=.75]",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="How far a judge's agreement with people may lie below theirs.  [default: 0.1]",
)
@click.option("--data", type=_PATH, help="Evaluation folder: its scales, gates and held-out test.")
@click.option(
    "--html",
    type=_PATH,
    help="The report.  [default: <first file>_report.html in the current folder]",
)
@click.option("--no-html", is_flag=True, help="Write no report.")
@click.option("--errors", "with_errors", is_flag=True, hidden=True)  # of `calibrate`
@json_option
def check(  # noqa: PLR0913 - one parameter per option
    files: tuple[Path, ...],
    *,
    options: ReadOptions,
    passes: str | None,
    judge_passes: str | None,
    minimums: tuple[str, ...],
    margin: float | None,
    data: Path | None,
    html: Path | None,
    no_html: bool,
    with_errors: bool,
    as_json: bool,
) -> int:
    """Say whether raters agree, and whether a judge can replace one of them.

    FILE holds ratings of people, scores of judges, or both: one a row, or a column for each; as
    CSV, TSV, Excel, JSON, JSONL or Parquet. Several files, or those of a folder, are joined by
    item. How they were read is printed first. Nothing is stored but the report.

    Exit codes: 0 all PASS; 1 a file cannot be read; 2 misuse, or two readings whose verdicts
    differ: both are shown, and you choose; 3 a FAIL; 4 more data needed, or nothing measured.
    """
    from eval_assets.ratings_check import CheckRules, check_readings, evaluation_of

    files = tuple(dict.fromkeys(files))
    try:
        for file in files:
            if re.match(r"\w{2,}:/", str(file)):  # not the drive of Windows
                message, remedy = "this is an address", "Download the file, and name it"
                address = str(file).replace(":/", "://", 1)
                raise InputError(InputProblem(address, None, None, message, remedy))  # noqa: TRY301
        rules = CheckRules(
            minimums=dict(map(_minimum, minimums)),
            margin=margin,
            passes=passes,
            judge_passes=judge_passes,
            evaluation=evaluation_of(files, folder=data),
        )
        results = check_readings(files, options, rules)
    except (InputError, ExceptionGroup) as error:
        if as_json:
            print_json({"error": "\n".join(map(str, leaves(error)))})
        raise
    except ValueError as error:
        raise click.UsageError(f"{error}.") from error
    if len(results) > 1:
        return _print_readings(results, as_json=as_json)
    [result] = results
    report = None if no_html or (as_json and html is None) else _write_report(files, result, html)
    if as_json:
        errors = {"errors": _errors(result)} if with_errors else {}
        print_json({**result.to_dict(report=report), **errors})
    else:
        from eval_assets.shown.terminal import screen_lines

        for line in screen_lines(result.screen, report=report):
            click.echo(line)
        for line in _error_lines(result) if with_errors else ():
            click.echo(line)
    return result.verdict.exit_code


def _minimum(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError as error:
        raise click.UsageError(f"--minimum takes alpha=.8 or a_hh=.8, got {text}.") from error


def _print_readings(results: Sequence[CheckResult], *, as_json: bool) -> int:
    title = "The files can be read in two ways, and the verdicts differ. Choose one."
    choices = [": ".join(filter(None, (of.choice or "Otherwise", of.option))) for of in results]
    if as_json:
        print_json({"readings": [{"option": of.option, **of.to_dict()} for of in results]})
        click.echo("\n".join([title, *choices]), err=True)
        return MISUSED
    from eval_assets.shown.terminal import answer_lines, wrapped

    click.echo(title)
    for result, choice in zip(results, choices, strict=True):
        lines = wrapped(choice, first="", rest="  ")
        click.echo("\n".join(["", *lines, *answer_lines(result.screen)]))
    return MISUSED


def _errors(result: CheckResult) -> list[dict[str, Any]]:
    """Return the items that each judge of two classes gets wrong."""
    item = result.screen.reading.item
    return [
        {
            "judge": of.judge,
            "question": of.question.id,
            "false_passes": [item(unit).name for unit in two.false_passes],
            "false_failures": [item(unit).name for unit in two.false_failures],
        }
        for comparisons in result.screen.assessment.judges.values()
        for of in comparisons
        if (two := of.two_classes) is not None
    ]


def _error_lines(result: CheckResult) -> Iterator[str]:
    from eval_assets.shown.terminal import wrapped
    from eval_assets.wording import figure_text, printable

    item = result.screen.reading.item
    for of in chain.from_iterable(result.screen.assessment.judges.values()):
        if (two := of.two_classes) is None:
            continue
        yield f"\nErrors of {of.judge} on {of.question.id}: F1 {figure_text(two.f1)}"
        for title, units in (
            ("False passes", two.false_passes),
            ("False failures", two.false_failures),
        ):
            names = ", ".join(item(unit).name for unit in units) or "none"
            yield from wrapped(printable(f"{title} ({len(units):,}): {names}"))


def _write_report(files: Sequence[Path], result: CheckResult, html: Path | None) -> str | None:
    """Write the report; a default one that cannot be written is no error."""
    from eval_assets.shown.html import report_page
    from eval_assets.shown.report import report_of

    if html and html.is_file() and html.suffix.lower() not in {".html", ".htm"}:
        raise click.UsageError(f"--html {html}: the file exists, and is no page. Name another.")
    path = html or Path(f"{files[0].absolute().name.split('.')[0]}_report.html")
    try:
        path.write_text(report_page(report_of(result.screen)), encoding="utf-8")
    except OSError as error:
        if html is None:
            return None
        message = f"cannot be written ({error.strerror})"
        remedy = "Name another file with --html, or use --no-html"
        raise InputError(InputProblem(str(path), None, None, message, remedy)) from error
    return str(path)
