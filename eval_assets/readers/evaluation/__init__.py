"""evaluation.yaml to an Evaluation."""

from eval_assets.readers.evaluation.read import (
    FILE,
    evaluation_problem,
    evaluations_in,
    read_evaluation,
)

__all__ = ["FILE", "evaluation_problem", "evaluations_in", "read_evaluation"]
