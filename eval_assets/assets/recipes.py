"""Assets and checks as functions of an evaluation folder, from which definitions are made.

Definitions of two evaluations can stand in one project only if nothing of them has one name: keys,
steps, groups and resources start with the evaluation. Dagster's own decorators fix these names, so
a recipe keeps the function, and decorates it once for each evaluation.
"""

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

import dagster as dg

from eval_assets.assets.metadata import with_something_shown
from eval_assets.assets.resources import EvaluationFolder

_On = dg.AutomationCondition

_GATE_OPENED = _On.any_deps_match(
    _On.any_checks_match(_On.check_passed().newly_true(), blocking_only=True)
).with_label("a gate in front opened")

_OTHER_DATA = _On.any_deps_match(_On.data_version_changed() | _On.will_be_requested()).with_label(
    "an input has other data"
)

UP_TO_DATE = (
    _On.eager().replace("any_deps_updated", _OTHER_DATA | _GATE_OPENED)
    & _On.all_deps_blocking_checks_passed()
)
"""When an asset is made without a click: its input changed, and no gate in front is closed.

`eager()` alone makes everything behind a table that was written again with equal rows, and never
what a closed gate held back if only the check ran again.
"""

OTHER_EVIDENCE = (
    _On.any_deps_match(_On.data_version_changed()).since_last_handled()
    & ~_On.any_deps_in_progress()
    & ~_On.in_progress()
).with_label("what it is about has other data")
"""When a check of what a gate may hold back is made alone, after the run that wrote its inputs.

In that run, a closed gate would skip it together with the asset.
"""

Body = Callable[..., Any]
Definition = dg.AssetsDefinition | dg.AssetChecksDefinition


@dataclass(frozen=True)
class EvaluationTarget:
    """The evaluation that definitions are made for.

    Args:
        folder: The evaluation.
        code_versions: Fingerprint of the code behind the assets of each group.
        pool: Pool of steps that ask models; None if no model is asked.
        is_report_last: Whether the report waits for all other steps of its run.
        automation: Whether assets are made once their inputs change.
    """

    folder: EvaluationFolder
    code_versions: Mapping[str, str] = field(default_factory=dict)
    pool: str | None = None
    is_report_last: bool = False
    automation: bool = True

    @property
    def resource(self) -> str:
        """Key of the evaluation's resource; such keys are global to a job."""
        return self.step("folder")

    def step(self, name: str) -> str:
        """Return the name of a step, which no other evaluation has."""
        return f"{self.folder.identifier}__{name}"

    def group(self, name: str) -> str:
        """Return the name of a group of assets."""
        return f"{self.folder.names_before}{name}"

    def bound(self, body: Body, context_type: type) -> Body:
        """Return a function of Dagster's context alone that calls `body` with what it takes.

        A parameter `folder` would name a resource that all evaluations share.
        """
        parameters = inspect.signature(body).parameters
        takes = [name for name, of in parameters.items() if of.default is inspect.Parameter.empty]

        def compute(context: Any) -> Any:  # noqa: ANN401 - of the type that is set below
            values = {"context": context, "folder": getattr(context.resources, self.resource)}
            if not values.keys() >= {*takes}:
                values |= context.op_execution_context.op_config
            return with_something_shown(body(**{name: values[name] for name in takes}))

        compute.__annotations__ = {"context": context_type}
        compute.__name__, compute.__doc__ = body.__name__, body.__doc__
        return compute


