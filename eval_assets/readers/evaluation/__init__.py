"""evaluation.yaml to an Evaluation."""

from eval_assets.readers.evaluation.read import FILE, evaluations_in, read_evaluation

__all__ = ["FILE", "evaluations_in", "read_evaluation"]
