# ruff: noqa: INP001 - a script, started by its path, in a folder of data
"""Make up the ratings and judge replies of both sample evaluations, the same on every run.

Written by hand: the responses (sample/responses.csv); what each is worth on every question, how it
treats the user, how it helps and a remark (quality.csv); how judges close a rationale
(verdicts.csv); what raters and judges wrote in place of a rating (exceptions.csv). Drawn here:
what every rater and judge makes of a response. Run it as `python data/_generate/make_ratings.py`.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).parent
DATA = HERE.parent
SEED = 20261121

Row = dict[str, str]
Floats = npt.NDArray[np.float64]
Exceptions = dict[tuple[str, str, str], str]
"""What was written in place of a rating, by rater, response and question."""


@dataclass(frozen=True)
class Question:
    """A question of the rubric.

    Args:
        id: Name of the question, and of the column of quality.csv that holds the worth.
        low: Lowest value of the scale.
        high: Highest value.
        scatter: Standard deviation of one rater's impressions, in scale points.
        facet: Column of quality.csv that tells what a judge bases the score on.
    """

    id: str
    low: int
    high: int
    scatter: float
    facet: str


@dataclass(frozen=True)
class Reading:
    """A rater's own idea of what a question asks.

    Args:
        worth: One value in [0, 1] a response; 1 is best.
        remarks: What the rater writes beside the best and the worst of all, by question; questions
            not named are rated by the guidelines.
    """

    worth: Callable[[list[Row]], Floats]
    remarks: dict[str, tuple[str, str]]


@dataclass(frozen=True)
class Rater:
    """A human rater.

    Args:
        id: Name of the rater.
        severity: Share of the scale by which the rater marks everything down.
        starts_at: When the rater begins.
        reading: Own idea of what is asked; None where the rater keeps to the guidelines.
        stops_before: Conversation that the rater no longer got to.
    """

    id: str
    severity: float
    starts_at: datetime
    reading: Reading | None = None
    stops_before: str | None = None


@dataclass(frozen=True)
class Judge:
    """A made-up LLM rater; `reply` words a score and a rationale, the rest is as in a rater."""

    model: str
    severity: float
    reply: Callable[[int, str], str]
    reading: Reading | None = None


def ranks(values: Iterable[float]) -> Floats:
    """Each value's rank, taken to [0, 1]; ties in the order given."""
    order = np.argsort(np.argsort(np.array(list(values)), kind="stable"))
    return order / (len(order) - 1)


def usefulness(responses: list[Row]) -> Floats:
    """A rater for whom good help respects the user, and all else is beside the point."""
    return ranks(float(response["helpfulness"]) for response in responses)


def brevity(responses: list[Row]) -> Floats:
    """A rater for whom every further word is pressure."""
    return ranks(-len(response["response_text"].split()) for response in responses)


def softness(responses: list[Row]) -> Floats:
    """A rater who counts soft words against commanding ones and looks no further."""
    soft = re.compile(r"\b(if|could|may|might|perhaps|maybe|like|love|glad|thank)\b", re.IGNORECASE)
    hard = re.compile(r"\b(must|should|never|not?|stop|exactly|will|need)\b", re.IGNORECASE)
    texts = [response["response_text"] for response in responses]
    return ranks(len(soft.findall(text)) - len(hard.findall(text)) for text in texts)


def reply_in_json(score: int, rationale: str) -> str:
    """A reply as a JSON object."""
    return json.dumps({"score": score, "rationale": rationale}, ensure_ascii=False)


def reply_in_prose(score: int, rationale: str) -> str:
    """A reply in two lines of text."""
    return f"Rationale: {rationale}\nScore: {score}"


QUESTIONS = (
    Question("respects_autonomy", 1, 4, scatter=0.42, facet="conduct"),
    Question("helpfulness", 1, 5, scatter=0.62, facet="help"),
    Question("coercion_free", 0, 1, scatter=0.24, facet="conduct"),
)

OWN_SHARE = 0.8
"""Weight of the own reading where a rater has one; the guidelines have the rest."""

USEFUL = Reading(
    usefulness,
    {
        "respects_autonomy": ("gets the user where they want to go", "no help, so no respect"),
        "coercion_free": ("useful, and nobody is forced to be helped", "leaves no way forward"),
    },
)
SHORT = Reading(
    brevity,
    {
        "respects_autonomy": ("short, leaves the user room", "does all the thinking for the user"),
        "coercion_free": ("too short to push anybody", "wears the user down with words"),
    },
)
SOFT = Reading(
    softness,
    {
        "respects_autonomy": ("asks and offers", "tells the user what to do"),
        "coercion_free": ("gentle wording throughout", "orders and absolutes"),
    },
)

LAST_CONVERSATION = "L4_HAI_EncouragesOwnSkill_04"

RATERS = {
    "sample": (
        Rater("r1", 0.00, datetime(2026, 10, 12, 8, 30, tzinfo=UTC)),
        Rater("r2", 0.05, datetime(2026, 10, 13, 13, 5, tzinfo=UTC)),
        Rater("r3", -0.04, datetime(2026, 10, 13, 17, 40, tzinfo=UTC), None, LAST_CONVERSATION),
    ),
    "contested": (
        Rater("r4", 0.00, datetime(2026, 10, 19, 9, 0, tzinfo=UTC), reading=USEFUL),
        Rater("r5", 0.00, datetime(2026, 10, 19, 14, 20, tzinfo=UTC), reading=SHORT),
        Rater("r6", 0.05, datetime(2026, 10, 20, 7, 45, tzinfo=UTC), reading=SOFT),
    ),
}

