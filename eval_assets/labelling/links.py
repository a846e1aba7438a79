"""Links of raters and adjudicators: each stays the same until it is replaced or revoked."""

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
    """How often a person's links were replaced, and whether the last ones are revoked."""

    number: int = 0
    is_revoked: bool = False


_LINKS = TypeAdapter(dict[str, _Link])


def rater_token(study: Study, rater_id: str) -> str | None:
    """Return the secret part of a rater's link; None if it is revoked."""
    return _token(study, "rater", rater_id)


def adjudicators_by_token(study: Study) -> dict[str, str]:
    """Return the adjudicator of each link that is valid, by the link's secret part."""
    names = study.evaluation.labelling.adjudicators
    tokens = {name: _token(study, "adjudicator", name) for name in names}
    return {token: name for name, token in tokens.items() if token is not None}


def raters_by_token(study: Study) -> dict[str, str]:
    """Return the rater of each link that is valid, by the link's secret part."""
    tokens = {rater: rater_token(study, rater) for rater in study.raters}
    return {token: rater for rater, token in tokens.items() if token is not None}


def replace_link(study: Study, name: str) -> None:
    """End the links of a rater or adjudicator; new ones are valid."""
    _change(study, name, lambda link: _Link(number=link.number + 1))


def revoke_link(study: Study, name: str) -> None:
    """End the links of a rater or adjudicator."""
    _change(study, name, lambda link: replace(link, is_revoked=True))


def _change(study: Study, name: str, change: Callable[[_Link], _Link]) -> None:
    with locked(study.sessions.path):
        links = _links(study)
        link = change(links.get(name, _Link()))
        replace_file(_path(study), _LINKS.dump_json({**links, name: link}, indent=1))


def _token(study: Study, role: str, name: str) -> str | None:
    link = _links(study).get(name, _Link())
    if link.is_revoked:
        return None
    return study.secret_for(role, name, *([str(link.number)] if link.number else []))


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
