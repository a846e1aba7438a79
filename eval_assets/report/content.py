"""Sections of the report in their order, rendered as HTML, GitHub's Markdown and JSON."""

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from eval_assets.figures import FigureRecord, Scope
from eval_assets.render.document import Block, Section
from eval_assets.render.markdown import escape_markdown, markdown_blocks, markdown_cell
from eval_assets.render.plots import shape_key, svg, ticks
from eval_assets.report.data import ReportData
from eval_assets.report.sections import (
    cautions,
    certified,
    compared_judges,
    gates,
    glossary,
    humans,
    judges,
    parts,
    raters,
    runs,
    single_responses,
    summary,
)
from eval_assets.report.sections.first_screen import FirstScreen, first_screen
from eval_assets.wording import counted

SECTIONS: tuple[Callable[[ReportData], Section | None], ...] = (
    summary.section,
    gates.section,
    cautions.section,
    humans.section,
    raters.disagreement,
    raters.rewordings,
    raters.label_quality,
    judges.section,
    compared_judges.section,
    certified.section,
    single_responses.disagreements,
    single_responses.adjudications,
    parts.scores,
    parts.agreement_by_part,
    parts.results,
    runs.trend,
    runs.cost,
    glossary.section,
)
"""One function per section; one that has nothing to say returns None."""


@dataclass(frozen=True)
class Report:
    """The report in words and written numbers, for every format."""

    name: str
    first: FirstScreen
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
    generated_at: str

    @property
    def version(self) -> str:
        """A fingerprint of the content without times and earlier runs."""
        sections = [section for section in self.sections if section.anchor != "trend"]
        parts = (self.name, self.first, self.facts, sections)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


@lru_cache(maxsize=1)
def report_content(data: ReportData) -> Report:
    """Return the report on `data`, which every format shares."""
    overall = next(iter(data.humans), None)
    return Report(
        name=data.evaluation.name,
        first=first_screen(data),
        facts=(
            counted(len(data.evaluation.rubric), "question"),
            counted(data.sizes.get("responses", 0), "response"),
            counted(overall.n_raters if overall else 0, "human rater"),
            counted(overall.n_ratings if overall else 0, "human rating"),
            counted(len(data.evaluation.judges), "judge"),
        ),
        sections=tuple(section for build in SECTIONS if (section := build(data)) is not None),
        generated_at=f"{data.generated_at:%Y-%m-%d %H:%M %Z}".strip(),
    )


_AFTER_WORD = re.compile(r"(?<=[^\W_]{2}_)")
"""Where a name may break: after an underscore, but human_a_hh not after the a."""


def render_html(data: ReportData) -> str:
    """Return the report as a self-contained HTML page.

    Every text is escaped. The page's own policy forbids requests, and every script but the one
    that sorts and filters tables, which it names by its hash.
    """
    environment = _environment()
    script = environment.get_template("page.js").render()
    return environment.get_template("report.html.jinja").render(
        report=report_content(data),
        script=script,
        script_hash=_sha256(script),
    )


def render_markdown(data: ReportData) -> str:
    """Return the report in GitHub's Markdown, without the folded parts of the page.

    Texts are escaped, so none becomes markup, HTML or a second table cell. Long tables are cut.
    """
    report = report_content(data)
    parts = [
        f"# Agreement report: {escape_markdown(report.name)}",
        f"**Can the judges be trusted? {escape_markdown(report.first.answer)}.**",
        "\n".join(
            f"- {markdown_cell(item)}" for item in (*report.first.gates, *report.first.judges)
        ),
        f"**Next:** {escape_markdown(report.first.next_step.text)}",
        escape_markdown(" · ".join(report.facts)),
    ]
    for section in report.sections:
        parts.append(f"## {escape_markdown(section.title)}")
        parts += markdown_blocks(section.blocks)
    parts.append(
        f"Made {report.generated_at} by Eval Assets. Intervals are 95 % intervals over response "
        f"groups. Every figure is in the evaluation's database, unrounded; gates use the "
        f"unrounded ones."
    )
    return "\n\n".join(parts) + "\n"


