"""Label files, in any of their forms, to human ratings."""

from eval_assets.readers.labels.read import Labels, read_labels

__all__ = ["Labels", "read_labels"]
