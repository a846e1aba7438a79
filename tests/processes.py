"""Processes of their own for functions of tests, forked from one that has imported them."""

import multiprocessing

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "tests.unit.labelling.test_session_files",
        "tests.e2e.test_judging_live",
        "tests.unit.judges.calling.test_interruption",
        # These are imported when a judge is made.
        "eval_assets.judges.clients.anthropic",
        "eval_assets.judges.clients.openai",
    ]
)
