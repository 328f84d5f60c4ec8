"""Sources that the public export claims of contracts, compiled beside serving one after the other
(scan/verification/restored_sources.py): first of those that were looked at, then of those with the
newest transactions, then of the others by address. Each is compiled once: what does not give the
code is marked as different, and what cannot be compiled here stays a claim, with the reason.
"""

import logging
from dataclasses import replace
from datetime import datetime, timedelta

from scan.database.connection import Database
from scan.database.transaction import Row
from scan.errors import ScanError, VerificationFailed
from scan.extensions.contract_details.contract_import.importer import DIFFERENT, Uncounted
from scan.extensions.contract_details.contract_page import CLAIMED, RequestedClaims, clean
from scan.hex import to_hex
from scan.verification.contract_match import RUNTIME
from scan.verification.request import Submission
from scan.verification.verifier import Verifier, indexed_contract, message, verify

NEWEST = 2**63 - 1
WINDOW = 2_000  # transactions or addresses that a step looks at
MOST_WINDOWS = 500  # of transactions: then the others follow by address
PAUSE = timedelta(minutes=1)  # between two searches of all

log = logging.getLogger(__name__)


class ExportedSources:
    """A queue of one process; several processes share the contracts."""

    postponed = "contract_import/exported_contracts_postpone"

    def __init__(self, database: Database, requested: RequestedClaims) -> None:
        self._database = database
        self._requested = requested
        self._before, self._windows, self._after = NEWEST, 0, b""
        self._search_at: datetime | None = None

    def take(self, now: datetime, *, is_requested: bool) -> Row | None:
        """Return the next contract to compile, of those that were looked at or of all; None where
        this step has not come to one."""
        address = self._requested.next() if is_requested else self._find_next(now)
        if address is None:
            return None
        statement = "contract_import/exported_contracts_claim"
        return self._database.row(statement, address=address, now=now)

    def _find_next(self, now: datetime) -> bytes | None:
        """Look at the transactions before those looked at last, or at the addresses after."""
        if self._search_at is not None and now < self._search_at:
            return None
        of_search = {"limit": WINDOW, "now": now}
        if self._windows < MOST_WINDOWS:
            statement = "contract_import/exported_contracts_find_used"
            row = self._database.row(statement, before=self._before, **of_search)
            address, oldest = row or (None, None)
            if address is None:
                self._before = self._before if oldest is None else oldest
                self._windows = MOST_WINDOWS if oldest is None else self._windows + 1
        else:
            statement = "contract_import/exported_contracts_find_next"
            row = self._database.row(statement, after=self._after, **of_search)
            address, last = row or (None, None)
            if address is None and last is not None:
                self._after = bytes(last)
            elif address is None:
                self._before, self._windows, self._after = NEWEST, 0, b""
                self._search_at = now + PAUSE
        return None if address is None else bytes(address)

    def compile(self, verifier: Verifier, submission: Submission) -> None:
        uncounted = Uncounted(verifier.database, 0)
        verified = verify(replace(verifier, stored_bytes=uncounted), submission)
        reason = message(verified) if verified.match == RUNTIME else None
        code_hash = indexed_contract(verifier.database, submission.address).code_hash
        self._end({"address": submission.address, "code_hash": code_hash}, CLAIMED, reason)

    def refuse(self, key: dict[str, bytes], error: ScanError) -> None:
        log.info("exported sources of %s: %s", to_hex(key["address"]), error.message)
        is_different = isinstance(error, VerificationFailed)
        self._end(key, DIFFERENT if is_different else CLAIMED, clean(error.message))

    def _end(self, key: dict[str, bytes], outcome: str, reason: str | None) -> None:
        statement = "contract_import/exported_contracts_end"
        self._database.rows(statement, **key, outcome=outcome, reason=reason)
