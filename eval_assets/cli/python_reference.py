"""The page docs/python.md, made from docstrings: `python -m eval_assets.cli.python_reference`."""

import inspect
import re
import sys
from pathlib import Path
from typing import get_args

from eval_assets import stats

PAGE = Path("docs/python.md")

INTRODUCTION = """
# Agreement statistics in Python

`eval_assets.stats` is importable on its own and needs NumPy only.

```pycon
>>> from eval_assets.stats import Scale, agreement_profile
>>> ratings = [[4, 5, 4], [2, 2, None], [3, 3, 4], [1, 2, 1], [5, 5, 5], [4, 4, 3]]
>>> prompts = ["a", "a", "b", "b", "c", "c"]  # responses to one prompt are not independent
>>> scale = Scale.from_steps(low=1, high=5)
>>> print(agreement_profile(ratings, scale=scale, level="ordinal", confidence=0.95, groups=prompts))
                      value      low     high
a_hh                  0.889    0.718    0.962
exact_agreement       0.500    0.148    0.852
adjacent_agreement    1.000    0.292    1.000
alpha                 0.858    0.106    0.967
fleiss_kappa          0.433   -0.123    0.861
gwet_ac1              0.447   -0.025    0.850
gwet_ac2              0.895    0.604    0.974

```

- Ratings have the shape (n_units, n_raters): lists, arrays, data frames. NaN, None and pandas' NA
  mean that a rating is missing. Labels may be text if only equal and unequal count.
- Undefined is NaN: without two ratings of a unit, or, if chance is corrected for, without
  variation. Never 0 or 1.
- Values that differ by float noise only are equal, in every coefficient.
- The reference (human) comes before the judge. What changes the meaning of a figure is a keyword
  without default.
- `groups` names the units that are not independent, by any labels.

Made by `python -m eval_assets.cli.python_reference` from the docstrings.
"""


def python_reference() -> str:
    """Return the reference of everything that `eval_assets.stats` exports, as Markdown."""
    by_module: dict[str, list[str]] = {}
    for name in stats.__all__:
        module = str(getattr(stats, name).__module__)
        if module.startswith(stats.__name__):
            by_module.setdefault(module, []).append(name)
    parts = [INTRODUCTION]
    for module in sorted(by_module, key=lambda module: module.replace("._", ".")):
        title = inspect.getdoc(sys.modules[module]) or module
        parts.append(f"## {title.splitlines()[0].rstrip('.')}")
        parts += [_entry(name) for name in by_module[module]]
    parts += ["## Words", *(_allowed(name) for name in sorted(words()))]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def words() -> dict[str, tuple[object, ...]]:
    """Return the exported closed sets of words, with the words that they allow."""
    found = {name: get_args(getattr(stats, name)) for name in stats.__all__}
    return {name: given for name, given in found.items() if given and isinstance(given[0], str)}


def _entry(name: str) -> str:
    """Return one class or function: its signature and its docstring."""
    thing = getattr(stats, name)
    return f"### `{name}{_signature(thing)}`\n\n{_as_markdown(inspect.getdoc(thing) or '')}"


def _allowed(name: str) -> str:
    """Return one closed set of words."""
    return f"`{name}`: {', '.join(f'`{word!r}`' for word in words()[name])}"


def _signature(thing: object) -> str:
    """Return names and defaults of the parameters, without their types; empty for a protocol."""
    if not callable(thing) or getattr(thing, "_is_protocol", False):
        return ""
    signature = inspect.signature(thing)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


SECTION = re.compile(r"^(Args|Returns|Raises|References|Attributes|Examples):$")


def _as_markdown(docstring: str) -> str:
    """Return a docstring in Google's form, its sections as lists, its examples as code."""
    text: list[str] = []
    section = ""
    for line in docstring.splitlines():
        if found := SECTION.match(line):
            section = found.group(1)
            heading = {"Args": "Arguments", "Raises": "Errors"}.get(section, section)
            text += [f"**{heading}**", ""]
        elif not section or not line.strip():
            text.append(line)
        elif section == "Examples":
            text.append(line)  # four spaces make it code
        elif section in {"Args", "Attributes", "Raises"}:
            item = re.match(r"^    (\w+): (.*)$", line)
            text.append(f"- `{item.group(1)}`: {item.group(2)}" if item else f"  {line.strip()}")
        else:
            text.append(line.strip())
    return "\n".join(text).strip()


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(python_reference(), encoding="utf-8")
