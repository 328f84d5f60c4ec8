"""Sources of verified contracts that `scan restore --owners` has put back: compiled again while no
other verification runs, one after the other, as soon as their code is indexed.

A file is not believed for longer: what the compiler says takes the place of what the file says of
the contract, and of what only compilers say (source maps, layouts) there is nothing before. Where
the sources do not give the code, the contract is no longer verified; the table restored_sources has
the reason, and the file still has the sources.
"""

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from scan.database.connection import Database
from scan.errors import InvalidParameter, NotFound, ScanError, TooLarge, VerificationFailed
from scan.hex import to_hex
from scan.verification.compiler_run import OutOfLimits
from scan.verification.languages import standard_input
from scan.verification.request import parse
from scan.verification.verifier import Verifier, verify_again

TRY_AGAIN = timedelta(minutes=1)
TRY_AGAIN_LATER = timedelta(hours=1)  # where a compiler cannot be fetched, or needs more time
QUICK_ATTEMPTS = 10

log = logging.getLogger(__name__)


class RestoredSources:
    """Compiles the restored sources of one database; several processes share them."""

    def __init__(
        self,
        database: Database,
        verifier: Verifier,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._verifier = verifier
        self._now = now

    def step(self) -> bool:
        """Compile one contract's sources; return whether there was one."""
        if not self._verifier.places.is_idle():
            return False
        row = self._database.row("verification/restored_sources_claim", now=self._now())
        if row is None:
            return False
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
            verify_again(self._verifier, parse(body))
            self._database.rows("verification/restored_sources_end", **key)
        except (VerificationFailed, InvalidParameter, TooLarge) as error:
            if isinstance(error, OutOfLimits):
                self._postpone(key, attempts, error)
            else:
                self._refuse(key, error)
        except ScanError as error:
            if isinstance(error, NotFound):
                attempts = 0  # its code is about to be indexed again
            self._postpone(key, attempts, error)
        return True

    def _postpone(self, key: dict[str, bytes], attempts: int, error: ScanError) -> None:
        after = TRY_AGAIN if attempts < QUICK_ATTEMPTS else TRY_AGAIN_LATER
        log.info("%s is compiled again later: %s", to_hex(key["address"]), error.message)
        statement = "verification/restored_sources_postpone"
        self._database.rows(statement, **key, due_at=self._now() + after)

    def _refuse(self, key: dict[str, bytes], error: ScanError) -> None:
        log.warning(
            "the restored sources of %s do not count: %s", to_hex(key["address"]), error.message
        )
        with self._database.transaction() as tx:
            tx.execute("verification/verified_contracts_remove", **key)
            tx.execute("verification/restored_sources_refuse", **key, reason=error.message)
