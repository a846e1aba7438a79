"""Parts of a request that a model or server may refuse, recognised by its first refusal."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, assert_never, get_args

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

_SAMPLING = ("temperature", "top_p", "top_k")
_FORMS: tuple[Feature, ...] = ("json_schema", "json_object")


def features_of(request: ModelRequest) -> frozenset[Feature]:
    """Return the parts of a request that may be refused."""
    presence: dict[Feature, bool] = {
        "json_schema": isinstance(request.schema, Mapping),
        "json_object": request.schema == "json_object",
        "temperature": any(name in request.settings for name in _SAMPLING),
        "effort": "effort" in request.settings,
        "seed": "seed" in request.settings,
        "system": request.messages[0].role == "system",
        request.max_tokens_name: True,
    }
    return frozenset(name for name, is_used in presence.items() if is_used)


def without(request: ModelRequest, feature: Feature) -> ModelRequest:
    """Return the request without a part, or with its fallback."""
    changed: dict[str, Any]
    match feature:
        case "json_schema":
            changed = {"schema": "json_object"}
        case "json_object":
            changed = {"schema": None}
        case "temperature" | "effort" | "seed":
            dropped = _SAMPLING if feature == "temperature" else (feature,)
            settings = request.settings.items()
            changed = {"settings": {k: value for k, value in settings if k not in dropped}}
        case "max_tokens":
            changed = {"max_tokens_name": "max_completion_tokens"}
        case "max_completion_tokens":
            changed = {"max_tokens_name": "max_tokens"}
        case "system":
            system, user, *turns = request.messages
            joined = Message(user.role, f"{system.text}\n\n{user.text}")
            changed = {"messages": (joined, *turns)}
        case _ as unreachable:
            assert_never(unreachable)
    return replace(request, **changed)


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
        while avoided and (features := features_of(request) & avoided):
            request = without(request, min(features))
        return request

    def heed(self, request: ModelRequest, outcome: Outcome) -> None:
        """Learn from an outcome; a failure that another form may avoid is to be adapted.

        A part that was answered before cannot be the reason of a refusal, whatever its message
        says: it may quote the prompt.
        """
        if isinstance(outcome, Reply):
            self._proven |= features_of(request)
            self._learn(self._suspected.keys() - features_of(request))
            return
        avoided = self._refused | self._suspected.keys()
        for feature in outcome.refused:
            if (
                feature in features_of(request) - self._proven
                and _OTHER_NAME.get(feature) not in avoided
            ):
                if feature not in self._refused:
                    self._suspected.setdefault(feature, str(outcome))
                outcome.remedy = "adapt"
                return

    def suspect_form(self, request: ModelRequest, failure: RequestFailed) -> bool:
        """Suspect the form of the reply; return whether there is another form to try."""
        features = features_of(request) - self._proven
        for feature in _FORMS:
            if feature in features:
                self._suspected.setdefault(feature, str(failure))
                failure.remedy = "adapt"
                return True
        return False

    def forget_suspicions(self) -> None:
        """Forget what was suspected, because no request without it was answered."""
        self._suspected.clear()

    def _learn(self, features: Collection[Feature]) -> None:
        for feature in sorted(features):
            self.new_refusals[feature] = self._suspected.pop(feature)
            self._refused.add(feature)
            logger.warning(
                "%s does not take %s: %s is asked without it. The next run knows; "
                "capabilities in evaluation.yaml declares what a model takes",
                self._model.endpoint.model,
                feature,
                self._model.id,
            )
