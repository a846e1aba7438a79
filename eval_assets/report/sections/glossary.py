"""Glossary: the meaning of each number of the report."""

from eval_assets.render.document import Card, Definition, Definitions, Section
from eval_assets.report.data import ReportData

_GLOSSARY = (
    Definition(
        "A^HH",
        "Agreement between humans. For each response rated twice or more: 1 minus the distance "
        "of two ratings on the declared scale taken to [0, 1], averaged over all pairs of raters; "
        "then the mean over responses. 1: raters always agree; 0: as far apart as the scale "
        "allows. Over all questions: the mean of the questions.",
        "ahh",
    ),
    Definition(
        "A^HH by chance",
        "The A^HH of raters who give each value as often as they do now, but to any response. It "
        "is high if one value is given most of the time; only what A^HH has beyond it is "
        "agreement about the responses.",
        "ahh-by-chance",
    ),
    Definition(
        "Krippendorff's alpha",
        "Agreement beyond chance, for any number of raters and with ratings missing. 1: perfect; "
        "0: what chance gives; clearly below 0: raters contradict each other. From .800 reliable, "
        "from .667 tentative, below unreliable. The level (nominal, ordinal, interval, ratio) says "
        "how far apart two values count as being.",
        "krippendorffs-alpha",
    ),
    Definition(
        "Kappa",
        "Agreement beyond chance on exactly equal values: Cohen's for two raters, Fleiss' for "
        "more. Named after Landis and Koch: up to .20 slight, .40 fair, .60 moderate, .80 "
        "substantial, above almost perfect, below 0 poor. Micro: all units pooled; macro: the "
        "mean over prompts. Of judges: scores above the middle of the scale against the "
        "rest.",
        "kappa",
    ),
    Definition(
        "Acceptable, good, excellent for human labels",
        "Targets of the labelling protocol that this project follows, for labels that validate a "
        "judge: kappa .60, .75 and .85; alpha .667, .80 and .90.",
        "kappa",
    ),
    Definition(
        "Gwet's AC1 and AC2",
        "Agreement beyond chance like kappa, but steadier if one value is given most of the "
        "time. AC2 counts near misses as partial agreement.",
        "gwets-ac1-and-ac2",
    ),
    Definition(
        "Exact and adjacent agreement",
        "Share of all pairs of ratings that are equal, or at most one declared step apart. Pairs "
        "are pooled over responses, so responses with more raters weigh more.",
        "exact-and-adjacent-agreement",
    ),
    Definition(
        "95 % interval",
        "The true values that are compatible with the rated response groups: of 100 samples of "
        "such groups about 95 have an interval that contains the true value. An interval that "
        "reaches both sides of a minimum is inconclusive.",
        "intervals",
    ),
    Definition(
        "Response group",
        "Responses that are not independent: those to one prompt, the turns of a conversation, or "
        "what group_id joins. Intervals are computed over groups, because six responses to one "
        "prompt carry less information than responses to six prompts.",
        "response-groups",
    ),
    Definition(
        "Alpha within questions",
        "Alpha over all questions counts it as agreement if ratings are high on one question and "
        "low on another. Within questions it does not.",
        "alpha-within-questions",
    ),
    Definition(
        "A^HA",
        "Agreement of a judge with humans: like A^HH, between the judge's score and each human "
        "rating of the response. Two controls stand beside it: constant, the best judge that gives "
        "every response the same score without reading it; shuffled, the judge's own scores in "
        "random order. A judge is worth something only as far as it exceeds both.",
        "aha",
    ),
    Definition(
        "Spearman, Kendall, Pearson",
        "Whether a judge ranks responses as the mean of the human ratings does (rho, tau-b), and "
        "whether the two rise in a straight line (r). 1: the same order; 0: none; -1: reversed.",
        "correlations",
    ),
    Definition(
        "Mean absolute error, judge minus humans",
        "In scale points, against the mean of a response's human ratings. Above 0 the judge is "
        "more lenient than humans, below 0 stricter. The Wilcoxon p says how easily chance alone "
        "would give such a lean.",
        "mean-absolute-error-and-bias",
    ),
    Definition(
        "Gate",
        "A minimum that must be reached before judges may be tuned. Pass: the unrounded value "
        "reaches it. Fail: it does not. Not evaluable: nothing measured, too few ratings, no "
        "variation, or figures older than the data; that never opens a gate. A question that "
        "fails is left out of tuning, unless the gate only warns.",
        "gates",
    ),
    Definition(
        "Undefined",
        "The ratings do not determine the figure. No number stands in for it, least of all 0.",
        "undefined",
    ),
)


def section(_: ReportData) -> Section:
    """Return the complete glossary."""
    block = Card("", (Definitions(_GLOSSARY),))
    return Section("glossary", "What each number means", "Glossary", (block,))
