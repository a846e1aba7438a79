"""An event loop whose time passes only when everything waits."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

_LATE_SECONDS = 0.002
"""How much later than asked a wait ends, as in real event loops."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Jumps to the next timer instead of waiting for it; starts at time 0."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        select = self._selector.select  # type: ignore[attr-defined]

        def select_at_once(timeout: float | None) -> Any:
            if timeout is None:
                return select(None)
            if timeout > 0:
                self.now += timeout + _LATE_SECONDS
            return select(0)

        self._selector.select = select_at_once  # type: ignore[attr-defined]

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self.now


def run(scenario: Coroutine[Any, Any, Result]) -> Result:
    """Run a scenario in virtual time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(scenario)
