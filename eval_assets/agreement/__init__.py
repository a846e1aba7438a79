"""Agreement of humans and judges, measured on stored ratings, and the gates on it."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """Module type that makes the package callable, as the function of that name in `eval_assets`.

    Python binds a package's name in its parent as soon as it is imported, in place of a function.
    """

    @property
    def __wrapped__(self) -> Any:  # noqa: ANN401 - the function, for its signature and help
        return import_module("eval_assets.file_agreement").agreement

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - those of the function
        """Measure whether raters agree; see `eval_assets.file_agreement.agreement`."""
        return self.__wrapped__(*args, **options)


sys.modules[__name__].__class__ = _CallablePackage
