"""Background verifications: submitted, run under leases, kept in the database for a day.

Whoever knows a job's id may read its result. Any number of processes share the jobs.
"""

import json
import logging
import random
import re
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from scan import errors
from scan.concurrency.waiting_threads import WaitingThreads
from scan.database.connection import Database
from scan.database.outages import log_pause
from scan.database.transaction import Transaction
from scan.rate_limits.client_address import network_around
from scan.verification.compiler_run import RUNNING, OutOfLimits
from scan.verification.request import parse
from scan.verification.verifier import Verifier, indexed_contract, message, verify

MOST_UNFINISHED = 32
MOST_UNFINISHED_OF_CLIENT = 2  # one runs and one waits
MAX_REQUEST_BYTES = 12 * 1024 * 1024  # as ASCII: sources of 1 MiB may take six times as much
POLL_S = 0.5  # another process may run the job
RETRY_AFTER_S = 15
TOO_MANY = "Too many verifications are waiting; try again shortly."

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Job(NamedTuple):
    """A verification job. `status` is pending, running, done or failed; `match` and
    `creation_match` are full, partial or None. A failed job has one of the error codes below, or
    `refused`.
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
    error_code: str | None

    @property
    def is_over(self) -> bool:
        return self.status in ("done", "failed")


class UnfinishedJob(NamedTuple):
    id: str
    client: str
    is_running: bool
    is_due: bool


def next_due(jobs: Sequence[UnfinishedJob]) -> UnfinishedJob | None:
    """Return the job to run next: the first that is due of the networks with the fewest running
    ones, of clients without any."""
    running = [job.client for job in jobs if job.is_running]
    in_network = Counter(map(network_around, running))
    due = (job for job in jobs if job.is_due and job.client not in running)
    return min(due, key=lambda job: in_network[network_around(job.client)], default=None)


def that_gives_way(jobs: Sequence[UnfinishedJob], client: str) -> UnfinishedJob | None:
    """Return the last waiting job of the network that has the most jobs, and of its client that has
    the most, for one more of `client`; None where that one would have no fewer then."""
    of_client = Counter(job.client for job in jobs)
    in_network = Counter(network_around(job.client) for job in jobs)

    def share(client: str) -> tuple[int, int]:
        return in_network[network_around(client)], of_client[client]

    def has_more(job: UnfinishedJob) -> bool:
        if network_around(job.client) == network_around(client):
            return of_client[job.client] > of_client[client] + 1
        return in_network[network_around(job.client)] > in_network[network_around(client)] + 1

    waiting = (job for job in reversed(jobs) if not job.is_running and has_more(job))
    return max(waiting, key=lambda job: share(job.client), default=None)


class VerificationJobs:
    """The jobs of one database; `changed` is notified when this process adds or ends a job."""

    def __init__(
        self,
        database: Database,
        waiting_threads: WaitingThreads,
        index: Callable[[bytes, str], bool] = lambda address, client: False,
    ) -> None:
        """`index` indexes a contract that no block showed, for a client, and returns whether there
        is one."""
        self._database = database
        self._waiting_threads = waiting_threads
        self._index = index
        self.changed = threading.Condition()

    def submit(
        self,
        request: Mapping[str, Any],
        client: str,
        *,
        wait_s: float = 0.0,
        form_field: str | None = None,
    ) -> str:
        """Store a new job for `request`, in the form of a body of /api/v1/verify, and return its
        id. `form_field` is that of Blockscout's form to which a failure is told.

        Raises InvalidParameter, TooLarge, NotFound if no contract is indexed at the address
        within `wait_s`, RateLimited if the client has too many unfinished jobs, Unavailable.
        """
        submission = parse(request)
        text = json.dumps(request)
        if len(text) > MAX_REQUEST_BYTES:
            raise errors.TooLarge("The request is too large.", field="sourceCode")
        self._require_contract(submission.address, client, wait_s)
        job_id = str(uuid.uuid4())
        with self._database.transaction() as tx:
            tx.execute("verification/jobs_lock")
            now = datetime.now(UTC)
            unfinished = _unfinished(tx, now)
            of_client = sum(job.client == client for job in unfinished)
            if of_client >= MOST_UNFINISHED_OF_CLIENT:
                raise errors.RateLimited(
                    f"{of_client} of your verifications are not finished; wait for one of them.",
                    headers={"Retry-After": str(RETRY_AFTER_S)},
                )
            if len(unfinished) >= MOST_UNFINISHED:
                displaced = that_gives_way(unfinished, client)
                if displaced is None:
                    raise errors.Unavailable(TOO_MANY, retry_after_s=RETRY_AFTER_S)
                ending = Ending(TOO_MANY, error_code=UNAVAILABLE)
                tx.execute("verification/jobs_finish", **_end(displaced.id, None, ending))
            tx.execute(
                "verification/jobs_insert",
                id=job_id,
                client=client,
                address=submission.address,
                request=text,
                form_field=form_field,
                now=now,
            )
        self.notify()
        return job_id

    def refuse(self, address: bytes, client: str, message: str, form_field: str) -> str:
        """Store a job that has failed before it began, as clients that wait for the result of one
        are told so, and return its id."""
        job_id = str(uuid.uuid4())
        self._database.rows(
            "verification/jobs_refuse",
            id=job_id,
            client=client,
            address=address,
            message=message,
            form_field=form_field,
            now=datetime.now(UTC),
        )
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
            with suppress(errors.NotFound):
                return self._is_contract(address)
            return False

        if is_indexed() or self._index(address, client):
            return
        if not self._wait_until(is_indexed, client, wait_s):
            self._is_contract(address)

    def _is_contract(self, address: bytes) -> bool:
        """Return True for a contract, even of unsupported bytecode, which the job then reports.
        Raises NotFound where there is none."""
        with suppress(errors.VerificationFailed):
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


log = logging.getLogger(__name__)

RUNNER_POLL_S = 1.0
# The time until another process takes over the job of a process that died, and for which a machine
# or the database may hang without a job being started twice: 10 s were too short.
LEASE_S = 30.0
EXTEND_EVERY_S = 3.0
SWEEP_EVERY_S = 60.0
SWEPT_AT_ONCE = 1_000
KEPT = timedelta(days=1)
POSTPONED = timedelta(seconds=2)  # while all compilers are busy, or the compiler is downloaded
TRIED_FOR = timedelta(minutes=15)
MOST_ATTEMPTS = 3  # so that a job that kills its process is not run for ever

# Errors of failed jobs.
NO_MATCH = "no_match"
COMPILER_ERROR = "compiler_error"
CONTRACT_NOT_DEPLOYED = "contract_not_deployed"
UNAVAILABLE = "unavailable"
INTERNAL_ERROR = "internal_error"


class ClaimedJob(NamedTuple):
    lease: int
    id: str
    client: str
    created_at: datetime
    attempts: int
    request: str


class Ending(NamedTuple):
    """How a job ended: with a match, or with an error code."""

    message: str
    match: str | None = None
    creation_match: str | None = None
    error_code: str | None = None


class JobRunner:
    """One thread claims jobs, extends leases and sweeps; each job runs in a thread of its own."""

    def __init__(
        self,
        database: Database,
        verifier: Verifier,
        jobs: VerificationJobs,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._now = now
        self._verifier = verifier
        self._jobs = jobs
        self._stopping = False
        self._running: set[int] = set()  # leases
        self._thread = threading.Thread(target=self._run, name="verification-jobs", daemon=True)

    def start(self) -> None:
        """Run jobs in threads of this process until stop()."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and give the leases back at once, so that another process goes on."""
        self._stopping = True
        self._jobs.notify()
        self._thread.join()

    def _run(self) -> None:
        """Claim jobs, extend leases and sweep until stop(). Errors are logged; the failed step runs
        again after a pause."""
        every_s = {
            self._extend_leases: EXTEND_EVERY_S,
            self._claim_all: 0.0,
            self._sweep: SWEEP_EVERY_S,
        }
        due_at = dict.fromkeys(every_s, 0.0)
        while not self._stopping:
            try:
                for action, pause_s in every_s.items():
                    if time.monotonic() >= due_at[action]:
                        due_at[action] = time.monotonic() + pause_s
                        action()
            except Exception as error:  # such as where no thread can be started
                log_pause(log, "verification jobs pause", error)
            with self._jobs.changed:
                if not self._stopping:
                    self._jobs.changed.wait(RUNNER_POLL_S)
        try:
            self._postpone(list(self._running), self._now())
        except errors.ScanError as error:
            log.warning(
                "cannot return the leases of verification jobs, they will expire: %s", error
            )
        self._database.close()

    def _claim_all(self) -> None:
        while not self._stopping and len(self._running) < RUNNING:
            job = self._claim()
            if job is None:
                break
            name = f"verification-{job.id[:8]}"
            thread = threading.Thread(target=self._serve, args=(job,), name=name, daemon=True)
            self._running.add(job.lease)
            try:
                thread.start()
            except RuntimeError:
                self._running.discard(job.lease)
                raise
        # Whether clients without a running job wait while all places are taken.
        self._verifier.places.jobs_wait = (
            len(self._running) >= RUNNING
            and next_due(_unfinished(self._database, self._now())) is not None
        )

    def _claim(self) -> ClaimedJob | None:
        lease = random.getrandbits(62)
        with self._database.transaction() as tx:
            tx.execute("verification/jobs_lock")
            now = self._now()  # others may have held the lock for a while
            job = next_due(_unfinished(tx, now))
            if job is None:
                return None
            until = now + timedelta(seconds=LEASE_S)
            rows = tx.rows(
                "verification/jobs_claim", id=job.id, now=now, lease=lease, leased_until=until
            )
        return ClaimedJob(lease, *rows[0]) if rows else None

    def _extend_leases(self) -> None:
        if leases := [*self._running]:
            until = self._now() + timedelta(seconds=LEASE_S)
            self._database.rows(
                "verification/jobs_extend_leases", leases=leases, leased_until=until
            )

    def _sweep(self) -> None:
        before = self._now() - KEPT
        self._database.rows("verification/jobs_sweep", created_before=before, limit=SWEPT_AT_ONCE)

    def _postpone(self, leases: list[int], due_at: datetime) -> None:
        if leases:
            self._database.rows("verification/jobs_postpone", leases=leases, due_at=due_at)

    def _serve(self, job: ClaimedJob) -> None:
        """Run a job, as the target of its thread. Whatever happens, the job or its lease ends."""
        try:
            ending = self._ending(job)
            if ending is None:
                self._postpone([job.lease], self._now() + POSTPONED)
            else:
                self._database.rows("verification/jobs_finish", **_end(job.id, job.lease, ending))
        except Exception as error:
            log_pause(log, "verification job %s waits for its lease to expire", error, job.id)
        finally:
            self._running.discard(job.lease)
            self._database.close()
            self._jobs.notify()

    def _ending(self, job: ClaimedJob) -> Ending | None:
        """Verify a job's submission and return how it ended; None if it is to be tried again."""
        if job.attempts > MOST_ATTEMPTS:
            return Ending("The verification was interrupted.", error_code=INTERNAL_ERROR)
        try:
            verified = verify(self._verifier, parse(json.loads(job.request)), job.client)
        except errors.Unavailable as error:
            is_passing = not isinstance(error, errors.CompilerUnavailable)
            if is_passing and self._now() - job.created_at < TRIED_FOR:
                return None
            return Ending(error.message, error_code=UNAVAILABLE)
        except errors.ScanError as error:
            return Ending(error.message, error_code=_error_code(error))
        except Exception:
            log.exception("verification job %s failed", job.id)
            return Ending("Something went wrong on our side.", error_code=INTERNAL_ERROR)
        return Ending(message(verified), verified.match, verified.creation.match)


def _unfinished(database: Database | Transaction, now: datetime) -> list[UnfinishedJob]:
    rows = database.rows("verification/jobs_list_unfinished", now=now)
    return [UnfinishedJob(*row) for row in rows]


def _end(job_id: str, lease: int | None, ending: Ending) -> dict[str, object]:
    """Return the parameters of verification/jobs_finish."""
    status = "failed" if ending.error_code else "done"
    return {
        "id": job_id,
        "lease": lease,
        "status": status,
        "now": datetime.now(UTC),
        **ending._asdict(),
    }


def _error_code(error: errors.ScanError) -> str:
    if isinstance(error, errors.NotFound):
        return CONTRACT_NOT_DEPLOYED
    if isinstance(error, errors.SourceDoesNotCompile | OutOfLimits | errors.InvalidParameter):
        return COMPILER_ERROR
    if isinstance(error, errors.RateLimited):
        return UNAVAILABLE
    return NO_MATCH if isinstance(error, errors.VerificationFailed) else INTERNAL_ERROR
