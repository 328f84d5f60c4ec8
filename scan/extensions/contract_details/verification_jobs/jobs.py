"""Background verifications: submitted, run by job_runner.py, kept in the database for a day.

Whoever knows a job's id may read its result. Any number of processes share the jobs.
"""

import json
import re
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

from scan.database.connection import Database
from scan.errors import NotFound, RateLimited, TooLarge, Unavailable, VerificationFailed
from scan.rate_limits.turns import WaitingThreads
from scan.verification.request import parse
from scan.verification.verifier import indexed_contract

MOST_UNFINISHED = 32
MOST_UNFINISHED_OF_CLIENT = 2  # one runs and one waits
MAX_REQUEST_BYTES = 12 * 1024 * 1024  # as ASCII: sources of 1 MiB may take six times as much
POLL_S = 0.5  # another process may run the job
RETRY_AFTER_S = 15

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Job(NamedTuple):
    """A verification job. `status` is pending, running, done or failed; `match` and
    `creation_match` are full, partial or None. A failed job has one of job_runner.py's error codes.

    `warning` is set if the submitted constructor arguments differ from those of the creation.
    """

    id: str
    client: str
    address: bytes
    status: str
    created_at: datetime
    finished_at: datetime | None
    match: str | None
    creation_match: str | None
    message: str | None
    warning: str | None
    error_code: str | None

    @property
    def is_over(self) -> bool:
        return self.status in ("done", "failed")


class VerificationJobs:
    """The jobs of one database; `changed` is notified when this process adds or ends a job."""

    def __init__(self, database: Database, waiting_threads: WaitingThreads) -> None:
        self._database = database
        self._waiting_threads = waiting_threads
        self.changed = threading.Condition()

    def submit(self, request: Mapping[str, Any], client: str, *, wait_s: float = 0.0) -> str:
        """Store a new job for `request`, in the form of a body of /api/v1/verify, and return its
        id.

        Raises InvalidParameter, TooLarge, NotFound if no contract is indexed at the address
        within `wait_s`, RateLimited if the client has too many unfinished jobs, Unavailable.
        """
        submission = parse(request)
        text = json.dumps(request)
        if len(text) > MAX_REQUEST_BYTES:
            raise TooLarge("The request is too large.", field="sourceCode")
        self._require_contract(submission.address, client, wait_s)
        job_id = str(uuid.uuid4())
        with self._database.transaction() as tx:
            tx.execute("verification/jobs_lock")
            [(of_client, of_all)] = tx.rows("verification/jobs_count_unfinished", client=client)
            if of_client >= MOST_UNFINISHED_OF_CLIENT:
                raise RateLimited(
                    f"{of_client} of your verifications are not finished; wait for one of them.",
                    headers={"Retry-After": str(RETRY_AFTER_S)},
                )
            if of_all >= MOST_UNFINISHED:
                raise Unavailable(
                    "Too many verifications are waiting; try again shortly.",
                    retry_after_s=RETRY_AFTER_S,
                )
            tx.execute(
                "verification/jobs_insert",
                id=job_id,
                client=client,
                address=submission.address,
                request=text,
                now=datetime.now(UTC),
            )
        self.notify()
        return job_id

    def get(self, job_id: str) -> Job | None:
        """Return a job; None if it is unknown, or no longer kept."""
        if not _ID.fullmatch(job_id):
            return None
        row = self._database.row("verification/jobs_get", id=job_id)
        if row is None:
            return None
        job = Job(*row)
        return job._replace(address=bytes(job.address))

    def wait(self, job_id: str, timeout_s: float) -> Job | None:
        """Return a job, as get() does, once it has ended or time is up; at once if too many threads
        wait."""
        job = self.get(job_id)
        if job is None or job.is_over:
            return job

        def is_over() -> bool:
            nonlocal job
            job = self.get(job_id)
            return job is None or job.is_over

        self._wait_until(is_over, job.client, timeout_s)
        return job

    def notify(self) -> None:
        with self.changed:
            self.changed.notify_all()

    def _require_contract(self, address: bytes, client: str, wait_s: float) -> None:
        def is_indexed() -> bool:
            with suppress(NotFound):
                return self._is_contract(address)
            return False

        if not is_indexed() and not self._wait_until(is_indexed, client, wait_s):
            self._is_contract(address)

    def _is_contract(self, address: bytes) -> bool:
        """Return True for a contract, even of unsupported bytecode, which the job then reports.
        Raises NotFound where there is none."""
        with suppress(VerificationFailed):
            indexed_contract(self._database, address)
        return True

    def _wait_until(self, condition: Callable[[], bool], client: str, timeout_s: float) -> bool:
        """Wait until `condition` holds, and return whether it did in time. Return False at once if
        too many threads wait."""
        deadline = time.monotonic() + timeout_s
        if timeout_s <= 0 or not self._waiting_threads.take_for_long(client):
            return False
        try:
            while (left_s := deadline - time.monotonic()) > 0:
                with self.changed:
                    self.changed.wait(min(POLL_S, left_s))
                if condition():
                    return True
            return False
        finally:
            self._waiting_threads.give_back(client)