def render_json(data: ReportData) -> str:
    """Return the report as JSON; a figure that is undefined is null."""
    report = report_content(data)
    content = {
        "evaluation": report.name,
        "generated_at": data.generated_at.isoformat(),
        "answer": report.first.answer,
        "next": report.first.next_step.text,
        "tunable_questions": list(data.tunable),
        "gates": [
            {"sentence": sentence.text, **outcome.to_json()}
            for outcome, sentence in zip(data.gates, report.first.gates, strict=True)
        ],
        "judges": [
            {
                "judge_id": judge.id,
                "sentence": sentence.text,
                "questions": [
                    row.columns() for row in data.judge_humans if row.judge_id == judge.id
                ],
            }
            for judge, sentence in zip(data.evaluation.judges, report.first.judges, strict=True)
        ],
        "judge_set_fingerprint": next(
            (row.judge_set_fingerprint for row in data.judges if row.scope is Scope.OVERALL), None
        ),
        "judge_counts": [
            {"judge_id": c.judge_id, "n_units": c.n_units, "n_scored": c.n_scored}
            for c in data.coverage
        ],
        "results_by_model": _records(data, "results_by_model"),
        "lowest_results": _records(data, "results"),
        "human_agreement": _rows(data.humans),
        "judge_agreement": _rows(data.judges),
        "label_findings": [asdict(finding) for finding in data.findings],
        "diagnoses": [diagnosis.to_json() for diagnosis in data.diagnoses],
        "score_summary": _rows(data.scores),
        "cautions": [
            {"heading": caution.term, "meaning": caution.meaning}
            for caution in cautions.cautions(data)
        ],
        "tables": _tables(data),
    }
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


@lru_cache
def _environment() -> Environment:
    """Return the templates, each of which is compiled once in a process."""
    environment = Environment(
        loader=PackageLoader("eval_assets.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"kind": _kind, "notation": _notation, "svg": svg, "shape": shape_key}
    environment.globals |= {"ticks": ticks}
    return environment


def _sha256(script: str) -> str:
    return b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _kind(block: Block) -> str:
    return type(block).__name__.lower()


@lru_cache(maxsize=10_000)
def _notation(text: str) -> Markup:
    """Return a text with A^HH and A^HA as formulas, which may break after underscores."""
    if "_" not in text and "^" not in text:
        return escape(text)
    written = Markup(_AFTER_WORD.sub("<wbr>", escape(text)))  # noqa: S704 - escaped
    for name in ("HH", "HA"):
        written = written.replace(f"A^{name}", Markup("A<sup>{}</sup>").format(name))
    return written


def _rows(rows: Iterable[FigureRecord]) -> list[dict[str, object]]:
    return [_plain(row.columns()) for row in rows]


def _tables(data: ReportData) -> dict[str, list[dict[str, object]]]:
    """Return the tables behind the other sections; long lists hold the rows that the page shows."""
    figures: tuple[tuple[FigureRecord, ...], ...] = (
        data.rubric_versions,
        data.leave_one_judge_out,
        data.judge_humans_with_excluded,
        data.slices,
    )
    of_figures = {rows[0].table: _rows(rows) for rows in figures if rows}
    return {name: _records(data, name) for name in data.tables} | of_figures


def _records(data: ReportData, table: str) -> list[dict[str, object]]:
    """Return all columns of a table's rows; nothing if the table is missing."""
    frame = data.tables.get(table, pd.DataFrame())
    columns = [str(column) for column in frame]
    return [
        _plain(dict(zip(columns, row, strict=True)))
        for row in frame.itertuples(index=False, name=None)
    ]


def _plain(record: Mapping[str, object]) -> dict[str, object]:
    return {name: _value(value) for name, value in record.items()}


def _value(value: Any) -> object:  # noqa: ANN401 - a cell of a frame
    """Return a value in the types of JSON, a whole number without decimals."""
    if pd.isna(value):
        return None
    if isinstance(value, datetime):
        return value.isoformat()
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value
