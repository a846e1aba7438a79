"""The schema of evaluation.yaml, a module a section."""
