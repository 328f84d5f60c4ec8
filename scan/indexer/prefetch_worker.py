"""What the second process runs: blocks fetched, decoded and extracted for fetch_process.py."""

import gc
import logging
import os
import sys
import threading
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from queue import SimpleQueue

from scan.ethereum.blocks import Malformed
from scan.ethereum.client import Node, NodeError, RpcError
from scan.indexer.block_rows import extract
from scan.indexer.block_source import FETCHES_AHEAD, BlockSource
from scan.indexer.prefetch_process import Answer
from scan.observability import logs, metrics

log = logging.getLogger(__name__)

# JSON comes and goes in tens of thousands of objects without cycles: looking for cycles each 700
# objects, as is the default, takes a third of the time of parsing.
OBJECTS_BETWEEN_COLLECTIONS = 200_000


def main() -> None:
    connection = Connection(int(sys.argv[1]))
    try:
        settings = connection.recv()
        logs.configure(settings)
        metrics.keep_notes()
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
        node = Node(settings.rpc_urls, ca_bundle=settings.ca_bundle)
        connection.send(None)
        _serve(connection, BlockSource(node, traces=settings.traces))
    except (EOFError, OSError):
        os._exit(0)  # whatever threads are waiting for, nobody waits for them any more
    except BaseException:
        log.exception("unexpected")
        os._exit(1)


def _serve(connection: Connection, source: BlockSource) -> None:
    """Until the other side is gone; raises EOFError or OSError then."""
    pool = ThreadPoolExecutor(FETCHES_AHEAD, "fetch")
    answers: SimpleQueue[Future[Answer]] = SimpleQueue()
    threading.Thread(target=_send, args=(connection, answers), name="send").start()
    while True:
        first, last = connection.recv()
        answers.put(pool.submit(_answer, source, first, last))


def _send(connection: Connection, answers: "SimpleQueue[Future[Answer]]") -> None:
    """In the order they were asked for."""
    try:
        while True:
            connection.send(answers.get().result())
    except OSError:
        os._exit(0)
    except BaseException:
        log.exception("unexpected")
        os._exit(1)


def _answer(source: BlockSource, first: int, last: int) -> Answer:
    try:
        blocks = [extract(fetched) for fetched in source.blocks(first, last)]
        return Answer(blocks, None, metrics.take_notes())
    except (NodeError, RpcError, Malformed) as error:
        return Answer([], error, metrics.take_notes())
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)))  # which is lost on the way
        return Answer([], error, metrics.take_notes())


if __name__ == "__main__":
    main()
