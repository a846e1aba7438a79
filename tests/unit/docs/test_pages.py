"""Every generated page is what its source says now."""

import json
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[3]


def test_every_generated_page_is_up_to_date() -> None:
    """If not: python -m docs._generate.

    In a Python of its own, because click keeps the help option of a command's first use.
    """
    code = (
        "import json; from docs._generate.__main__ import pages; "
        "print(json.dumps({str(path): text for path, text in pages().items()}))"
    )
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=TOP)
    pages = json.loads(printed.stdout)
    folder = TOP / "docs" / "python"

    assert len(pages) == 4
    assert [path for path, text in pages.items() if Path(path).read_text("utf-8") != text] == []
    assert {str(path) for path in folder.glob("*.md")} <= set(pages)
