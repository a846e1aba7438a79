"""Templates and static files of the pages, and JSON that is safe inside them."""

import json
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from eval_assets.labelling.choices import value_name

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


def json_in_html(value: object) -> Markup:
    r"""Return JSON for a script element: nothing in it can end the element or start another.

    Examples:
        >>> json_in_html({"text": "</script><b>"})
        Markup('{"text":"\\u003c/script\\u003e\\u003cb\\u003e"}')
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - no character left that HTML gives a meaning
