"""Evaluation folders that `eval-assets init` writes."""
