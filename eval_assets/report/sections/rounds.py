"""Agreement by round of labelling and by wording of a question, with the gain of each."""

from eval_assets.agreement.rounds import change_text, rewording_sentences
from eval_assets.bands import A_HH_LIMITS, ALPHA_LIMITS
from eval_assets.catalogue import Figure
from eval_assets.figures import RoundFigures, RubricVersionFigures
from eval_assets.render.document import Card, Cell, Section, Text, bullets
from eval_assets.report.data import ReportData, groups_text
from eval_assets.report.layout import (
    Layout,
    a_hh_tone,
    alpha_tone,
    figure_cell,
    laid_out,
    question_cell,
)
from eval_assets.verdicts import Tone
from eval_assets.wording import UNDEFINED, counted

_ROUNDS = (
    "Responses were labelled in several rounds. The latest round of each response decides; the "
    "others are shown beside it. A gain is measured on the responses rated in both rounds."
)
_ROUNDS_CAUTION = (
    "Raters who discussed these responses, or remember them, agree on them more than they would on "
    "new ones. Whether new guidelines help shows on responses that nobody has discussed."
)
_REWORDINGS = (
    "Labels under different wordings of a question are not pooled, unless these are declared "
    "equivalent. The newest wording with labels counts, and the gates go by it."
)
_REWORDINGS_CAUTION = (
    "A change compares responses that were not rated under an earlier wording with those rated "
    "under the one before. It shows what the wording does if both are alike, as when they are "
    "drawn at random. A gain is measured on the responses rated under both, which raters may "
    "remember."
)


def rounds(data: ReportData) -> Section | None:
    """Return A^HH and alpha of each round with their gains; None if there is one round only."""
    if not data.rounds:
        return None
    gains = [_sentence(row) for row in data.rounds if row.previous_round]
    blocks = (
        Text(_ROUNDS),
        *bullets(gains, "Did it help?"),
        laid_out("Agreement between humans by round", _ROUND, data.rounds),
        Text(_ROUNDS_CAUTION, is_small=True),
    )
    return Section("rounds", "Do people agree more in later rounds?", "Rounds", (Card("", blocks),))


def rewordings(data: ReportData) -> Section | None:
    """Return A^HH and alpha of each wording with alpha's change; None if there is one only."""
    if not data.rubric_versions:
        return None
    changes = list(rewording_sentences(data.rubric_versions, data.evaluation))
    blocks = (
        Text(_REWORDINGS),
        *bullets(changes, "Did it help?"),
        laid_out("Agreement between humans by wording", _REWORDING, data.rubric_versions),
        Text(_REWORDINGS_CAUTION, is_small=True),
    )
    title = "Do people agree more under a new wording?"
    return Section("rewordings", title, "Wordings", (Card("", blocks),))


def _sentence(row: RoundFigures) -> str:
    question, later, earlier = row.question_id, row.round, row.previous_round
    if row.n_in_both is None:
        return (
            f"{question}, round {later}: mainly responses on which raters disagreed were labelled "
            "again. The first round decides, and no gain is reported"
        )
    n_in_both, n_groups = row.n_in_both or 0, row.n_groups_in_both or 0
    if not n_in_both:
        return (
            f"{question}: no response has two ratings in both round {earlier} and round {later}, "
            "so their figures differ by responses too"
        )
    groups = f" in {counted(n_groups, 'group')}" if n_groups < n_in_both else ""
    return (
        f"{question}, round {later} after round {earlier}: "
        f"{change_text(row.alpha_gain, row.a_hh_gain)} on "
        f"{counted(n_in_both, 'response')}{groups} rated in both"
    )


def _gain_cell(gain: Figure) -> Cell:
    """Return a gain with its interval, coloured if it is clear."""
    if not gain.is_defined:
        return Cell(UNDEFINED)
    is_clear = gain.low > 0 or gain.high < 0
    tone: Tone = Tone.NONE if not is_clear else Tone.GOOD if gain.value > 0 else Tone.POOR
    interval = f"{gain.low:+.3f} to {gain.high:+.3f}" if gain.has_interval else "no interval"
    return Cell(f"{gain.value:+.3f}", note=interval, tone=tone)


_ROUND: Layout[RoundFigures] = {
    "Question": lambda row: question_cell(row.question_id),
    "Round#": lambda row: f"{row.round}",
    "Responses#": lambda row: groups_text(row.n_responses, row.n_groups),
    "A^HH#": lambda row: figure_cell(row.a_hh, A_HH_LIMITS, a_hh_tone(row.a_hh.value)),
    "Krippendorff's alpha#": lambda row: figure_cell(
        row.alpha, ALPHA_LIMITS, alpha_tone(row.alpha.value)
    ),
    "Gain of A^HH#": lambda row: _gain_cell(row.a_hh_gain) if row.previous_round else "",
    "Gain of alpha#": lambda row: _gain_cell(row.alpha_gain) if row.previous_round else "",
}
_REWORDING: Layout[RubricVersionFigures] = {
    "Question": lambda row: question_cell(row.question_id),
    "Version#": lambda row: f"{row.rubric_version}",
    "Responses#": lambda row: groups_text(row.n_responses, row.n_groups),
    "A^HH#": lambda row: figure_cell(row.a_hh, A_HH_LIMITS, a_hh_tone(row.a_hh.value)),
    "Krippendorff's alpha#": lambda row: figure_cell(
        row.alpha, ALPHA_LIMITS, alpha_tone(row.alpha.value)
    ),
    "New responses#": lambda row: "" if row.n_new is None else f"{row.n_new:,}",
    "Change of alpha#": lambda row: _gain_cell(row.alpha_change) if row.previous_version else "",
    "Gain of alpha#": lambda row: _gain_cell(row.alpha_gain) if row.previous_version else "",
}
