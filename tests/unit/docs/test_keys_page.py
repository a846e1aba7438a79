"""docs/keys.md has every key that evaluation.yaml may have."""

import re
from pathlib import Path

import yaml

from docs._generate.keys import keys_page

TOP = Path(__file__).parents[3]


def test_every_key_says_what_it_means() -> None:
    rows = re.findall(r"^\| `\w+` \|.*$", keys_page(), re.MULTILINE)

    assert len(rows) > 60
    assert [
        row for row in rows if "" in (cell.strip() for cell in row.strip("|").split(" | "))
    ] == []


def test_the_keys_of_the_sample_are_on_the_page() -> None:
    page = keys_page()
    inputs = yaml.safe_load((TOP / "data" / "sample" / "evaluation.yaml").read_text("utf-8"))

    for key in [*inputs, *inputs["rubric"][0], *inputs["judges"][0]]:
        assert f"| `{key}` |" in page, key
