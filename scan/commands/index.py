"""`scan index`: runs the indexer until a signal."""

import argparse
import gc
import threading
from functools import partial

from scan import registry
from scan.commands.arguments import add_metrics_port
from scan.commands.hooks import AutomaticBackfill, Indexing
from scan.commands.startup import (
    on_stop_signals,
    prepare_database,
    require_database,
    require_node,
    serve_metrics,
)
from scan.contracts.account_state import node_of_index
from scan.database.connection import Database
from scan.indexer.chain_indexer import ChainIndexer
from scan.indexer.prefetch_process import OBJECTS_BETWEEN_COLLECTIONS
from scan.settings import Settings

# The time-outs release the lock of an indexer that hangs, so that a stand-by takes over. An indexer
# that only waited for its node reads its head and takes the lock again.
SESSION = {"idle_session_timeout": "60s", "idle_in_transaction_session_timeout": "60s"}


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run)
    add_metrics_port(command)


def run(settings: Settings, options: argparse.Namespace) -> int:
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    require_database(settings)
    require_node(settings)
    serve_metrics(settings, options.metrics_port)
    prepare_database(settings)
    stop = threading.Event()
    on_stop_signals(stop.set)
    database = Database(
        settings.database_url, statement_timeout_ms=0, name="scan-indexer", session=SESSION
    )
    for beside in registry.parts(Indexing):
        threading.Thread(target=beside.run, args=(settings, stop), daemon=True).start()
    node = node_of_index(settings)
    backfill = None
    part = registry.only(AutomaticBackfill)
    if part is not None and settings.bulk_backfill_blocks is not None:
        backfill = partial(part.run, settings, stop)
    ChainIndexer(settings, database, node, stop, backfill).run()
    return 0
