# ruff: noqa: INP001 - a script, started by its path, in a folder of data
"""Make up the evaluation data/tuning, the same on every run: judges of which the truth is known.

Three systems answer 200 household questions; an answer holds between one and five of the five steps
that it takes, and chatter that makes it longer without making it better. Three raters and three
judges rate how complete it is: `harsh` sees what people see and uses only the values 1 to 3,
`steady` rates as people do, `verbose` goes by length. People rated the answers to 150 questions.

`python data/_generate/make_tuning.py` writes the folder; with `--compare` it says how far what a
run measured is from what was planted (planted.csv).
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from eval_assets.scale import LIKERT5
from eval_assets.stats import best_monotone_map, concordance, non_inferiority
from eval_assets.store.connection import connect
from eval_assets.store.schema import read_table

FOLDER = Path(__file__).parents[1] / "tuning"
SEED = 20261122

N_RATED, N_PROMPTS = 150, 200
N_DRAWN = 400_000
"""Answers that the planted figures are computed on: they are known to about .002."""

SYSTEMS = {"aster": 0.35, "birch": 0.0, "cedar": -0.3}
"""How much better than average each system's answers are, in steps."""

RATER_NOISE = 0.7
RATERS = {"r1": 0.0, "r2": 0.15, "r3": -0.15}
"""How much higher than the others each rater rates."""

Floats = npt.NDArray[np.float64]

TASKS = {
    "descale a kettle": (
        "Fill it with equal parts of water and vinegar.",
        "Bring that to the boil once.",
        "Leave it to stand for an hour.",
        "Pour it away and wipe the inside.",
        "Boil clear water twice before you use it.",
    ),
    "bleed a radiator": (
        "Turn the heating off and let it cool.",
        "Hold a cloth and a cup under the valve.",
        "Open the valve a quarter turn until the hissing stops.",
        "Close it as soon as water comes.",
        "Check the pressure of the boiler and top it up.",
    ),
    "sharpen a kitchen knife": (
        "Soak the stone for ten minutes.",
        "Hold the blade at about fifteen degrees.",
        "Draw it over the coarse side ten times on each side.",
        "Repeat that on the fine side.",
        "Wash the blade and try it on paper.",
    ),
    "repot a cactus": (
        "Wait until the soil is dry.",
        "Lift the plant with folded newspaper.",
        "Shake the old soil off and cut dead roots.",
        "Set it into gritty soil, one size larger.",
        "Do not water it for a week.",
    ),
    "fix a dripping tap": (
        "Shut off the water below the basin.",
        "Take off the handle and unscrew the bonnet.",
        "Replace the worn washer with one of the same size.",
        "Grease the thread and put it together.",
        "Open the water slowly and look for drops.",
    ),
    "remove red wine from a carpet": (
        "Blot it with a dry cloth, from the edge inward.",
        "Wet it with cold water and blot again.",
        "Put on a paste of baking soda and water.",
        "Let it dry completely.",
        "Vacuum the powder and repeat if a trace is left.",
    ),
    "patch a bicycle tube": (
        "Take the wheel off and lever the tyre over the rim.",
        "Find the hole under water.",
        "Roughen the spot and spread the glue thinly.",
        "Wait until the glue is dull, then press the patch on.",
        "Check the tyre for what made the hole.",
    ),
    "bake a plain loaf": (
        "Mix flour, water, salt and yeast.",
        "Knead for ten minutes.",
        "Let the dough double in size.",
        "Shape it and let it rise once more.",
        "Bake it at 230 degrees until it sounds hollow.",
    ),
    "hang a heavy picture": (
        "Find out what the wall is made of.",
        "Look for pipes and cables with a detector.",
        "Drill a hole of the size of the plug.",
        "Put in the plug and turn in the screw.",
        "Pull at the screw before you hang anything on it.",
    ),
    "unblock a sink": (
        "Put on gloves and scoop out what you can see.",
        "Close the overflow with a wet cloth.",
        "Work the plunger up and down twenty times.",
        "If it stays blocked, put a bucket under the trap and open it.",
        "Rinse with hot water.",
    ),
}
PLACES = (
    "in a rented flat",
    "with a toddler around",
    "before guests arrive",
    "on a small budget",
    "for the first time",
    "without special tools",
    "late in the evening",
    "in an old house",
    "with one hand in plaster",
    "while the shops are closed",
    "in a shared kitchen",
    "on a houseboat",
    "for my grandmother",
    "in winter",
    "with hard water",
    "in twenty minutes",
    "without making noise",
    "at a campsite",
    "after moving in",
    "with things from the cupboard",
)
CHATTER = (
    "That is a good question, and many people ask it.",
    "There are of course several schools of thought on this.",
    "My neighbour used to swear by something else entirely.",
    "It is the kind of job that grows on you.",
    "You will find that patience is half of it.",
    "Some would tell you to call somebody, and why not.",
    "I always find this rather satisfying.",
    "It goes without saying that care is needed.",
)
VAGUE = "Then do what seems right at this point."


