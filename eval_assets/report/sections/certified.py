"""Results of sealed tests and certificates: usable judges, their evidence and their cost."""

import math
from collections.abc import Iterator, Mapping

from eval_assets.render.document import (
    Bullets,
    Card,
    Cell,
    Column,
    Fold,
    Plot,
    Section,
    Table,
    TableRow,
    Text,
    anchor,
    cells,
    columns,
)
from eval_assets.report.data import ReportData
from eval_assets.report.layout import question_cell
from eval_assets.report.stored_rows import (
    IssuedCertificateRow,
    SealedTestPlanRow,
    StandInPartRow,
    UnevaluatedTestRow,
)
from eval_assets.tuning.certificate import CertificateClaims, Claim
from eval_assets.verdicts import Tone
from eval_assets.wording import UNDEFINED, labels_wanted, tested_verdict, unevaluated_sentences

_LEAD = (
    "Tests on response groups that tuning never saw, at a level that keeps all readings of a test "
    "together to 5 %. A judge is fit if its agreement with people is less than the margin below "
    "theirs with each other, and improved if tuning made it agree better. The picture shows the "
    "judge's agreement beyond chance minus that of people: the dot is the difference, the bar its "
    "interval, the tick the margin. What decides is the ratio of two distances from 1, the judge's "
    "and the largest allowed, people's plus the margin: its interval must lie below 1. It is "
    "nearer to normal than the difference, whose interval may reach beyond the margin. Figures of "
    "judges that are not certified stay under the seal."
)
_PARTS_LEAD = (
    "A judge that is not fit on all responses may be on a part of them, and people rate the rest. "
    "Doubt is the distance of its score from that of another judge, or the spread of its "
    "replicates; responses of little doubt are the part. Agreement of judge and people together is "
    "that on train and dev, where the part was chosen (bold), and then that on the sealed test."
)
_CAUTIONS = "What no test of this size can exclude"

_TONES: Mapping[str, Tone] = {
    "fit": Tone.GOOD,
    "accepted": Tone.GOOD,
    "unfit": Tone.POOR,
    "rejected": Tone.POOR,
    "undecided": Tone.FAIR,
    "inconclusive": Tone.FAIR,
}

_AXIS = (-0.3, 0.3)


def section(data: ReportData) -> Section | None:
    """Return the verdicts of sealed tests and the certificates; None before the first test."""
    rows = data.rows(IssuedCertificateRow)
    unevaluated = unevaluated_sentences(
        {row.question_id: row.reason for row in data.rows(UnevaluatedTestRow)}
    )
    if not (rows or unevaluated):
        return None
    held = [row.certificate for row in rows if row.certificate and not row.stale_because]
    judge_ids = {row.judge_id for row in data.judge_humans}
    priced = ["Per 1,000 scores#"] if any(item.cost_per_1000_usd for item in held) else []
    table = Table(
        "Judges on their sealed tests",
        (
            *columns("Judge", "Question", "May stand in", "Better than before"),
            Column("Judge minus people", axis=_AXIS),
            *columns("Gain#", "Groups#", "Readings#", *priced),
        ),
        tuple(
            TableRow(_cells(row, is_shown=row.judge_id in judge_ids, is_priced=bool(priced)))
            for row in rows
        ),
    )
    notes = [*(_note(data, row) for row in rows), *unevaluated]
    reasons = Bullets(cells(*notes), heading="Why")
    blocks: list[Text | Bullets | Table | Fold] = [Text(_LEAD), *([table] if rows else []), reasons]
    if parts := _parts_table(data):
        blocks += [Text(_PARTS_LEAD), parts]
    if held:
        blocks.insert(0, Bullets(cells(*(item.summary for item in held))))
        cautions = dict.fromkeys(caution for item in held for caution in item.cautions)
        blocks.append(Fold(_CAUTIONS, (Bullets(cells(*cautions)),)))
    title = "Which judge may be used?"
    return Section("certificates", title, "Certificates", (Card("", tuple(blocks)),))


def _cells(row: IssuedCertificateRow, *, is_shown: bool, is_priced: bool) -> tuple[Cell, ...]:
    certificate = row.certificate
    claims = certificate.claims if certificate else None
    is_stale = bool(row.stale_because)
    cost = certificate and certificate.cost_per_1000_usd
    return cells(
        Cell(
            row.judge_id,
            note=f"version {row.version}",
            link=anchor("judge", row.judge_id) if is_shown else "",
        ),
        question_cell(row.question_id),
        _verdict(row.fitness, is_stale=is_stale)
        if row.claim != "fit_in_part"
        else _share(row, is_stale=is_stale),
        _verdict(row.improvement, is_stale=is_stale),
        _gap(claims.fitness if claims else None, row.judge_id, row.question_id),
        _gain(claims.improvement if claims else None, row.improvement),
        f"{row.n_groups:,}",
        f"{row.n_readings:,}",
        *([UNDEFINED if cost is None else f"{cost:,.4f}"] if is_priced else []),
    )


def _share(row: IssuedCertificateRow, *, is_stale: bool) -> Cell:
    """Return the share of responses on which a judge can replace a rater."""
    words = tested_verdict(f"on {100 * row.share:.0f} %", is_stale=is_stale)
    tone = Tone.NONE if is_stale else Tone.GOOD
    return Cell(words, note="of the responses", tone=tone)


