"""What processes of a pool do in place of spool_range(): write, fail, or be killed or frozen.

Each process imports this module alone, which imports what it has already: with pytest and a server
it takes 2.5 s of processor.
"""

import os
import signal
import time

from scan.extensions.backfill import block_columns, range_files

LONG_S = 60.0


def write(task, folder):
    """As spool_range(), but for what is in the files."""
    for kind in block_columns.SPOOLED:
        path = range_files.RangeFiles(folder).path(kind, task.blocks)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return 7


def end_once(marker, signal_, task, folder):
    """In a worker: end or freeze it the first time."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return write(task, folder)
    os.kill(os.getpid(), signal_)
    return write(task, folder)


def kill_always(_, __):
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def fail(_, __):
    raise ValueError("no such block")


def wait(_, folder):
    folder.mkdir(parents=True)
    time.sleep(LONG_S)
    return 0
