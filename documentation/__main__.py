"""Write every generated page: `python -m documentation`, at the top level of the checkout."""

from pathlib import Path

from documentation.commands import commands_page
from documentation.imports import imports_page
from documentation.keys import keys_page
from documentation.methods import methods_html
from documentation.statistics import statistics_pages

DOCS = Path(__file__).parents[1] / "docs"
METHODS = DOCS.parent / "eval_assets" / "report" / "templates" / "methods.html"


def pages() -> dict[Path, str]:
    """Return the text of every generated page."""
    return {
        DOCS / "cli.md": commands_page(),
        DOCS / "import.md": imports_page(),
        DOCS / "keys.md": keys_page(),
        METHODS: methods_html((DOCS / "methods.md").read_text("utf-8")),
        **{DOCS / path: text for path, text in statistics_pages().items()},
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