def _parts_table(data: ReportData) -> Table | None:
    """Return agreement by share of responses that a judge scores, and the tested parts."""
    tested = {
        (row.judge_id, row.question_id): row.certificate.claims.fitness_in_part
        for row in data.rows(IssuedCertificateRow)
        if row.certificate and row.claim == "fit_in_part" and not row.stale_because
    }
    chosen = {
        (row.judge_id, row.question_id): (row.doubt_source, row.doubt_threshold)
        for row in data.rows(StandInPartRow)
        if row.is_chosen and not row.stale_because
    }
    rows: list[TableRow] = []
    for (judge_id, question_id), (source, threshold) in chosen.items():
        rows.append(TableRow(cells(f"{judge_id} on {question_id}, doubt from {source}"), "heading"))
        rows += [
            _part_row(
                f"at most {row.doubt_threshold:.3g}",
                row.share,
                row.kappa,
                row.kappa_people,
                is_chosen=row.is_chosen,
            )
            for row in data.rows(StandInPartRow)
            if (row.judge_id, row.question_id, row.doubt_source) == (judge_id, question_id, source)
        ]
        claim = tested.get((judge_id, question_id))
        if claim and (claim.doubt_source, claim.doubt_threshold) == (source, threshold):
            figures = map(_value, (claim.share, claim.kappa, claim.kappa_people))
            rows.append(_part_row("on the sealed test", *figures, is_chosen=True))
    if not rows:
        return None
    return Table(
        "Share of responses that a judge scores, against agreement",
        (
            Column("Doubt"),
            *columns("Share#"),
            Column("Judge and people", axis=(0.0, 1.0)),
            *columns("People alone#"),
        ),
        tuple(rows),
    )


def _part_row(
    name: str, share: float, kappa: float, kappa_people: float, *, is_chosen: bool
) -> TableRow:
    """Return a part with the agreement of judge and people, and of people alone as a mark."""
    plot = Plot(
        0.0,
        1.0,
        label=f"Agreement {kappa:z.3f} at a share of {100 * share:.0f} %",
        dots=(("circle", kappa),),
        marks=(("people", kappa_people),),
        tone=Tone.GOOD if is_chosen else Tone.NONE,
    )
    return TableRow(
        cells(
            Cell(name, is_strong=is_chosen),
            f"{100 * share:.0f} %",
            Cell(f"{kappa:z.3f}", plot=plot),
            f"{kappa_people:z.3f}",
        )
    )


def _verdict(verdict: str, *, is_stale: bool) -> Cell:
    tone = Tone.NONE if is_stale else _TONES.get(verdict, Tone.NONE)
    return Cell(tested_verdict(verdict, is_stale=is_stale) if verdict else UNDEFINED, tone=tone)


def _note(data: ReportData, row: IssuedCertificateRow) -> str:
    """Return the reasons of the verdicts, or why they no longer hold."""
    subject = f"{row.judge_id} on {row.question_id}"
    if row.stale_because:
        return f"{subject}: stale, because {row.stale_because}"
    parts = [f"{subject}: {row.reason}"]
    if row.certificate:
        parts += _figures(row.certificate.claims)
    return "; ".join([*parts, *_labels_wanted(data, row)])


def _figures(claims: CertificateClaims) -> Iterator[str]:
    """Yield the figures that explain the verdicts on some claims."""
    claim = claims.improvement
    if claim and claim.kappa_baseline is not None and claim.kappa is not None:
        yield f"kappa {claim.kappa_baseline:z.3f} before, {claim.kappa:z.3f} now"
    fitness = {"fit": claims.fitness, "fit in part": claims.fitness_in_part}
    for words, claim in fitness.items():
        if ratio := _distance_ratio(claim):
            yield f"{words} by a distance ratio of {ratio}, which lies below 1"


def _labels_wanted(data: ReportData, row: IssuedCertificateRow) -> list[str]:
    """Return the labels that would decide an undecided verdict; none if it is decided."""
    if not row.groups_wanted:
        return []
    return [
        labels_wanted(
            row.groups_wanted,
            n_groups=row.n_groups,
            groups_at_gap=plan.groups_at_gap or None,
            responses_per_group=plan.responses_per_group,
            labels_per_group=plan.labels_per_group,
        )
        for plan in data.rows(SealedTestPlanRow)
        if (plan.judge_id, plan.version, plan.question_id)
        == (row.judge_id, row.version, row.question_id)
    ]


def _gap(claim: Claim | None, judge_id: str, question_id: str) -> Cell:
    """Return the judge's agreement with people minus theirs with each other; blank if sealed."""
    if claim is None or claim.gap is None:
        return Cell("sealed")
    words = f"{claim.gap:+z.3f}"
    low, high = _value(claim.gap_low), _value(claim.gap_high)
    plot = Plot(
        *_AXIS,
        label=f"{judge_id} minus people on {question_id}: {words}",
        dots=(("circle", claim.gap),),
        interval=(low, high),
        marks=(("minimum", -_value(claim.margin)), ("people", 0.0)),
        tone=Tone.GOOD,
    )
    note = f"{low:+z.3f} to {high:+z.3f}"
    if ratio := _distance_ratio(claim):
        note += f"; distance ratio {ratio}"
    return Cell(words, note=note, plot=plot)


def _distance_ratio(claim: Claim | None) -> str:
    """Return the judge's distance from 1 over the largest allowed, with its interval.

    It is the statistic that decides; empty if it is sealed.
    """
    if claim is None or claim.ratio is None:
        return ""
    return f"{claim.ratio:z.3f}, {claim.ratio_low:z.3f} to {claim.ratio_high:z.3f}"


def _gain(claim: Claim | None, verdict: str) -> Cell:
    if claim is None or claim.gain is None:
        return Cell("none" if verdict == "unchanged" else "sealed")
    if claim.gain_low is None:
        return Cell(f"about {claim.gain:+z.2f}")
    return Cell(f"{claim.gain:+z.3f}", note=f"{claim.gain_low:+z.3f} to {claim.gain_high:+z.3f}")


def _value(number: float | None) -> float:
    return math.nan if number is None else number
