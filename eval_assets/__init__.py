"""Can this LLM judge be trusted? Agreement, gates and judge tuning as Dagster assets in DuckDB."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval_assets.assets.component import EvaluationComponent as EvaluationComponent
    from eval_assets.ratings_check import check as check


def __getattr__(name: str) -> object:
    """Import what needs other libraries once it is asked for."""
    if name == "EvaluationComponent":
        from eval_assets.assets.component import EvaluationComponent

        return EvaluationComponent
    if name == "check":
        from eval_assets.ratings_check import check

        return check
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the names of the package; Dagster looks for components among them."""
    return sorted([*list(globals()), "EvaluationComponent", "check"])
