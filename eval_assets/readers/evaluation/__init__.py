"""evaluation.yaml to an Evaluation."""
