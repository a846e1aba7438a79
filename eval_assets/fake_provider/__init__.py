"""A provider to try and to test against: both vendors' wire formats on loopback, no keys needed.

`running` serves it from a thread; the real SDK clients talk to it:

    with running(Behaviour(latency_seconds=0.2, faults=Faults(rates=mixed_rates(0.1)))) as provider:
        client = AsyncOpenAI(base_url=provider.openai_base_url, api_key="sk-any", max_retries=0)

What belongs here: the two wire formats, what can go wrong on them, and the answers, which are made
up. It knows nothing of the rest of the package.
"""

from eval_assets.fake_provider.behaviour import Behaviour
from eval_assets.fake_provider.faults import FAULT_KINDS, FaultKind, Faults, mixed_rates
from eval_assets.fake_provider.log import ReceivedRequest, RequestLog
from eval_assets.fake_provider.models import MODELS, Model
from eval_assets.fake_provider.planted import Planted
from eval_assets.fake_provider.provider import FakeProvider
from eval_assets.fake_provider.rate_limit import RateLimit
from eval_assets.fake_provider.server import RunningProvider, running
from eval_assets.fake_provider.vendors.compatible import LIKES, Like

__all__ = [
    "FAULT_KINDS",
    "LIKES",
    "MODELS",
    "Behaviour",
    "FakeProvider",
    "FaultKind",
    "Faults",
    "Like",
    "Model",
    "Planted",
    "RateLimit",
    "ReceivedRequest",
    "RequestLog",
    "RunningProvider",
    "mixed_rates",
    "running",
]
