"""Templates, static files and images of the pages, and JSON that is safe inside them."""

import base64
import hashlib
import json
from importlib import resources
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from eval_assets.labelling.choices import value_name
from eval_assets.labelling.pages import offline_task
from eval_assets.labelling.rich_text import IMAGE_TYPES
from eval_assets.labelling.study import Study

TEMPLATES = Environment(
    loader=PackageLoader("eval_assets.server"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters["named"] = value_name


def static_text(name: str) -> str:
    """Return a style sheet or script that ships with the package."""
    return resources.files("eval_assets.server").joinpath("static", name).read_text("utf-8")


_IMAGES: dict[str, Path] = {}
"""Images in the texts of pages by their address, which does not reveal their files."""


def image_address(path: Path) -> str:
    """Return the address of an image, which pages may load from now on."""
    code = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    _IMAGES[code] = path
    return f"/images/{code}"


def served_image(request: Request) -> Response:
    """Return the image of an address."""
    path = _IMAGES.get(request.path_params["code"])
    if path is None or not path.is_file():
        raise HTTPException(404)
    return FileResponse(path, media_type=IMAGE_TYPES[path.suffix.lower()])


def json_in_html(value: object) -> Markup:
    r"""Return JSON for a script element, escaped so that it cannot end the element.

    Examples:
        >>> json_in_html({"text": "</script><b>"})
        Markup('{"text":"\\u003c/script\\u003e\\u003cb\\u003e"}')
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - no character left that HTML gives a meaning


def offline_page(study: Study, rater_id: str) -> str:
    """Return a rater's offline page, which keeps its state and saves labels to a file.

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
