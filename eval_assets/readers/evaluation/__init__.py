"""evaluation.yaml to an Evaluation."""

from eval_assets.readers.evaluation.read import FILE, read_evaluation

__all__ = ["FILE", "read_evaluation"]
