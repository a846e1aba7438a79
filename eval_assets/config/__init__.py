"""The schema of evaluation.yaml, one module per section."""
