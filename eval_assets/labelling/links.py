"""Links of raters: each stays the same until the lead replaces or revokes it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from eval_assets.errors import InputError, InputProblem
from eval_assets.labelling._durable import locked, replace_file
from eval_assets.labelling.study import Study

_FILE = ".links.json"


@dataclass(frozen=True)
class _Link:
    """How often a rater's link was replaced, and whether the last one is revoked."""

    number: int = 0
    is_revoked: bool = False


_LINKS = TypeAdapter(dict[str, _Link])


def rater_token(study: Study, rater_id: str) -> str | None:
    """Return the secret part of a rater's link; None if it is revoked."""
    link = _links(study).get(rater_id, _Link())
    return None if link.is_revoked else _token(study, rater_id, link)


def raters_by_token(study: Study) -> dict[str, str]:
    """Return the rater of each link that is valid, by the link's secret part."""
    tokens = {rater: rater_token(study, rater) for rater in study.raters}
    return {token: rater for rater, token in tokens.items() if token is not None}


def replace_link(study: Study, rater_id: str) -> str:
    """Make a new link for a rater, end the one before, and return its secret part."""
    changed = _changed(study, rater_id, lambda link: _Link(number=link.number + 1))
    return _token(study, rater_id, changed)


def revoke_link(study: Study, rater_id: str) -> None:
    """End a rater's link."""
    _changed(study, rater_id, lambda link: replace(link, is_revoked=True))


def _changed(study: Study, rater_id: str, change: Callable[[_Link], _Link]) -> _Link:
    with locked(study.sessions.path):
        links = _links(study)
        link = change(links.get(rater_id, _Link()))
        replace_file(_path(study), _LINKS.dump_json({**links, rater_id: link}, indent=1))
    return link


def _token(study: Study, rater_id: str, link: _Link) -> str:
    return study.secret_for("rater", rater_id, *([str(link.number)] if link.number else []))


def _links(study: Study) -> dict[str, _Link]:
    path = _path(study)
    try:
        return _LINKS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        message, remedy = "the file cannot be read", "Restore it, or remove it and revoke again"
        raise InputError(InputProblem(str(path), None, None, message, remedy)) from error


def _path(study: Study) -> Path:
    return study.sessions.path / _FILE
