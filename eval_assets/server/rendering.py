"""Templates, static files and images of the pages, and JSON that is safe inside them."""

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
from eval_assets.labelling.rich_text import IMAGE_TYPES

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