def stream(name: str) -> np.random.Generator:
    """Return the chance that goes with one part of the data, whatever else is drawn."""
    return np.random.default_rng([SEED, *name.encode()])


def rated(complete: Floats, rng: np.random.Generator, *, lenient: float) -> Floats:
    """Return what a person gives to answers with so many steps."""
    values: Floats = np.clip(
        np.rint(complete + lenient + rng.normal(0, RATER_NOISE, len(complete))), 1, 5
    )
    return values


def harsh(complete: Floats, rng: np.random.Generator) -> Floats:
    """Return scores that lose nothing but the upper half of the scale."""
    seen = complete + rng.normal(0, RATER_NOISE, len(complete))
    values: Floats = 1 + np.digitize(seen, (2.5, 4.2)).astype(np.float64)
    return values


def steady(complete: Floats, rng: np.random.Generator) -> Floats:
    """Return scores of a judge that rates as a person does."""
    return rated(complete, rng, lenient=0.0)


def verbose(n_chatter: npt.NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """Return scores that rise with the chatter and not with the steps."""
    values: Floats = np.clip(1 + n_chatter * 0.6 + rng.normal(0, 0.5, len(n_chatter)), 1, 5)
    return np.rint(values)


def answers(rng: np.random.Generator, n_prompts: int) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return how many steps each answer holds and how many sentences of chatter, prompt by prompt.

    The answers of all systems to one prompt stand together.
    """
    n_systems = len(SYSTEMS)
    easy = np.repeat(rng.normal(0, 0.6, n_prompts), n_systems)
    better = np.tile(list(SYSTEMS.values()), n_prompts)
    complete = np.clip(np.rint(3 + easy + better + rng.normal(0, 1.3, len(easy))), 1, 5)
    return complete, rng.integers(0, 7, len(easy))


def text(task: str, n_steps: int, n_chatter: int, rng: np.random.Generator) -> str:
    """Return an answer that holds so many of the task's steps and so much chatter."""
    kept = set(rng.permutation(len(TASKS[task]))[:n_steps].tolist())
    sentences = [step if k in kept else VAGUE for k, step in enumerate(TASKS[task])]
    for sentence in rng.choice(CHATTER, n_chatter, replace=False):
        sentences.insert(int(rng.integers(0, len(sentences) + 1)), str(sentence))
    return " ".join(sentences)


def write(name: str, rows: list[dict[str, object]]) -> None:
    """Write a CSV file, its columns those of the first row."""
    with (FOLDER / name).open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def make() -> None:
    """Write responses, labels, judge scores and the planted figures."""
    complete, n_chatter = answers(stream("answers"), N_PROMPTS)
    prompts = [(task, place) for place in PLACES for task in TASKS]
    order = stream("prompts").permutation(len(prompts))
    texts = stream("texts")
    responses: list[dict[str, object]] = []
    for k, (steps, chatter) in enumerate(zip(complete, n_chatter, strict=True)):
        prompt, system = divmod(k, len(SYSTEMS))
        task, place = prompts[order[prompt]]
        name = list(SYSTEMS)[system]
        responses.append(
            {
                "response_id": f"q{prompt:03}-{name}",
                "prompt_text": f"How do I {task} {place}?",
                "response_text": text(task, int(steps), int(chatter), texts),
                "model_name": name,
                "group_id": f"q{prompt:03}",
            }
        )
    write("responses.csv", responses)
    n_rated = N_RATED * len(SYSTEMS)
    labels = {
        rater: rated(complete[:n_rated], stream(rater), lenient=lenient)
        for rater, lenient in RATERS.items()
    }
    write(
        "labels.csv",
        [
            {
                "response_id": responses[k]["response_id"],
                "rater_id": rater,
                "question_id": "completeness",
                "rating": int(values[k]),
            }
            for k in range(n_rated)
            for rater, values in labels.items()
        ],
    )
    judges = judged(complete, n_chatter)
    write(
        "judge_scores.csv",
        [
            {
                "response_id": response["response_id"],
                "judge_model": judge,
                "question_id": "completeness",
                "score": int(values[k]),
            }
            for judge, values in judges.items()
            for k, response in enumerate(responses)
        ],
    )
    write("planted.csv", planted())


def judged(complete: Floats, n_chatter: npt.NDArray[np.int64]) -> dict[str, Floats]:
    """Return every judge's scores."""
    return {
        "harsh": harsh(complete, stream("harsh")),
        "steady": steady(complete, stream("steady")),
        "verbose": verbose(n_chatter, stream("verbose")),
    }


def planted() -> list[dict[str, object]]:
    """Return the figures that endless data would show, and the verdicts to expect."""
    complete, n_chatter = answers(stream("planted"), N_DRAWN // len(SYSTEMS))
    people = np.stack(
        [rated(complete, stream(f"planted {r}"), lenient=x) for r, x in RATERS.items()], axis=1
    )
    expected = {"harsh": ("accepted", ""), "steady": ("unchanged", "fit"), "verbose": ("", "unfit")}
    rows: list[dict[str, object]] = []
    for judge, scores in judged(complete, n_chatter).items():
        best = best_monotone_map(people, scores, scale=LIKERT5)
        figures = non_inferiority(people, scores, margin=0.1, level="ordinal")
        improvement, fitness = expected[judge]
        rows.append(
            {
                "judge_id": judge,
                "kappa_raw": round(concordance(people, scores), 3),
                "kappa_mapped": round(concordance(people, best(scores)), 3),
                "kappa_people": round(figures.people.value, 3),
                "improvement": improvement,
                "fitness": fitness,
            }
        )
    return rows


def compare() -> str:
    """Return what a run of the folder measured on its sealed test beside what was planted."""
    with connect(FOLDER / "out" / "eval.duckdb") as connection:
        tested = read_table(connection, "tuned_judge_evaluation", order_by="judge_id, kind")
    with (FOLDER / "planted.csv").open(encoding="utf-8", newline="") as file:
        expected = {row["judge_id"]: row for row in csv.DictReader(file)}
    lines = [
        f"{'judge':8} {'claim':12} {'planted':11} {'found':11}  figures: planted, found, apart"
    ]
    for row in tested.to_dict("records"):
        truth = expected[row["judge_id"]]
        claim = row["kind"]
        own = "kappa_mapped" if claim == "improvement" else "kappa_raw"
        pairs = (("judge", own, "kappa"), ("people", "kappa_people", "kappa_people"))
        apart = []
        for name, ours, theirs in pairs:
            planned, found = float(truth[ours]), row[theirs]
            if found is not None and not np.isnan(found):
                apart.append(f"{name} {planned:.3f} {found:.3f} {found - planned:+.3f}")
        lines.append(
            f"{row['judge_id']:8} {claim:12} {truth[claim] or '(any)':11} {row['verdict']:11}  "
            + ("; ".join(apart) or "kept by the seal")
        )
    return "\n".join(lines)


def main() -> None:
    """Write the folder, or compare a run of it with what was planted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--compare", action="store_true", help="compare the last run with what was planted"
    )
    if parser.parse_args().compare:
        sys.stdout.write(f"{compare()}\n")
    else:
        make()


if __name__ == "__main__":
    main()
