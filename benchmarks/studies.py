"""Results of the gates and held-out tests on two published studies: docs/studies.md."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pandas as pd
import yaml

from tests.fake_provider.server import running

DATA = Path(__file__).parents[1] / "data"
CODE_JUDGES = ("ice-cot-ref", "ice-cot-noref", "ice-score-only-ref", "ice-score-only-noref")
N_INTENTS = (60, 120, 240, 472)
SEED = 20261123
LIVE_JUDGES = [
    {"id": "gpt", "provider": "openai", "model": "gpt-6-luna"},
    {"id": "haiku", "provider": "anthropic", "model": "claude-haiku-5-5"},
]
"""Judges whose cost is estimated: the cheapest current model of each vendor."""


@dataclass(frozen=True, eq=False)
class Study:
    """The tables and the output of a run."""

    database: Path
    printed: str

    def rows(self, query: str) -> pd.DataFrame:
        """Return the result of a query."""
        with duckdb.connect(str(self.database), read_only=True) as connection:
            return connection.sql(query).df()


def table() -> str:
    """Run both studies and describe them."""
    return "\n\n".join([*_code(), *_stories()])


def _code() -> Iterator[str]:
    judges = [
        _recorded(name, f"gpt-3.5-turbo/{name}", "judge_scores.csv.gz") for name in CODE_JUDGES
    ]
    with _evaluated("code", judges=judges) as study:
        [[a_hh, low, high, alpha]] = study.rows(
            "SELECT a_hh, a_hh_low, a_hh_high, alpha FROM human_agreement WHERE scope = 'question'"
        ).to_numpy()
        yield "## data/code: may GPT-3.5 grade Python snippets?"
        yield (
            f"16 developers agree well enough for the gates: A^HH {a_hh:.3f} "
            f"[{low:.3f}, {high:.3f}], "
            f"ordinal alpha {alpha:.3f}. The study compared four prompts by their correlation with "
            f"these grades. The held-out test asks more: may the judge replace a "
            f"rater? Its responses "
            f"took no part in fitting the score maps, and the four judges share its "
            f"error rate of 5 %."
        )
        yield _markdown(study.rows(_JUDGES), {"A^HA": ".3f", "Spearman": ".3f"})
        yield "The evidence, as the certificates put it:"
        yield "\n".join(
            f"- {judge} {version}: {reason}."
            for judge, version, reason in study.rows(
                "SELECT judge_id, version, reason FROM judge_certificates ORDER BY 1"
            ).itertuples(index=False)
        )
    yield "### With fewer labels"
    yield (
        "The same evaluation on some of the 472 intents, drawn once. Read it "
        "the other way round to "
        "see what more labels would show."
    )
    yield _markdown(pd.DataFrame([_code_with(n, judges) for n in N_INTENTS]), {})


_JUDGES = """
SELECT h.judge_id AS judge, h.a_ha AS "A^HA", h.spearman AS "Spearman", c.fitness,
  c.improvement AS "after calibration",
  CASE c.claim WHEN 'fit_in_part' THEN format('{:.0f} % of responses', 100 * c.share)
    WHEN 'fit' THEN 'all responses' ELSE 'none' END AS "may replace a rater on",
  t.n_groups AS "test groups"
FROM judge_human_agreement AS h
LEFT JOIN judge_certificates AS c USING (judge_id, question_id)
LEFT JOIN (SELECT judge_id, max(n_groups) AS n_groups FROM tuned_judge_evaluation GROUP BY ALL) AS t
  USING (judge_id)
ORDER BY h.spearman DESC
"""


def _code_with(n_intents: int, judges: Sequence[dict[str, str]]) -> dict[str, object]:
    """Return the verdicts on a number of intents."""
    with _evaluated("code", judges=judges, n_groups=n_intents) as study:
        [n_labels] = study.rows("SELECT count(*) FROM human_labels").iloc[0]
        verdicts = study.rows(_JUDGES).groupby("judge")
        return {
            "intents": n_intents,
            "labels": f"{n_labels:,}",
            **{
                name: _claim(verdicts.get_group(name).iloc[0])
                for name in CODE_JUDGES
                if name in verdicts.groups
            },
        }


def _claim(row: pd.Series) -> str:
    """Return what a judge's certificate allows."""
    if row["may replace a rater on"] != "none":
        return f"PASS on {row['may replace a rater on']}"
    words = {"fit": "PASS", "unfit": "FAIL", "undecided": "NEED MORE DATA"}
    return "not tested" if pd.isna(row["fitness"]) else words.get(row["fitness"], "NOT MEASURED")


def _stories() -> Iterator[str]:
    with _evaluated("stories") as study:
        [[a_hh, low, high]] = study.rows(
            "SELECT a_hh, a_hh_low, a_hh_high FROM human_agreement WHERE scope = 'overall'"
        ).to_numpy()
        [[alpha, alpha_high]] = study.rows(
            "SELECT value, high FROM gate_verdicts "
            "WHERE gate = 'human_alpha' AND question_id IS NULL"
        ).to_numpy()
        assert high < 0.75
        assert alpha_high < 0.667
        yield "## data/stories: is there anything to calibrate to?"
        yield (
            f"Three raters scored 1,056 stories. Their A^HH is {a_hh:.3f} "
            f"[{low:.3f}, {high:.3f}] and "
            f"alpha {alpha:.3f} (at most {alpha_high:.3f}): both gates are closed, and no judge is "
            f"tuned. Both intervals lie below the minimums of 0.75 and 0.667, so "
            f"more labels of the "
            f"same kind would not open them."
        )
        yield _markdown(
            study.rows(_QUESTIONS).merge(_rankings(), on="question"),
            {"A^HH": ".3f", "by chance": ".3f", "alpha": ".3f"},
        )
        yield (
            "The study ranks judges by correlation with the mean of these ratings. "
            "The last columns "
            "show the judge that would come first of four if only one of the raters had been asked."
        )
        [n_scores] = study.rows("SELECT count(*) FROM judge_scores").iloc[0]
    yield "### What the closed gate saves"
    yield (
        f"`eval-assets check labels.csv` needs no judge and no request. The scores of the four "
        f"judges in `data/stories` are {n_scores:,} requests or more, and those "
        f"of all twenty of the "
        f"study 126,720. Two current judges would cost, for 1,056 stories of the length of the 96 "
        f"human ones and six questions, before any tuning:"
    )
    yield _markdown(pd.DataFrame(_estimates()), {})


