"""docs/import.md names every tool with its content that is read."""

from pathlib import Path

from docs._generate.imports import EXPORTS, imports_page
from eval_assets.readers.importers import TOOLS


def test_every_tool_has_a_row_with_its_export_and_address() -> None:
    rows = [line for line in imports_page().splitlines() if line.startswith("| [")]

    assert [row.partition("]")[0].removeprefix("| [") for row in rows] == sorted(TOOLS)
    assert all("](https://" in row for row in rows)
    assert all(len(row.split(" | ")[2]) > 20 for row in rows)
    assert EXPORTS.keys() == TOOLS.keys()


def test_every_message_on_the_page_of_refusals_is_one_of_the_readers() -> None:
    top = Path(__file__).parents[3]
    folders = (top / "eval_assets" / "readers", top / "eval_assets" / "cli")
    files = [path for folder in folders for path in folder.rglob("*.py")]
    source = " ".join(" ".join(path.read_text("utf-8").split()) for path in files)
    source = source.replace('" f"', "").replace('" "', "")
    page = (top / "docs" / "refused.md").read_text("utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| ")][2:]
    pieces = [p.strip(" .,") for row in rows for p in row.partition("(")[0].split("...")]

    assert len(rows) >= 10
    values = ('"9x"', '"a" on "rating" by "x"', "5, others of 7")
    for piece in pieces:
        words = next((piece.replace(v, "").strip() for v in values if v in piece), piece)
        assert words in source, words