@dataclass(frozen=True, eq=False)
class Recipe:
    """An asset, several of one step, or checks of an asset.

    Args:
        name: Name of the asset or the step.
        make: Returns the definition for an evaluation.
        body: The function.
    """

    name: str
    make: Callable[[EvaluationTarget], Definition]
    body: Body

    def __call__(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the body
        """Call the body."""
        return self.body(*arguments, **options)


Dependency = Recipe | str


def recipes_in(modules: Iterable[ModuleType]) -> list[Recipe]:
    """Return the recipes that modules define, each once."""
    values = (value for module in modules for value in vars(module).values())
    return list(dict.fromkeys(value for value in values if isinstance(value, Recipe)))


def asset(  # noqa: PLR0913 - the properties of an asset
    *,
    group: str,
    kinds: set[str],
    deps: Sequence[Dependency] = (),
    asks_models: bool = False,
    is_report: bool = False,
    flags: Sequence[str] = (),
) -> Callable[[Body], Recipe]:
    """Make a recipe of an asset with the name of the function.

    Args:
        group: Group of the asset.
        kinds: What the UI shows of it.
        deps: Assets that it depends on.
        asks_models: Whether its step counts in the pool of requests.
        is_report: Whether it may wait for everything else.
        flags: Arguments of the function that the step's configuration may set to true.
    """

    def recipe(body: Body) -> Recipe:
        def make(target: EvaluationTarget) -> dg.AssetsDefinition:
            spec = _spec(target, body.__name__, group=group, kinds=kinds, deps=deps, body=body)
            waits = is_report and target.is_report_last
            return dg.multi_asset(
                name=target.step(body.__name__),  # of `asset`, it would follow from the key
                specs=[spec],
                required_resource_keys={target.resource},
                config_schema={flag: dg.Field(bool, default_value=False) for flag in flags},
                pool=target.pool if asks_models else None,
                op_tags={"dagster/priority": "-1"} if waits else {},
            )(target.bound(body, dg.AssetExecutionContext))

        return Recipe(body.__name__, make, body)

    return recipe


def tables(
    bodies: Mapping[str, Body], *, group: str, deps: Sequence[Dependency]
) -> Callable[[Body], Recipe]:
    """Make a recipe of a step that yields several assets, of which a run may select some.

    Args:
        bodies: What writes each asset; its docstring describes the asset.
        group: Group of the assets.
        deps: Assets that they depend on.
    """

    def recipe(body: Body) -> Recipe:
        def make(target: EvaluationTarget) -> dg.AssetsDefinition:
            specs = [
                _spec(target, name, group=group, kinds={"duckdb"}, deps=deps, body=write)
                for name, write in bodies.items()
            ]
            return dg.multi_asset(
                name=target.step(body.__name__),
                specs=specs,
                can_subset=True,
                required_resource_keys={target.resource},
            )(target.bound(body, dg.AssetExecutionContext))

        return Recipe(body.__name__, make, body)

    return recipe


def files(contents: Mapping[str, tuple[str, str]], *, group: str) -> Callable[[Body], Recipe]:
    """Make a recipe of input files that can be observed.

    Args:
        contents: Kind and meaning of the files, by asset.
        group: Group of the assets.
    """

    def recipe(body: Body) -> Recipe:
        def make(target: EvaluationTarget) -> dg.AssetsDefinition:
            specs = [
                dg.AssetSpec(
                    target.folder.key(name),
                    group_name=target.group(group),
                    kinds={kind},
                    description=meaning,
                )
                for name, (kind, meaning) in contents.items()
            ]
            with warnings.catch_warnings():
                # The decorator is in beta; the single one makes assets of a deprecated kind.
                warnings.simplefilter("ignore", dg.BetaWarning)
                definition: dg.AssetsDefinition = dg.multi_observable_source_asset(
                    name=target.step(body.__name__),
                    specs=specs,
                    can_subset=True,
                    required_resource_keys={target.resource},
                )(target.bound(body, dg.AssetExecutionContext))
            return definition

        return Recipe(body.__name__, make, body)

    return recipe


def checks(
    meanings: Mapping[str, str | None] | Callable[[EvaluationFolder], Mapping[str, str | None]],
    *,
    of: Recipe,
    blocking: bool = False,
    also_of: Sequence[Recipe] = (),
) -> Callable[[Body], Recipe]:
    """Make a recipe of a step that yields the results of checks of one asset.

    Checks have no key by which Dagster could sort steps of one name: it would number them in the
    order of their hashes, and a step would check another evaluation in another process.

    Args:
        meanings: What each check says, by name; or a function that returns that for an evaluation.
        of: The asset.
        blocking: Whether an error holds back what is directly downstream.
        also_of: Assets whose other data may change the results, also while `of` is held back.
    """

    def recipe(body: Body) -> Recipe:
        def make(target: EvaluationTarget) -> dg.AssetChecksDefinition:
            # Of a gate's check, so that what a gate held back is made in the run that opens it.
            condition = _On.eager() if blocking else OTHER_EVIDENCE if also_of else None
            specs = [
                dg.AssetCheckSpec(
                    name,
                    asset=target.folder.key(of.name),
                    blocking=blocking,
                    description=meaning,
                    additional_deps=[target.folder.key(other.name) for other in also_of],
                    automation_condition=condition if target.automation else None,
                )
                for name, meaning in (
                    meanings(target.folder) if callable(meanings) else meanings
                ).items()
            ]
            return dg.multi_asset_check(
                name=target.step(body.__name__),
                specs=specs,
                can_subset=True,
                required_resource_keys={target.resource},
            )(target.bound(body, dg.AssetCheckExecutionContext))

        return Recipe(body.__name__, make, body)

    return recipe


@cache
def _line(body: Body) -> int:
    return inspect.getsourcelines(body)[1]


def _spec(  # noqa: PLR0913 - the parts of a spec
    target: EvaluationTarget,
    name: str,
    *,
    group: str,
    kinds: set[str],
    deps: Sequence[Dependency],
    body: Body,
) -> dg.AssetSpec:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)  # of links to code
        reference = dg.LocalFileCodeReference(
            file_path=inspect.getsourcefile(body) or "",
            line_number=_line(body),
        )
        references = dg.CodeReferencesMetadataValue(code_references=[reference])
    return dg.AssetSpec(
        target.folder.key(name),
        deps=[target.folder.key(dep if isinstance(dep, str) else dep.name) for dep in deps],
        group_name=target.group(group),
        kinds=kinds,
        description=inspect.cleandoc(body.__doc__ or ""),
        code_version=target.code_versions.get(group),
        automation_condition=UP_TO_DATE if target.automation else None,
        metadata={"dagster/code_references": references},
    )
