"""`python -m eval_assets`: the command-line program."""

from eval_assets.cli.main import main

main()
