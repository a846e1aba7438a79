"""Assets and checks as functions of an evaluation folder, from which definitions are made.

Definitions of two evaluations can stand in one project only if nothing of them has one name: keys,
steps, groups and resources start with the evaluation. Dagster's own decorators fix these names, so
a recipe keeps the function, and decorates it once for each evaluation.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from types import ModuleType
from typing import Any

import dagster as dg

from eval_assets.assets.resources import EvaluationFolder, clear_failures, materialized

_On = dg.AutomationCondition

_GATE_OPENED = _On.any_deps_match(
    _On.any_checks_match(_On.check_passed().newly_true(), blocking_only=True)
).with_label("a gate in front opened")

_OTHER_DATA = _On.any_deps_match(_On.data_version_changed() | _On.will_be_requested()).with_label(
    "an input has other data"
)


@cache
def up_to_date(*shown: dg.AssetKey) -> dg.AutomationCondition[Any]:
    """Return when an asset is made without a click: its input changed, and no gate is closed.

    `eager()` alone makes everything behind a table that was written again with equal rows, and
    never what a closed gate held back if only the check ran again. `shown` are assets whose data
    it shows without depending on them.
    """
    updated: dg.AutomationCondition[Any] = _OTHER_DATA | _GATE_OPENED
    for key in shown:
        updated |= _On.asset_matches(key, _On.data_version_changed())
    return _On.eager().replace("any_deps_updated", updated) & _On.all_deps_blocking_checks_passed()


OTHER_EVIDENCE = (
    _On.any_deps_match(_On.data_version_changed()).since_last_handled()
    & ~_On.any_deps_in_progress()
    & ~_On.in_progress()
).with_label("what it is about has other data")
"""When a check of what a gate may hold back is made alone, after the run that wrote its inputs.

In that run, a closed gate would skip it together with the asset.
"""

Body = Callable[..., Any]


@dataclass(frozen=True)
class EvaluationTarget:
    """The evaluation that definitions are made for.

    Args:
        folder: The evaluation.
        pool: Pool of steps that ask models; None if no model is asked.
        automation: Whether assets are made once their inputs change.
    """

    folder: EvaluationFolder
    pool: str | None = None
    automation: bool = True

    @property
    def resource(self) -> str:
        """Key of the evaluation's resource; such keys are global to a job."""
        return self.step("folder")

    def step(self, name: str) -> str:
        """Return the name of a step, which no other evaluation has."""
        return f"{self.folder.steps_before}{name}"

    def group(self, name: str) -> str:
        """Return the name of a group of assets."""
        return f"{self.folder.names_before}{name}"

    def bound(self, body: Body, context_type: type) -> Body:
        """Return a function of Dagster's context alone that yields what `body` returns or yields.

        A parameter `folder` would name a resource that all evaluations share.
        """
        parameters = inspect.signature(body).parameters
        takes = [name for name, of in parameters.items() if of.default is inspect.Parameter.empty]

        def compute(context: Any) -> Any:  # noqa: ANN401 - of the type that is set below
            values = {"context": context, "folder": getattr(context.resources, self.resource)}
            with clear_failures():
                results = body(**{name: values[name] for name in takes})
                for result in results if isinstance(results, Iterator) else [results]:
                    if result is not None:
                        yield result

        compute.__annotations__ = {"context": context_type}
        compute.__name__, compute.__doc__ = body.__name__, body.__doc__
        return compute


