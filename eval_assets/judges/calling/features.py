"""Parts of a request that a model or server may refuse, recognised by its first refusal."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import get_args

from eval_assets.judges.calling.live_model import AnyLiveModel
from eval_assets.judges.calling.requests import (
    Feature,
    Message,
    ModelRequest,
    Outcome,
    RequestFailed,
)
from eval_assets.ledger import Reply

logger = logging.getLogger(__name__)

_SETTINGS: Mapping[Feature, Collection[str]] = {
    "temperature": ("temperature", "top_p", "top_k"),
    "effort": ("effort",),
    "seed": ("seed",),
}


def alternatives(request: ModelRequest) -> dict[Feature, ModelRequest]:
    """Return the parts of a request that may be refused, each with the request without it."""
    is_short = request.max_tokens_name == "max_tokens"
    other_name = replace(
        request, max_tokens_name="max_completion_tokens" if is_short else "max_tokens"
    )
    result: dict[Feature, ModelRequest] = {request.max_tokens_name: other_name}
    if isinstance(request.schema, Mapping):
        result["json_schema"] = replace(request, schema="json_object")
    elif request.schema is not None:
        result["json_object"] = replace(request, schema=None)
    for feature, names in _SETTINGS.items():
        rest = {name: value for name, value in request.settings.items() if name not in names}
        if len(rest) < len(request.settings):
            result[feature] = replace(request, settings=rest)
    first, *messages = request.messages
    if first.role == "system":
        user, *turns = messages
        joined = Message(user.role, f"{first.text}\n\n{user.text}")
        result["system"] = replace(request, messages=(joined, *turns))
    return result


_OTHER_NAME: Mapping[Feature, Feature] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}


class FeatureMemory:
    """The parts of a request that a model, where it is served, takes or refuses.

    A part that a refusal names is left out of every request from then on. It counts as refused
    once a request without it is answered; if none is, it was not the reason. `refusals` are
    those of earlier runs, `new_refusals` those of this one, with what was said.
    """

    def __init__(self, model: AnyLiveModel, refusals: Collection[str]) -> None:
        self.new_refusals: dict[str, str] = {}
        self._model = model
        self._refused: set[Feature] = {
            feature for feature in get_args(Feature) if feature in refusals
        }
        if not model.capabilities.system:
            self._refused.add("system")
        self._suspected: dict[Feature, str] = {}
        self._proven: set[Feature] = set()

    def fit(self, request: ModelRequest) -> ModelRequest:
        """Return the request in the form that the model takes, as far as is known."""
        capabilities = self._model.capabilities
        if isinstance(request.schema, Mapping) and not capabilities.json_schema:
            request = replace(request, schema="json_object" if capabilities.json_object else None)
        avoided = self._refused | self._suspected.keys()
        while avoided and (present := (smaller := alternatives(request)).keys() & avoided):
            request = smaller[min(present)]
        return request

    def heed(self, request: ModelRequest, outcome: Outcome) -> None:
        """Learn from an outcome; a failure that another form may avoid is to be adapted.

        A part that was answered before cannot be the reason of a refusal, whatever its message
        says: it may quote the prompt.
        """
        features = alternatives(request).keys()
        if isinstance(outcome, Reply):
            if not outcome.text.strip():
                return
            self._proven |= features
            for feature in sorted(self._suspected.keys() - features):
                self.new_refusals[feature] = self._suspected.pop(feature)
                self._refused.add(feature)
                logger.warning(
                    "%s does not take %s: %s is asked without it. The next run knows; "
                    "capabilities in evaluation.yaml declares what a model takes",
                    *(self._model.endpoint.model, feature, self._model.id),
                )
            return
        avoided = self._refused | self._suspected.keys()
        for feature in outcome.refused:
            if feature in features - self._proven and _OTHER_NAME.get(feature) not in avoided:
                if feature not in self._refused:
                    self._suspected.setdefault(feature, str(outcome))
                outcome.remedy = "adapt"
                return

    def suspect_form(self, request: ModelRequest, failure: RequestFailed) -> bool:
        """Suspect the form of the reply; return whether there is another form to try."""
        features = alternatives(request).keys() - self._proven
        for feature in features & {"json_schema", "json_object"}:
            self._suspected.setdefault(feature, str(failure))
            failure.remedy = "adapt"
            return True
        return False

    def forget_suspicions(self) -> None:
        """Forget what was suspected, because no request without it was answered."""
        self._suspected.clear()
