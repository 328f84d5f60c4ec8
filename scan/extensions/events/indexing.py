"""Following beside the indexer: contracts of builds, views of new ABIs, older logs, and logs to be
decoded."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from scan.commands.hooks import Indexing
from scan.concurrency.waiting_threads import WaitingThreads
from scan.contracts.account_state import node_of_index
from scan.database.connection import Database
from scan.database.outages import log_pause
from scan.errors import ScanError
from scan.ethereum.request_node import NodeGateway
from scan.extensions.events.following import Following
from scan.indexer.block_source import BlockSource
from scan.settings import Settings

log = logging.getLogger(__name__)

EVERY_S = 1.0
BUILDS_EVERY_S = 3.0
LEAST_SHARE = 50  # times the seconds that a look took, until the next one
AGAIN_S = 60.0  # after a contract's older logs could not be filled
NAME = "scan-events"


@contextmanager
def opened(settings: Settings) -> Iterator[Following]:
    """Open what is followed, with the node where there is one."""
    database = Database(settings.database_url, statement_timeout_ms=0, name=NAME)
    with closing(database):
        if settings.rpc_urls:
            node = node_of_index(settings)
            source = BlockSource(node, traces="off")
            yield Following(database, NodeGateway(node, WaitingThreads()), source)
        else:
            yield Following(database)


def _next(look: Callable[[], None], every_s: float) -> float:
    """Look, and return when to look again: with many contracts less often, so that it takes little
    of the time."""
    began = time.monotonic()
    look()
    ended = time.monotonic()
    return ended + max(every_s, LEAST_SHARE * (ended - began))


def run_beside(settings: Settings, stop: threading.Event) -> None:
    """Follow until `stop` is set."""
    builds_at = views_at = 0.0
    waits: dict[bytes, int] = {}  # steps, by contracts whose logs could not be filled
    with opened(settings) as following:
        while not stop.is_set():
            is_idle = True
            try:
                if time.monotonic() >= builds_at:
                    builds_at = _next(following.follow_builds, BUILDS_EVERY_S)
                if time.monotonic() >= views_at:
                    views_at = _next(following.make_views, EVERY_S)
                if following.decode():
                    is_idle = False
                following.begin_children()
                if following.continue_removals():
                    is_idle = False
                for fill in following.fills():
                    waits[fill.address] = waits.get(fill.address, 0) - 1
                    if waits[fill.address] < 0:
                        if following.fill(fill) is None:
                            waits[fill.address] = round(AGAIN_S / EVERY_S)
                        else:
                            is_idle = False
                            break
            except Exception as error:
                log_pause(log, "events are not followed at the moment", error)
                if not isinstance(error, ScanError):
                    stop.wait(AGAIN_S)
            if is_idle:
                stop.wait(EVERY_S)


HOOKS = Indexing(run=run_beside)
