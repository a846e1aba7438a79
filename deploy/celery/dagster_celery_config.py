"""Settings of Celery workers, which Dagster's Celery app takes from a module of this name.

PYTHONPATH=deploy/celery celery --app dagster_celery.app worker --queues dagster --concurrency 1
"""

import gc
import os

# What steps import, once in the worker, from which the processes of its steps are forked: the
# clients of the two vendors alone take two seconds in each shard of judging. The definitions
# themselves are made in each process: they depend on evaluation.yaml.
import dagster
import sqlalchemy.dialects.postgresql.psycopg  # noqa: F401

import eval_assets.assets.evaluation_definitions
import eval_assets.cli.materialize
import eval_assets.judges.clients.anthropic
import eval_assets.judges.clients.openai  # noqa: F401
from eval_assets.cli.main import COLLECTOR_THRESHOLDS

with dagster.DagsterInstance.ephemeral():
    pass  # to import what opens the records of a run

# The collector of a step's process would copy all of these imports, to free none of them.
gc.freeze()
gc.set_threshold(*COLLECTOR_THRESHOLDS)

broker_url = os.environ.get("EVAL_BROKER") or "redis://127.0.0.1:6379/0"
# RabbitMQ stores no results, but passes them on.
result_backend = "rpc://" if broker_url.startswith("amqp") else broker_url

# A step belongs to a worker until it has ended: if its process dies, another one takes it.
task_acks_late = True
task_reject_on_worker_lost = True
# A process would keep evaluation.yaml as its first step read it, such as the number of shards.
worker_max_tasks_per_child = 1
# Steps take hours: none waits behind another while a worker is free.
worker_prefetch_multiplier = 1
# With Redis, if a whole machine dies: after so many seconds. A worker that is free then joins a
# step that takes longer, and asks what nobody has asked yet.
broker_transport_options = {"visibility_timeout": 600}
