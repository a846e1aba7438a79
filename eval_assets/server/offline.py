"""Offline labelling pages: one file per rater."""

import base64
import hashlib

from markupsafe import Markup

from eval_assets.labelling.pages import offline_task
from eval_assets.labelling.study import Study
from eval_assets.server._rendering import TEMPLATES, json_in_html, static_text


def offline_page(study: Study, rater_id: str) -> str:
    """Return a rater's page: it works from a file, keeps its state and saves labels to a file.

    It loads nothing and can send nothing: its policy allows its own script and style, known by
    their hashes, and no connection at all.
    """
    style = static_text("label.css")
    scripts = [static_text(name) for name in ("seal.js", "label.js")]
    allowed = " ".join(f"'{_hash(script)}'" for script in scripts)
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return TEMPLATES.get_template("offline.html.jinja").render(
        evaluation=study.evaluation.name,
        rater=rater_id,
        is_offline=True,
        task_json=json_in_html(offline_task(study, rater_id)),
        policy=Markup(policy),  # noqa: S704 - hashes and words of ours
        style=Markup(style),  # noqa: S704 - a file of ours
        scripts=[Markup(script) for script in scripts],  # noqa: S704 - files of ours
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
