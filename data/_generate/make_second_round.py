# ruff: noqa: INP001, T201 - a script, started by its path, in a folder of data
"""Invent a second round of labelling, to try what follows a closed gate without people.

`responses FOLDER` adds invented responses, `labels FOLDER` fills in the empty scores of sheets.
Nothing here was written or rated by a person: the ids and the model say so.
"""

import argparse
import csv
import hashlib
import random
from pathlib import Path

N_RESPONSES = 150
MARK = "invented"
NOISE = 0.55
"""Standard deviation of a rater's error, in scale points."""

LOW, HIGH = 1, 5


def main() -> None:
    """Run one of the two steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["responses", "labels"])
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    if arguments.step == "responses":
        add_responses(arguments.folder / "responses.csv")
    else:
        for path in sorted((arguments.folder / "labels").glob("*.csv")):
            fill_in(path)


def add_responses(path: Path) -> None:
    """Add invented responses to a file of responses, once."""
    rows, columns = read(path)
    if any(row["model_name"] == MARK for row in rows):
        return
    for number in range(N_RESPONSES):
        row = {
            "response_id": f"{MARK}_{number:03}",
            "prompt_text": f"Invented prompt {number}.",
            "response_text": f"Invented story {number}, in place of one that no rater has read.",
            "model_name": MARK,
            "group_id": f"{MARK}_{number:03}",
        }
        rows.append(dict.fromkeys(columns, "") | row)
    write(path, rows, columns)
    print(f"added {N_RESPONSES} invented responses to {path}")


def fill_in(path: Path) -> None:
    """Fill in the empty scores of a sheet: the value of each response with the rater's error."""
    rows, columns = read(path)
    n_filled = 0
    for row in rows:
        if not row["score"]:
            # A sheet holds a code in place of the id, but the text has the number.
            number = int(row["response_text"].split()[2].rstrip(","))
            name = f"{MARK}_{number:03}", row["question_id"]
            value = chance(*name).uniform(LOW - 0.5, HIGH + 0.5)
            rating = round(value + chance(*name, row["rater_id"]).gauss(0, NOISE))
            row["score"] = str(min(HIGH, max(LOW, rating)))
            n_filled += 1
    write(path, rows, columns)
    print(f"invented {n_filled} scores in {path}")


def chance(*names: str) -> random.Random:
    """Return a source of chance that depends on nothing but the names."""
    return random.Random(hashlib.sha256("\x1f".join(names).encode()).digest())  # noqa: S311


def read(path: Path) -> tuple[list[dict[str, str]], list[str]]:
    """Return the rows of a file, and its columns."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        table = csv.DictReader(file)
        return list(table), list(table.fieldnames or ())


def write(path: Path, rows: list[dict[str, str]], columns: list[str]) -> None:
    """Write rows in place of a file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, columns)
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
