"""The import of verified contracts: a source's code is compiled here and compared with ours.

Input: a Source and addresses. Output: one Answer for each address, which is also stored, so that an
interrupted import goes on. Code that does not match is not stored as verified; code that cannot be
compiled here is kept as a claim.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import msgspec

from scan import parameters
from scan.contracts.index_node import node_of_index
from scan.database.connection import Database
from scan.errors import (
    InvalidParameter,
    NotFound,
    ScanError,
    TooLarge,
    Unavailable,
    VerificationFailed,
)
from scan.ethereum.request_node import NodeGateway
from scan.ethereum.transaction_reader import TransactionReader
from scan.extensions.contract_details.claims import CLAIMED, clean
from scan.extensions.contract_details.contract_import.source_client import Malformed
from scan.extensions.contract_details.contract_import.source_records import (
    Record,
    Source,
    named_language,
)
from scan.rate_limits.turns import WaitingThreads
from scan.settings import Settings
from scan.verification.compiler_places import CompilerPlaces
from scan.verification.compiler_run import OutOfLimits
from scan.verification.compiler_store import CompilerStore
from scan.verification.contract_match import FULL, PARTIAL, RUNTIME
from scan.verification.creation_reader import CreationReader
from scan.verification.languages import LANGUAGES
from scan.verification.request import parse
from scan.verification.stored_bytes import StoredBytes
from scan.verification.verifier import Verifier, indexed_contract, verify

VERIFIED, ABSENT, DIFFERENT = "verified", "absent", "different"
NOT_INDEXED = "not indexed"  # there is no contract here; this outcome is not stored
DOWNLOAD_S = 300.0
MAX_RECORD_BYTES = 12 * 1024 * 1024
BATCH_ROWS = 500

Read = Callable[[], Record | None]


class Answer(NamedTuple):
    """The outcome for one contract. `match` is by our comparison, `record` is the source's."""

    address: bytes
    outcome: str
    match: str | None = None
    reason: str | None = None
    record: Record | None = None


class _Uncounted(StoredBytes):
    """No bound: an operator's import does not count for the day's bound of the
    service's clients."""

    def check(self, client: str | None) -> None:
        pass

    def add(self, client: str | None, size: int) -> None:
        pass


def make_verifier(settings: Settings, database: Database) -> Verifier:
    """Return a verifier for this process."""
    gateway = NodeGateway(node_of_index(settings), WaitingThreads())
    creations = CreationReader(database, gateway, TransactionReader(), settings.traces)
    return Verifier(
        database,
        creations,
        CompilerStore(settings),
        CompilerPlaces(),
        _Uncounted(database, 0),
    )


class ContractImport:
    """An import from one source."""

    def __init__(self, verifier: Verifier, compilers: CompilerStore, name: str) -> None:
        self._verifier = verifier
        self._database = verifier.database
        self._compilers = compilers
        self._name = name

    def forget(self) -> None:
        """Delete the stored answers for contracts that were not verified, so that they are asked
        for again."""
        self._database.rows("contract_import/contract_claims_delete", source=self._name)

    def of_claims(self) -> Iterator[Answer]:
        """Verify earlier claims of this source whose compiler is installed now."""
        after = b""
        while rows := self._database.rows(
            "contract_import/contract_claims_list_records",
            source=self._name,
            after=after,
            limit=1,
        ):
            [(address, text)] = rows
            after = bytes(address)
            record = msgspec.json.decode(text, type=Record)
            if self._is_installed(record):
                yield self._answer(after, lambda record=record: record)  # type: ignore[misc]

    def _is_installed(self, record: Record) -> bool:
        language = LANGUAGES.get(named_language(record.language))
        if language is None:
            return False
        try:
            version = language.kind.parse_version(record.compiler_version)
            return self._compilers.of(language.kind).find(version) is not None
        except (InvalidParameter, Unavailable):
            return False

    def of_index(self, source: Source) -> Iterator[Answer]:
        """Import every indexed contract that no verification covers."""
        after = b""
        while rows := self._database.rows(
            "contract_import/contracts_list_unverified",
            source=self._name,
            after=after,
            limit=BATCH_ROWS,
        ):
            for (address,) in rows:
                after = bytes(address)
                yield self._answer(after, partial(source.record, after))

    def of_addresses(self, source: Source, addresses: Iterable[str]) -> Iterator[Answer]:
        for text in addresses:
            address = parameters.address(text)
            yield from self._unless_answered(address, partial(source.record, address))

    def of_records(self, records: Iterable[Record]) -> Iterator[Answer]:
        for record in records:
            address = parameters.address(record.address)
            yield from self._unless_answered(address, lambda record=record: record)  # type: ignore[misc]

    def _unless_answered(self, address: bytes, read: Read) -> Iterator[Answer]:
        answered = self._database.rows(
            "contract_import/contract_claims_list_answered",
            source=self._name,
            addresses=[address],
        )
        if not answered:
            yield self._answer(address, read)

    def _answer(self, address: bytes, read: Read) -> Answer:
        try:
            code_hash = indexed_contract(self._database, address).code_hash
        except (NotFound, VerificationFailed) as error:
            return Answer(address, NOT_INDEXED, reason=error.message)
        try:
            record = read()
        except Malformed as error:
            answer = Answer(address, DIFFERENT, reason=error.message)
        else:
            answer = Answer(address, ABSENT) if record is None else self._compared(address, record)
        self._store(answer, code_hash)
        return answer

    def _compared(self, address: bytes, record: Record) -> Answer:
        """Compile and compare a record. One that cannot be compiled here becomes a claim, as that
        is no fault of the source."""
        try:
            if named_language(record.language) not in LANGUAGES:
                raise InvalidParameter(f"there is no compiler for {clean(record.language)} here")
            submission = parse({**record.submission(), "address": f"0x{address.hex()}"})
            compilers = self._verifier.compilers.of(submission.language.kind)
            compilers.compiler(submission.version, DOWNLOAD_S)
            match = verify(self._verifier, submission).match
            return Answer(address, VERIFIED, match, record=record)
        except (InvalidParameter, TooLarge, Unavailable, OutOfLimits) as error:
            return self._claim(address, record, error)
        except (VerificationFailed, UnicodeEncodeError) as error:
            reason = error.message if isinstance(error, ScanError) else "its text is no Unicode"
            return Answer(address, DIFFERENT, reason=reason, record=record)

    def _claim(self, address: bytes, record: Record, error: ScanError) -> Answer:
        try:
            size = len(msgspec.json.encode(record))
        except UnicodeEncodeError:
            size = MAX_RECORD_BYTES + 1
        outcome = CLAIMED if size <= MAX_RECORD_BYTES else DIFFERENT
        return Answer(address, outcome, reason=error.message, record=record)

    def _store(self, answer: Answer, code_hash: bytes) -> None:
        record = answer.record
        is_claim = record is not None and answer.outcome == CLAIMED
        match = record.match if record else None
        self._database.rows(
            "contract_import/contract_claims_put",
            address=answer.address,
            source=self._name,
            code_hash=code_hash,
            outcome=answer.outcome,
            claimed_match=match if match in (FULL, PARTIAL, RUNTIME) else None,
            reason=clean(answer.reason),
            contract_name=clean(record.contract_name) if record else None,
            compiler_version=clean(record.compiler_version) if record else None,
            record=msgspec.json.encode(record).decode() if is_claim else None,
        )
