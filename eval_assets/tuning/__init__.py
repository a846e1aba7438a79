"""Judge tuning: splits first; what is tuned is never measured on what it was tuned on."""

from eval_assets.tuning.splits import TEST_SHARE, Split, split_by_group

__all__ = ["TEST_SHARE", "Split", "split_by_group"]
