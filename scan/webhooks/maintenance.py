"""Periodic maintenance of the queues: ends leases of dead processes, deletes old deliveries."""

import time

from scan.webhooks.queues import DeliveryQueues, now

DEAD_LEASES_EVERY_S = 2.0
OLD_DELIVERIES_EVERY_S = 60.0
OWNERLESS_EVERY_S = 3600.0


class Maintenance:
    def __init__(self, queues: DeliveryQueues) -> None:
        self._queues = queues
        self._done_at: dict[str, float] = {}

    def run_due(self) -> bool:
        """Returns whether leases of dead processes were ended; their queues can then be served."""
        ended = self._is_due("leases", DEAD_LEASES_EVERY_S) and self._queues.end_dead_leases(now())
        if self._is_due("old", OLD_DELIVERIES_EVERY_S) and self._queues.delete_old(now()):
            self._done_at.pop("old")  # there are more
        if self._is_due("ownerless", OWNERLESS_EVERY_S):
            self._queues.delete_ownerless()
        return bool(ended)

    def _is_due(self, task: str, every_s: float) -> bool:
        moment = time.monotonic()
        if moment - self._done_at.get(task, float("-inf")) < every_s:
            return False
        self._done_at[task] = moment
        return True
