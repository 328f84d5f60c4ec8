"""Workers in which happens what seldom does."""

import math

from scan import processor_affinity
from scan.server.worker import Worker
from tests.support import WAIT_S


class BoundWorker(Worker):
    """Binds its threads to one processor however busy the machine is."""

    def init_process(self):
        processor_affinity.MAX_LOAD = math.inf
        super().init_process()


class LateWorker(Worker):
    """Is so late that one poll has both: a request's turn has come, and its client has left."""

    def _on_event(self, conn, sock):
        turn = conn.waits_for
        if conn.watched[1] == self._look_for_end and turn is not None:
            turn.result(WAIT_S)
            self._has_waited(conn, turn)
        super()._on_event(conn, sock)
