"""The evaluation folder that `eval-assets init` writes."""
