"""Input files as external assets."""

import warnings
from collections.abc import Iterator
from datetime import timedelta

import dagster as dg

from eval_assets.assets.file_versions import file_versions
from eval_assets.assets.resources import EvaluationFolder

RECENT = dg.FreshnessPolicy.time_window(
    fail_window=timedelta(days=7), warn_window=timedelta(days=2)
)
"""Age at which the observation of files counts as late."""

_GIVEN = {
    "evaluation_file": ("yaml", "The declaration of the evaluation."),
    "response_files": ("csv", "Responses of the models."),
    "label_files": ("csv", "Ratings by humans: label files and labelling sessions."),
    "judge_score_files": ("csv", "Replies and scores of recorded judges."),
    "adjudication_file": ("json", "Adjudications of disagreements."),
}
"""Input files with their kind and their contents."""


with warnings.catch_warnings():
    # The decorator is in beta; the single one makes assets of a deprecated kind.
    warnings.simplefilter("ignore", dg.BetaWarning)

    @dg.multi_observable_source_asset(  # type: ignore[untyped-decorator] # Dagster has no types for it
        name="given_files",
        specs=[
            dg.AssetSpec(name, group_name="inputs", kinds={kind}, description=description)
            for name, (kind, description) in _GIVEN.items()
        ],
        can_subset=True,
    )
    def given_files(
        context: dg.AssetExecutionContext, folder: EvaluationFolder
    ) -> Iterator[dg.ObserveResult]:
        """Record the version of each input file."""
        versions = file_versions(folder.path)
        for key in sorted(context.selected_asset_keys):
            if version := versions.get(key.path[-1]):
                yield dg.ObserveResult(asset_key=key, data_version=dg.DataVersion(version))