_QUESTIONS = """
SELECT question_id AS question, a_hh AS "A^HH", a_hh_by_chance AS "by chance", alpha
FROM human_agreement WHERE scope = 'question'
"""


def _rankings() -> pd.DataFrame:
    """Return the first judge by Spearman's rho with each rater alone, and with their mean."""
    labels = pd.read_csv(DATA / "stories" / "labels.csv")
    scores = pd.read_csv(DATA / "stories" / "judge_scores.csv")
    by_judge = scores.assign(judge=scores["judge_model"].str.split("/").str[0]).pivot_table(
        index=["question_id", "response_id"], columns="judge", values="score"
    )
    by_rater = labels.pivot_table(
        index=["question_id", "response_id"], columns="rater_id", values="rating"
    )
    by_rater["all three"] = by_rater.mean(axis=1)
    rows = []
    for question in labels["question_id"].unique():
        ranks = by_judge.loc[question].rank()
        first = {
            f"first by {rater}": str(ranks.corrwith(by_rater.loc[question][rater].rank()).idxmax())
            for rater in by_rater.columns
        }
        rows.append({"question": question, **first})
    return pd.DataFrame(rows)


_ESTIMATE = re.compile(
    r"\((\S+)\): (\d+) requests, about (\d+) tokens in and (\d+) out, about ([\d.]+) USD"
)


def _estimates() -> Iterator[dict[str, object]]:
    """Yield the announced requests, tokens and cost of live judges, for as many stories."""
    responses = pd.read_csv(DATA / "stories" / "responses.csv")
    n_human = int((responses["model_name"] == "Human").sum())
    times = len(responses) // n_human
    with running() as provider:
        keys = {"OPENAI_API_KEY": "sk-a-key-of-a-test", "ANTHROPIC_API_KEY": "sk-a-key-of-a-test"}
        with _evaluated(
            "stories",
            judges=LIVE_JUDGES,
            n_groups=n_human,
            model="Human",
            environ=provider.environment | keys,
        ) as study:
            for model, n_requests, n_in, n_out, usd in _ESTIMATE.findall(study.printed):
                yield {
                    "model": model,
                    "requests": f"{int(n_requests) * times:,}",
                    "tokens in": f"{int(n_in) * times:,}",
                    "tokens out": f"{int(n_out) * times:,}",
                    "USD": f"{float(usd) * times:.2f}",
                }


def _recorded(judge: str, model: str, file: str) -> dict[str, str]:
    return {"id": judge, "provider": "recorded", "scores": file, "model": model}


@contextmanager
def _evaluated(
    name: str,
    *,
    judges: Sequence[dict[str, str]] = (),
    n_groups: int | None = None,
    model: str | None = None,
    environ: dict[str, str] | None = None,
) -> Iterator[Study]:
    """Run a copy of a study; on some of its groups, on one model, or with other judges."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(shutil.copytree(DATA / name, Path(top) / name, ignore=_made))
        declared = yaml.safe_load((folder / "evaluation.yaml").read_text("utf-8"))
        declared["judges"] = list(judges) or declared["judges"]
        (folder / "evaluation.yaml").write_text(yaml.safe_dump(declared), "utf-8")
        if n_groups is not None:
            _keep_groups(folder, n_groups, model)
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "eval_assets", "run", "--data", folder],
            env=os.environ | (environ or {}),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in {0, 3}:
            raise RuntimeError(done.stderr)
        yield Study(folder / "out" / "eval.duckdb", done.stdout + done.stderr)


def _made(_: str, names: list[str]) -> set[str]:
    return {name for name in names if name == "out" or name.startswith("ledger.sqlite")}


def _keep_groups(folder: Path, n_groups: int, model: str | None) -> None:
    """Keep the rows of so many groups, drawn with a fixed seed, and of a model if one is named."""
    responses = pd.read_csv(folder / "responses.csv", keep_default_na=False)
    groups = responses["group_id"].drop_duplicates().sample(n_groups, random_state=SEED)
    selection = responses[responses["group_id"].isin(groups)]
    selection = selection[selection["model_name"] == model] if model else selection
    selection.to_csv(folder / "responses.csv", index=False)
    for path in (folder / "labels.csv", *folder.glob("judge_scores.csv*")):
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
        rows[rows["response_id"].isin(selection["response_id"])].to_csv(path, index=False)


def _markdown(rows: pd.DataFrame, formats: dict[str, str]) -> str:
    """Return rows as a Markdown table, with the formats of some columns."""
    cells = [
        [
            "" if pd.isna(value) else format(value, formats.get(str(name), ""))
            for name, value in row.items()
        ]
        for row in rows.to_dict("records")
    ]
    lines = [list(rows.columns), ["---"] * rows.shape[1], *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