@dataclass(frozen=True, eq=False)
class Recipe:
    """An asset, several of one step, or checks of an asset."""

    name: str
    make: Callable[[EvaluationTarget], dg.AssetsDefinition]
    body: Body

    def __call__(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the body
        """Call the body."""
        return self.body(*arguments, **options)


Dependency = Recipe | str


def recipes_in(modules: Iterable[ModuleType]) -> list[Recipe]:
    """Return the recipes that modules define, each once."""
    values = (value for module in modules for value in vars(module).values())
    return list(dict.fromkeys(value for value in values if isinstance(value, Recipe)))


def asset(
    *,
    group: str,
    kinds: set[str],
    deps: Sequence[Dependency] = (),
    shows: Sequence[str] = (),
    asks_models: bool = False,
) -> Callable[[Body], Recipe]:
    """Make a recipe of an asset with the name of the function, whose docstring describes it.

    The function returns metadata of the table that it stored, or a whole result.

    Args:
        group: Group of the asset.
        kinds: What the UI shows of it.
        deps: Assets that it depends on.
        shows: Assets that it shows as well, also while a closed gate holds these back: its step is
            the last one of a run in one process.
        asks_models: Whether its step counts in the pool of requests.
    """

    def recipe(body: Body) -> Recipe:
        name = body.__name__

        @wraps(body)
        def result(**values: Any) -> dg.MaterializeResult[None]:  # noqa: ANN401 - as the body takes
            returned = body(**values)
            if isinstance(returned, dg.MaterializeResult):
                return returned
            return materialized(values["folder"], name, returned)

        def make(target: EvaluationTarget) -> dg.AssetsDefinition:
            key = target.folder.key
            spec = dg.AssetSpec(
                key(name),
                deps=[key(dep if isinstance(dep, str) else dep.name) for dep in deps],
                group_name=target.group(group),
                kinds=kinds,
                description=inspect.getdoc(body),
                automation_condition=up_to_date(*map(key, shows)) if target.automation else None,
            )
            return dg.multi_asset(
                name=target.step(name),  # of `asset`, it would follow from the key
                specs=[spec],
                required_resource_keys={target.resource},
                pool=target.pool if asks_models else None,
                op_tags={"dagster/priority": "-1"} if shows else {},
            )(target.bound(result, dg.AssetExecutionContext))

        return Recipe(name, make, result)

    return recipe


def checks(
    *bodies: Callable[..., dg.AssetCheckResult],
    step: str = "",
    of: Recipe,
    also_of: Sequence[Recipe] = (),
) -> Recipe:
    """Return a recipe of a step of checks of one asset, named like their functions.

    Args:
        bodies: The checks, functions of the folder and, where they take one, the context.
        step: Name of the step; that of the only check unless given.
        of: The asset.
        also_of: Assets whose other data may change the results, also while `of` is held back.
    """
    by_name = {body.__name__: body for body in bodies}
    step = step or bodies[0].__name__

    def results(
        context: dg.AssetCheckExecutionContext, folder: EvaluationFolder
    ) -> Iterator[dg.AssetCheckResult]:
        for key in sorted(context.op_execution_context.selected_asset_check_keys):
            body = by_name[key.name]
            takes = inspect.signature(body).parameters
            result = body(context, folder) if "context" in takes else body(folder)
            yield result._replace(asset_key=key.asset_key, check_name=key.name)

    def make(target: EvaluationTarget) -> dg.AssetChecksDefinition:
        meanings = {name: inspect.getdoc(body) for name, body in by_name.items()}
        specs = [
            dg.AssetCheckSpec(
                name,
                asset=target.folder.key(of.name),
                description=meaning,
                additional_deps=[target.folder.key(other.name) for other in also_of],
                automation_condition=OTHER_EVIDENCE if also_of and target.automation else None,
            )
            for name, meaning in meanings.items()
        ]
        return check_step(target, step, specs, results)

    return Recipe(step, make, results)


def check_step(
    target: EvaluationTarget, step: str, specs: Sequence[dg.AssetCheckSpec], results: Body
) -> dg.AssetChecksDefinition:
    """Return a step that yields the results of checks of one asset.

    Checks have no key by which Dagster could sort steps of one name: it would number them in the
    order of their hashes, and a step would check another evaluation in another process.
    """
    return dg.multi_asset_check(
        name=target.step(step),
        specs=specs,
        can_subset=True,
        required_resource_keys={target.resource},
    )(target.bound(results, dg.AssetCheckExecutionContext))
