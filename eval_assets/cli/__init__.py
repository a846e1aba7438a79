"""The command-line program `eval-assets`: one module per command."""
