"""Agreement of humans and judges, measured on stored ratings, and the gates on it."""

import sys
from collections.abc import Callable
from importlib import import_module
from inspect import Signature, signature
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """Module type that makes the package callable, as the function of that name in `eval_assets`.

    Python binds a package's name in its parent as soon as it is imported, in place of a function.
    """

    @property
    def __signature__(self) -> Signature:
        return signature(_function())

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - those of the function
        """Measure whether raters agree; see `eval_assets.file_agreement.agreement`."""
        return _function()(*args, **options)


def _function() -> Callable[..., Any]:
    function: Callable[..., Any] = import_module("eval_assets.file_agreement").agreement
    return function


sys.modules[__name__].__class__ = _CallablePackage
