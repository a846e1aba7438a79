"""Types of the keys of evaluation.yaml. The readers enforce them."""

from typing import Annotated

from annotated_types import Ge, Gt, Le, Predicate


def is_name(text: str) -> bool:
    """Return whether a text can be an id: not blank, and without space around it."""
    return bool(text) and text == text.strip()


def is_text(text: str) -> bool:
    """Return whether a text is not blank."""
    return bool(text.strip())


Name = Annotated[str, Predicate(is_name)]
Text = Annotated[str, Predicate(is_text)]
Positive = Annotated[float, Gt(0)]
NotNegative = Annotated[float, Ge(0)]
Count = Annotated[int, Ge(1)]
Share = Annotated[float, Gt(0), Le(1)]
Kappa = Annotated[float, Ge(-1), Le(1)]


def set_by_reader(name: str) -> dict[str, str]:
    """Return metadata of a field that the reader sets, and that is not a key of the file."""
    return {"alias": f"<{name}>"}
