"""Write every generated page: `python -m docs._generate`, at the top level of the checkout."""

from pathlib import Path

from docs._generate.commands import commands_page
from docs._generate.imports import imports_page
from docs._generate.keys import keys_page
from docs._generate.statistics import statistics_page

DOCS = Path(__file__).parents[1]


def pages() -> dict[Path, str]:
    """Return the text of every generated page."""
    return {
        DOCS / "cli.md": commands_page(),
        DOCS / "import.md": imports_page(),
        DOCS / "keys.md": keys_page(),
        DOCS / "python.md": statistics_page(),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