JUDGES = (
    Judge("judge-wren-mini", 0.01, reply_in_json),
    Judge("judge-osprey-2", -0.08, reply_in_prose),
)


def stream(name: str) -> np.random.Generator:
    """The chance that goes with one rater or judge, whoever else rates."""
    return np.random.default_rng([SEED, *name.encode()])


def read(path: Path) -> list[Row]:
    """Rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[Row]) -> None:
    """Rows to a CSV file, its columns those of the first row."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def impressions(
    rater: Rater | Judge, question: Question, responses: list[Row], rng: np.random.Generator
) -> Floats:
    """What the rater would answer if there were values between the steps of the scale."""
    width = question.high - question.low
    seen = np.array([float(response[question.id]) for response in responses])
    if rater.reading is not None and question.id in rater.reading.remarks:
        own = question.low + width * rater.reading.worth(responses)
        seen = OWN_SHARE * own + (1 - OWN_SHARE) * seen
    noise = rng.normal(0, question.scatter, len(responses))
    return np.clip(seen - rater.severity * width + noise, question.low, question.high)


def confidence(impression: float) -> str:
    """The nearer the impression lies to a value of the scale, the surer the rater."""
    distance = abs(impression - round(impression))
    return str(np.select([distance < 0.2, distance < 0.4], ["high", "medium"], default="low"))  # noqa: PLR2004 - in steps


def remarks(rater: Rater, question: Question, responses: list[Row], felt: Floats) -> list[str]:
    """What the rater writes beside each rating; mostly nothing."""
    if rater.reading is None:
        told = (rater.id, question.id)
        return [r["note"] if (r["noted_by"], r["note_on"]) == told else "" for r in responses]
    praise, complaint = rater.reading.remarks.get(question.id, ("", ""))
    best, worst = np.rint(felt) == question.high, np.rint(felt) == question.low
    worth = rater.reading.worth(responses)
    cases = [best & (worth > np.quantile(worth, 0.95)), worst & (worth < np.quantile(worth, 0.05))]
    return [str(text) for text in np.select(cases, [praise, complaint], default="")]


def labels(rater: Rater, responses: list[Row], exceptions: Exceptions) -> list[Row]:
    """The rater's rows of labels.csv, response by response."""
    rng = stream(rater.id)
    felt = [impressions(rater, q, responses, rng) for q in QUESTIONS]
    notes = [remarks(rater, q, responses, f) for q, f in zip(QUESTIONS, felt, strict=True)]
    seconds = rng.integers(15, 60, (len(responses), len(QUESTIONS))).cumsum()
    at = iter(rater.starts_at + timedelta(seconds=int(s)) for s in seconds)
    rows = []
    for i, response in enumerate(responses):
        if response["convo_id"] == rater.stops_before:
            break
        for question, values, note in zip(QUESTIONS, felt, notes, strict=True):
            reason = exceptions.get((rater.id, response["response_id"], question.id))
            row = {
                "response_id": response["response_id"],
                "rater_id": rater.id,
                "question_id": question.id,
                "rating": str(round(values[i])),
                "labelled_at": f"{next(at):%Y-%m-%dT%H:%M:%SZ}",
                "confidence": confidence(values[i]),
                "notes": note[i],
            }
            unrated = {"rating": "", "confidence": "", "notes": reason} if reason else {}
            rows.append(row | unrated)
    return rows


def replies(
    judge: Judge, responses: list[Row], verdicts: list[Row], exceptions: Exceptions
) -> list[Row]:
    """The judge's rows of judge_scores.csv: raw replies, from which a program reads the score."""
    rng = stream(judge.model)
    closings: dict[tuple[str, str], list[str]] = {}
    for row in verdicts:
        closings.setdefault((row["question_id"], row["score"]), []).append(row["verdict"])
    rows = []
    for q in QUESTIONS:
        felt = impressions(judge, q, responses, rng)
        for response, score in zip(responses, np.rint(felt).astype(int), strict=True):
            unit = (judge.model, response["response_id"], q.id)
            closing = rng.choice(closings[q.id, str(score)])
            reply = judge.reply(int(score), f"The response {response[q.facet]}. {closing}")
            rows.append(
                {
                    "response_id": response["response_id"],
                    "judge_model": judge.model,
                    "question_id": q.id,
                    "raw_output": exceptions.get(unit, reply),
                }
            )
    return rows


def main() -> None:
    """Write labels and judge replies of both folders, and the responses they share."""
    given = read(DATA / "sample" / "responses.csv")
    quality = {row["response_id"]: row for row in read(HERE / "quality.csv")}
    responses = [response | quality[response["response_id"]] for response in given]
    verdicts = read(HERE / "verdicts.csv")
    exceptions = {
        (row["rater"], row["response_id"], row["question_id"]): row["written"]
        for row in read(HERE / "exceptions.csv")
    }
    judged = [row for judge in JUDGES for row in replies(judge, responses, verdicts, exceptions)]
    for folder, raters in RATERS.items():
        rated = [row for rater in raters for row in labels(rater, responses, exceptions)]
        write(DATA / folder / "labels.csv", rated)
        write(DATA / folder / "judge_scores.csv", judged)
    write(DATA / "contested" / "responses.csv", given)


if __name__ == "__main__":
    main()
