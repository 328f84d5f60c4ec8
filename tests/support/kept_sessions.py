"""Sessions of tests' databases that are used again.

A new one takes PostgreSQL 4 to 20 ms of processor until it has its process and has read its
catalogs, and most tests need several: applications listen anew after each renewal, a check of the
chain, a command or a statement of the test itself connects for a moment.
"""

import select
from collections import defaultdict
from contextlib import contextmanager

import psycopg2
from psycopg2.extensions import TRANSACTION_STATUS_IDLE
from psycopg2.extensions import connection as Connection

_sessions = {}  # by URL, while it lasts: closed connections by their options


class _Kept(Connection):
    """What is closed is as new when it is taken again: it holds no lock and listens to nothing."""

    _keep = None  # until it is closed

    def close(self):
        keep, self._keep = self._keep, None
        if keep is None or self.closed or self.info.transaction_status != TRANSACTION_STATUS_IDLE:
            super().close()
            return
        try:
            self.autocommit = True
            with self.cursor() as cursor:
                # Else the next one's pg_stat_xact_* has what this one did in its last second, too.
                cursor.execute("SELECT pg_stat_force_next_flush()")
                cursor.execute("DISCARD ALL")
        except psycopg2.Error:
            super().close()
        else:
            keep.append(self)

    def take(self, keep):
        """Whether it can be used again; its server may have ended it."""
        if self.closed or select.select([self], [], [], 0)[0]:
            super().close()
            return False
        self.autocommit = False
        self.notices, self.notifies = [], []
        self._keep = keep
        return True


@contextmanager
def sessions_kept(url):
    """Keep what connects to exactly this URL for the next who does, with the same options."""
    _sessions[url] = defaultdict(list)
    try:
        yield
    finally:
        end_sessions(url)
        del _sessions[url]


def end_sessions(url):
    """End those that are closed, such as before settings change, which new sessions alone have."""
    for kept in _sessions.get(url, {}).values():
        while kept:
            Connection.close(kept.pop())


@contextmanager
def keeping_sessions():
    """While it lasts, psycopg2 connects where no session is kept."""
    plainly = psycopg2.connect

    def connect(dsn=None, **options):
        if dsn not in _sessions:
            return plainly(dsn, **options)
        keep = _sessions[dsn][tuple(sorted(options.items()))]
        while keep:
            session = keep.pop()
            if session.take(keep):
                return session
        session = plainly(dsn, connection_factory=_Kept, **options)
        session._keep = keep
        return session

    psycopg2.connect = connect
    try:
        yield
    finally:
        psycopg2.connect = plainly
