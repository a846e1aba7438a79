# ruff: noqa: INP001 - a script, started by its path, in a folder of data
"""Make data/code and data/stories from the files that two published studies put online.

Clone the three repositories at the commits below, then

    python data/_generate/make_studies.py --codegen-metrics DIR --ice-score DIR --hanna DIR

writes responses, labels and judge scores; running it again changes no byte. evaluation.yaml is
written by hand.

    github.com/JetBrains-Research/codegen-metrics  b630570dd513b471d941de1c85257e639a7e1a65
    github.com/terryyz/ice-score                   4e45c6dcd0a31cf62488619ce23cecc032263d8b
    github.com/dig-team/hanna-benchmark-asg        282f27536a5d05ad4ce14298abcd70c45668fed2
"""

import argparse
import csv
import gzip
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1]

SYSTEMS = ("baseline", "tranx-annot", "best-tranx", "best-tranx-rerank", "codex")
REFERENCE = "snippet"
"""Key of the snippet that a person wrote: graded by people, not by the judges."""

CODE_JUDGES = {
    "ice-score-only-noref": "conala_no_step_no_ref_gpt35.json",
    "ice-score-only-ref": "conala_no_step_with_ref_gpt35.json",
    "ice-cot-noref": "conala_with_step_no_ref_gpt35.json",
    "ice-cot-ref": "conala_with_step_with_ref_gpt35.json",
}

GRADE = re.compile(r"(?:\b(?:usefulness|score)\b|rated as)[^0-9\n.]*([0-4])", re.IGNORECASE)
"""A grade in the text of a judge that explains itself; the last one counts."""

CRITERIA = {
    "relevance": "RE",
    "coherence": "CH",
    "empathy": "EM",
    "surprise": "SU",
    "engagement": "EG",
    "complexity": "CX",
}
STORY_JUDGES = ("ChatGPT", "Mistral-7B", "Beluga-13B", "Llama-13B")
"""With the first of the study's four prompts."""

RESPONSES = ("response_id", "prompt_text", "response_text", "model_name", "group_id")
LABELS = ("response_id", "rater_id", "question_id", "rating")
SCORES = ("response_id", "judge_model", "question_id", "score")

Row = Sequence[object]


def main() -> None:
    """Write the tables of both studies."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("codegen-metrics", "ice-score", "hanna"):
        parser.add_argument(f"--{name}", type=Path, required=True, help="a clone of it")
    options = parser.parse_args()
    make_code(options.codegen_metrics, options.ice_score)
    make_stories(options.hanna)


def make_code(codegen_metrics: Path, ice_score: Path) -> None:
    """Write the grades of code snippets and the replies of four judges."""
    source = codegen_metrics / "data" / "to-grade" / "conala"
    graded = json.loads((source / "conala-human-grades.json").read_text("utf-8"))
    judged = json.loads((source / "conala.json").read_text("utf-8"))
    # The graders' file merged intents that occur twice; the judges' files did not.
    first = {entry["intent"]: place for place, entry in reversed(list(enumerate(judged)))}
    folder = FOLDER / "code"
    write_csv(folder / "responses.csv", RESPONSES, _code_responses(graded))
    write_csv(folder / "labels.csv", LABELS, _code_labels(graded))
    replies = {
        judge: json.loads((ice_score / "experiment_source" / "original_output" / "conala" / file)
                          .read_text("utf-8"))
        for judge, file in CODE_JUDGES.items()
    }  # fmt: skip
    rows = (
        (_code_id(place, system), f"gpt-3.5-turbo/{judge}", "usefulness", grade(text), text)
        for judge, entries in replies.items()
        for place, entry in enumerate(graded)
        for system in SYSTEMS
        for text in [entries[first[entry["intent"]]][f"gpt3.5-{system}"]]
    )
    write_csv(folder / "judge_scores.csv.gz", (*SCORES, "raw_output"), rows)


def grade(reply: str) -> str:
    """Return the grade that a reply gives; empty if it gives none."""
    if re.fullmatch(r"\s*[0-4]\s*", reply):
        return reply.strip()
    grades = GRADE.findall(reply)
    return str(grades[-1]) if grades else ""


def make_stories(hanna: Path) -> None:
    """Write the ratings of stories and the scores of four judges."""
    with (hanna / "hanna_metric_scores_llm.csv").open(encoding="utf-8", newline="") as file:
        systems = list(csv.DictReader(file))
    with (hanna / "hanna_llm_stories.csv").open(encoding="utf-8", newline="") as file:
        human_stories = {row["Prompt"]: row["Human"] for row in csv.DictReader(file)}
    folder = FOLDER / "stories"
    write_csv(folder / "responses.csv", RESPONSES, _story_responses(systems, human_stories))
    labels = (
        (identity, f"slot{slot}", criterion, rating)
        for slot in (1, 2, 3)
        for criterion, short in CRITERIA.items()
        for identity, rating in _by_story(systems, f"Human {slot} {short}")
    )
    write_csv(folder / "labels.csv", LABELS, labels)
    scores = (
        (identity, f"{judge}/eval-prompt-1", criterion, f"{score:.11g}" if score >= 1 else "")
        for judge in STORY_JUDGES
        for criterion, short in CRITERIA.items()
        for identity, score in _by_story(systems, f"{judge} {short} 1")
    )
    write_csv(folder / "judge_scores.csv", SCORES, scores)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a table, compressed if its name says so."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    content = text.getvalue().encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def _code_responses(graded: Sequence[Mapping[str, Any]]) -> Iterable[Row]:
    for place, entry in enumerate(graded):
        group = f"conala_{place:03d}"
        for system in SYSTEMS:
            yield _code_id(place, system), entry["intent"], entry[system], system, group
        reference = entry[REFERENCE][0]
        yield _code_id(place, REFERENCE), entry["intent"], reference, "human-reference", group


def _code_labels(graded: Sequence[Mapping[str, Any]]) -> Iterable[Row]:
    for place, entry in enumerate(graded):
        for system in (*SYSTEMS, REFERENCE):
            for grader, value in entry[f"grade-{system}"].items():
                yield _code_id(place, system), grader, "usefulness", value


def _code_id(place: int, system: str) -> str:
    return f"conala_{place:03d}__{system}"


def _story_responses(
    systems: Sequence[Mapping[str, str]], human_stories: Mapping[str, str]
) -> Iterable[Row]:
    for place, system in enumerate(systems):
        for index, (prompt, story) in enumerate(human_stories.items()):
            number = place * len(human_stories) + index
            text = story if system["Model"] == "Human" else f"[story {number} of HANNA; no text]"
            yield f"hanna_{number:04d}", prompt, text, system["Model"], f"prompt_{index:02d}"


def _by_story(systems: Sequence[Mapping[str, str]], column: str) -> Iterable[tuple[str, float]]:
    """Yield story and value from the lists of a column, which holds one for each system."""
    values = [value for system in systems for value in json.loads(system[column])]
    return ((f"hanna_{number:04d}", value) for number, value in enumerate(values))


if __name__ == "__main__":
    main()
