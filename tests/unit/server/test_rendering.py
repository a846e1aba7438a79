import base64
import hashlib
import re
from pathlib import Path

from eval_assets.server.rendering import offline_page
from tests.unit.labelling.conftest import study_of

MOST_BYTES = 300 * 1024


def test_a_page_is_small_and_loads_nothing(tmp_path: Path) -> None:
    page = offline_page(study_of(tmp_path), "anna")

    assert len(page.encode()) < MOST_BYTES
    assert not re.findall(r"(?:src|href)=", page.replace('href="#', ""))
    assert "http" not in page.replace("http-equiv", "")


def test_its_policy_allows_its_own_scripts_and_style_and_no_connection(tmp_path: Path) -> None:
    page = offline_page(study_of(tmp_path), "anna")
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0]

    for content in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", page, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_it_holds_nothing_of_other_raters(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    page = offline_page(study, "anna")

    assert "ben" not in page.replace("benefit", "")
    assert study.secret_for("rater", "anna") not in page
