"""The processes of a deployment: `scan serve` runs gunicorn, `scan index` the indexer and
`scan deliver` the webhook deliveries, until a signal.
"""

import argparse
import gc
import runpy
import sys
import threading
from functools import partial

from scan import registry
from scan.commands import arguments, hooks, rebuild, startup
from scan.contracts.account_state import node_of_index
from scan.database.connection import Database
from scan.indexer import chain_indexer, prefetch_process
from scan.queries import network
from scan.settings import ROOT, Settings
from scan.webhooks.dispatcher import Dispatcher

# The time-outs release the lock of an indexer that hangs, so that a stand-by takes over. An indexer
# that only waited for its node reads its head and takes the lock again.
SESSION = {"idle_session_timeout": "60s", "idle_in_transaction_session_timeout": "60s"}


def add_serve(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=serve)


def serve(settings: Settings, _options: argparse.Namespace) -> int:
    startup.require_database(settings)
    startup.require_free_port(settings)
    startup.prepare_database(settings, reads=True)
    # In this process, whose imports gunicorn's workers need, too. --pythonpath finds our app.py
    # before one in the current directory.
    config = ["--config", str(ROOT / "gunicorn.conf.py")]
    sys.argv = ["gunicorn", *config, "--pythonpath", str(ROOT), "app:create_app()"]
    runpy.run_module("gunicorn", run_name="__main__", alter_sys=True)
    return 0


def add_index(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=index)
    arguments.add_metrics_port(command)


def index(settings: Settings, options: argparse.Namespace) -> int:
    gc.set_threshold(prefetch_process.OBJECTS_BETWEEN_COLLECTIONS)
    startup.require_database(settings)
    startup.require_node(settings)
    startup.serve_metrics(settings, options.metrics_port)
    startup.prepare_database(settings)
    stop = threading.Event()
    startup.on_stop_signals(stop.set)
    database = Database(
        settings.database_url, statement_timeout_ms=0, name="scan-indexer", session=SESSION
    )
    for beside in (rebuild.run_beside, *(part.run for part in registry.parts(hooks.Indexing))):
        threading.Thread(target=beside, args=(settings, stop), daemon=True).start()
    node = node_of_index(settings)
    backfill = None
    part = registry.only(hooks.AutomaticBackfill)
    if part is not None and settings.bulk_backfill_blocks is not None:
        backfill = partial(part.run, settings, stop)
    chain_indexer.ChainIndexer(settings, database, node, stop, backfill).run()
    return 0


def add_deliver(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=deliver)
    arguments.add_metrics_port(command)


def deliver(settings: Settings, options: argparse.Namespace) -> int:
    from scan.http.process_services import message_summaries, own_services  # no other needs it

    startup.require_database(settings)
    startup.serve_metrics(settings, options.metrics_port)
    startup.prepare_database(settings)
    dispatcher = Dispatcher(
        settings,
        coin_symbols=network.SYMBOLS,
        summaries=message_summaries(lambda: own_services(settings)),
    )
    startup.on_stop_signals(dispatcher.request_stop)
    dispatcher.run()
    return 0
