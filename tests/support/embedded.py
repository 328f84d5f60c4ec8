"""The embedded server in a folder of a test."""

from contextlib import contextmanager

from scan.database.embedded import EmbeddedPostgres, StillStarting
from tests.support.folders import temporary_folder


@contextmanager
def data_folder():
    """With a space in its name, and too long for a socket."""
    with temporary_folder("scan embedded ") as top:
        yield top / f"data {80 * 'x'}"


@contextmanager
def running_in(folder):
    server = EmbeddedPostgres(folder)
    start(server)
    try:
        yield server
    finally:
        server.stop()


def start(server):
    """As the supervisor does: for as long as it is only late."""
    while True:
        try:
            return server.start()
        except StillStarting:
            continue
