"""Sources of verified contracts that `scan restore --owners` has put back, or that an older version
compiled: compiled again while no other verification runs, one after the other, as soon as their
code is indexed.

A file is not believed for longer: what the compiler says takes the place of what the file says of
the contract, and of what only compilers say (source maps, layouts) there is nothing before. Where
the sources do not give the code, the contract is no longer verified; the table restored_sources has
the reason, and the file still has the sources.

Contracts that an older version of Scan verified lack what is read of a compiler's output since.
They are compiled again in the same way, one in all processes, those of the newest transactions
first, and keep what they have where their sources no longer give their code: read_findings.

Sources that extensions have of contracts that are not verified are compiled in the same way, each
by its SourceQueue: those that were asked for before the older contracts, the others last.
"""

import json
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

from scan.database.connection import Database
from scan.database.transaction import Row
from scan.errors import InvalidParameter, NotFound, ScanError, TooLarge, VerificationFailed
from scan.hex import to_hex
from scan.verification import hooks
from scan.verification.compiler_run import OutOfLimits
from scan.verification.languages import standard_input
from scan.verification.request import Submission, parse
from scan.verification.verifier import Verifier, add_findings, verify_again

TRY_AGAIN = timedelta(minutes=1)
TRY_AGAIN_LATER = timedelta(hours=1)  # where a compiler cannot be fetched, or needs more time
QUICK_ATTEMPTS = 10

log = logging.getLogger(__name__)


def compilations_left(database: Database) -> tuple[int, int]:
    """Return how many verified contracts wait to be compiled again, and how many keep what an older
    version read, since their sources no longer give their code."""
    waiting, kept = database.row("verification/read_findings_count") or (0, 0)
    return waiting, kept


class SourceQueue(Protocol):
    """Sources of contracts that are not verified."""

    @property
    def postponed(self) -> str:
        """The statement that has a contract compiled later, as restored_sources_postpone does."""
        ...

    def take(self, now: datetime, *, is_requested: bool) -> Row | None:
        """Return the next contract, as restored_sources_claim does, of those that somebody asked
        for or of all; None where there is none now."""
        ...

    def compile(self, verifier: Verifier, submission: Submission) -> object:
        """Verify a contract, and end with it."""
        ...

    def refuse(self, key: dict[str, bytes], error: ScanError) -> None:
        """End with a contract whose sources never verify it."""
        ...


class RestoredSources:
    """Compiles the restored sources of one database; several processes share them."""

    def __init__(
        self,
        database: Database,
        verifier: Verifier,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        queues: Sequence[SourceQueue] = (),
    ) -> None:
        self._database = database
        self._verifier = verifier
        self._now = now
        self._queues = queues
        self._version = hooks.version_read()
        self._after: Row | None = (b"", b"")  # the last contract that was looked at; None: all were

    def step(self) -> bool:
        """Compile one contract's sources; return whether there was one."""
        if not self._verifier.places.is_idle():
            return False
        row = self._database.row("verification/restored_sources_claim", now=self._now())
        if row is not None:
            self._compile(row, verify_again, "verification/restored_sources_postpone", self._remove)
            return True
        return (
            self._compile_queued(is_requested=True)
            or self._compile_older()
            or self._compile_queued(is_requested=False)
        )

    def _compile_queued(self, *, is_requested: bool) -> bool:
        for queue in self._queues:
            row = queue.take(self._now(), is_requested=is_requested)
            if row is not None:
                self._compile(row, queue.compile, queue.postponed, queue.refuse)
                return True
        return False

    def _compile_older(self) -> bool:
        if self._version == 0:
            return False
        while self._after is not None:  # once in the life of a process
            self._find_older(*self._after)
        row = self._database.row("verification/read_findings_claim", now=self._now())
        if row is not None:
            add = partial(add_findings, gives_way=True)
            self._compile(row, add, "verification/read_findings_postpone", self._keep)
        return row is not None

    def _find_older(self, after_address: bytes, after_hash: bytes) -> None:
        """Note the next contracts that another version verified."""
        statement, version = "verification/read_findings_find", self._version
        self._after = self._database.row(
            statement, version=version, after_address=after_address, after_hash=after_hash
        )

    def _compile(
        self,
        row: Row,
        compile_again: Callable[[Verifier, Submission], object],
        postpone: str,
        refuse: Callable[[dict[str, bytes], ScanError], None],
    ) -> None:
        address, code_hash, attempts, path, name, version, license_, settings, sources = row
        key = {"address": bytes(address), "code_hash": bytes(code_hash)}
        code = standard_input(path, json.loads(sources), json.loads(settings))
        body = {
            "address": to_hex(key["address"]),
            "sourceCode": json.dumps(code),
            "compilerVersion": version,
            "contractName": f"{path}:{name}",
            "license": license_ or "",
        }
        try:
            compile_again(self._verifier, parse(body))
            self._database.rows("verification/restored_sources_end", **key)  # if it was one
        except ScanError as error:
            is_final = isinstance(error, VerificationFailed | InvalidParameter | TooLarge)
            if is_final and not isinstance(error, OutOfLimits):
                refuse(key, error)
                return
            if isinstance(error, NotFound):
                attempts = 0  # its code is about to be indexed again
            after = TRY_AGAIN if attempts < QUICK_ATTEMPTS else TRY_AGAIN_LATER
            log.info("%s is compiled again later: %s", to_hex(key["address"]), error.message)
            self._database.rows(postpone, **key, due_at=self._now() + after)

    def _remove(self, key: dict[str, bytes], error: ScanError) -> None:
        log.warning(
            "the restored sources of %s do not count: %s", to_hex(key["address"]), error.message
        )
        with self._database.transaction() as tx:
            tx.execute("verification/verified_contracts_remove", **key)
            tx.execute("verification/restored_sources_refuse", **key, reason=error.message)

    def _keep(self, key: dict[str, bytes], error: ScanError) -> None:
        log.warning(
            "the sources of %s, compiled again, do not give its code; it keeps what it has: %s",
            *(to_hex(key["address"]), error.message),
        )
        statement = "verification/read_findings_put"
        self._database.rows(statement, **key, version=self._version, reason=error.message)
