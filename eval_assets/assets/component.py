"""An evaluation folder as a Dagster component of any project."""

import re

import dagster as dg
from pydantic import BaseModel, Field

from eval_assets.assets.automation import files_sensor
from eval_assets.assets.evaluation_definitions import evaluation_definitions, evaluation_jobs
from eval_assets.assets.resources import EvaluationFolder
from eval_assets.config.evaluation import FILE

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""What Dagster allows for groups and keys of resources."""


class _Scaffolding(BaseModel):
    folder: str = Field(description="The evaluation folder, relative to the project.")


class EvaluationScaffolder(dg.Scaffolder[_Scaffolding]):
    """Writes defs.yaml with the folder; dg alone writes attributes that fail its own check."""

    @classmethod
    def get_scaffold_params(cls) -> type[_Scaffolding]:
        """Return the options of `dg scaffold defs`."""
        return _Scaffolding

    def scaffold(self, request: dg.ScaffoldRequest[_Scaffolding]) -> None:
        """Write defs.yaml."""
        dg.scaffold_component(request, {"folder": request.params.folder})


@dg.scaffold_with(EvaluationScaffolder)
class EvaluationComponent(dg.Component, dg.Model, dg.Resolvable):
    """An evaluation folder: its assets, checks and gates, with its name as key prefix.

    It brings neither executor nor loggers, and its resource is `<name>__folder`, so that any number
    of them stand in one project, beside other definitions.
    """

    folder: str
    """The evaluation folder, relative to the project."""

    name: str | None = None
    """Start of the keys; the name of the folder by default."""

    jobs: bool = False
    """Whether it brings jobs and the declared schedule: `<name>_evaluate`, `<name>_score`."""

    automation: bool = True
    """Whether its assets have automation conditions, and its files a sensor."""

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Return the definitions of the evaluation.

        Raises:
            dagster.DagsterInvalidDefinitionError: If the name or the folder cannot be used.
        """
        path = (context.project_root / self.folder).resolve()
        name = self.name or path.name
        if not _NAME.fullmatch(name):
            raise dg.DagsterInvalidDefinitionError(
                f"{name!r} cannot be a name in Dagster. Set name: to letters, digits and _"
            )
        if not (path / FILE).is_file():
            raise dg.DagsterInvalidDefinitionError(f"{path / FILE}: there is no such file")
        folder = EvaluationFolder.at(path, name=name)
        parts = [evaluation_definitions(folder, automation=self.automation)]
        if self.automation:
            parts.append(dg.Definitions(sensors=[files_sensor([folder], name=f"{name}__files")]))
        if self.jobs:
            parts.append(evaluation_jobs(folder))
        return dg.Definitions.merge(*parts)
