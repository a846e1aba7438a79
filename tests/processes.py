"""Processes for functions of tests, forked from one that has imported their modules."""

import multiprocessing
from multiprocessing.context import ForkServerContext


def processes(*modules: str) -> ForkServerContext:
    """Return what forks processes; a test worker imports for those of its first test alone."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*modules])
    return context


def live_processes(module: str) -> ForkServerContext:
    """Return what forks processes that make live judges, which import the clients."""
    clients = "eval_assets.judges.clients"
    return processes(module, f"{clients}.anthropic", f"{clients}.openai")
