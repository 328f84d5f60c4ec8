"""The import of verified contracts: a source's code is compiled here and compared with ours. Input:
a Source and addresses. Output: one Answer for each address, which is also stored, so that an
interrupted import goes on. Code that does not match is not stored as verified; code that cannot be
compiled here is kept as a claim.

A source is another explorer, the file of an export (NDJSON with one Record a line), or the verified
sources that are kept by the hash of the code, in files beside the databases of several chains:
where a development node is started anew, its chain gets another database, and the kept source of a
contract that is deployed there again is submitted like a client's.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
import orjson

from scan import parameters
from scan.cached_values import json_decoder
from scan.concurrency.waiting_threads import WaitingThreads
from scan.contracts.account_state import ReplacedCodes, node_of_index
from scan.contracts.transaction_contents import TransactionContents
from scan.database.connection import Database
from scan.errors import (
    InvalidParameter,
    NotFound,
    RateLimited,
    ScanError,
    TooLarge,
    Unavailable,
    VerificationFailed,
)
from scan.ethereum.request_node import NodeGateway
from scan.extensions.contract_details.contract_import import source_client, source_records
from scan.extensions.contract_details.contract_page import CLAIMED, clean
from scan.extensions.verification_jobs.jobs import VerificationJobs
from scan.hex import to_hex
from scan.settings import Settings
from scan.verification.compiler_run import CompilerPlaces, OutOfLimits
from scan.verification.compiler_store import CompilerStore
from scan.verification.contract_match import FULL, PARTIAL, RUNTIME
from scan.verification.creations import CreationReader
from scan.verification.languages import LANGUAGES, standard_input
from scan.verification.request import parse
from scan.verification.verifier import StoredBytes, Verifier, indexed_contract, verify

VERIFIED, ABSENT, DIFFERENT = "verified", "absent", "different"
NOT_INDEXED = "not indexed"  # there is no contract here; this outcome is not stored
DOWNLOAD_S = 300.0
MAX_RECORD_BYTES = 12 * 1024 * 1024
BATCH_ROWS = 500

Read = Callable[[], source_records.Record | None]


class Answer(NamedTuple):
    """The outcome for one contract. `match` is by our comparison, `record` is the source's."""

    address: bytes
    outcome: str
    match: str | None = None
    reason: str | None = None
    record: source_records.Record | None = None


class Uncounted(StoredBytes):
    """No bound: an operator's import does not count for the day's bound of the
    service's clients."""

    def check(self, client: str | None) -> None:
        pass

    def add(self, client: str | None, size: int) -> None:
        pass


def make_verifier(settings: Settings, database: Database) -> Verifier:
    """Return a verifier for this process."""
    contents = TransactionContents(database)
    creations = CreationReader(database, _gateway(settings), contents, settings.traces)
    return Verifier(
        database, creations, CompilerStore(settings), CompilerPlaces(), Uncounted(database, 0)
    )


def make_index(settings: Settings, database: Database) -> Callable[[bytes], bool]:
    """Return what indexes contracts that are older than an index that begins late, as on a fork;
    one that begins with its chain has them."""
    if not database.value("indexer/chain_get_first_block"):
        return lambda address: False
    codes, gateway = ReplacedCodes(database, database), _gateway(settings)
    return lambda address: codes.index_at_newest(gateway.session(CLIENT), address)


def _gateway(settings: Settings) -> NodeGateway:
    return NodeGateway(node_of_index(settings), WaitingThreads())


class ContractImport:
    """An import from one source."""

    def __init__(
        self, verifier: Verifier, name: str, index: Callable[[bytes], bool] = lambda address: False
    ) -> None:
        """`index` indexes a contract that no block showed, and returns whether there is one."""
        self._verifier = verifier
        self._database = verifier.database
        self._name = name
        self._index = index

    def forget(self) -> None:
        """Delete the stored answers for contracts that were not verified, so that they are asked
        for again."""
        self._database.rows("contract_import/contract_claims_delete", source=self._name)

    def of_claims(self) -> Iterator[Answer]:
        """Verify earlier claims of this source whose compiler is installed now."""
        for address, text in self._listed("contract_claims_list_records", 1):
            record = json_decoder(source_records.Record).decode(text)
            if self._is_installed(record):
                yield self._answer(address, lambda record=record: record)  # type: ignore[misc]

    def _listed(self, statement: str, limit: int) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement, which begin with addresses, in their order."""
        after = b""
        query = partial(self._database.rows, f"contract_import/{statement}", source=self._name)
        while rows := query(after=after, limit=limit):
            for address, *row in rows:
                after = bytes(address)
                yield after, *row

    def _is_installed(self, record: source_records.Record) -> bool:
        language = LANGUAGES.get(source_records.named_language(record.language))
        if language is None:
            return False
        try:
            version = language.kind.parse_version(record.compiler_version)
            return self._verifier.compilers.of(language.kind).find(version) is not None
        except (InvalidParameter, Unavailable):
            return False

    def of_index(self, source: source_records.Source) -> Iterator[Answer]:
        """Import every indexed contract that no verification covers."""
        for (address,) in self._listed("contracts_list_unverified", BATCH_ROWS):
            yield self._answer(address, partial(source.record, address))

    def of_addresses(
        self, source: source_records.Source, addresses: Iterable[str]
    ) -> Iterator[Answer]:
        for address in map(parameters.address, addresses):
            yield from self._unless_answered(address, partial(source.record, address))

    def of_records(self, records: Iterable[source_records.Record]) -> Iterator[Answer]:
        for record in records:
            address = parameters.address(record.address)
            yield from self._unless_answered(address, lambda record=record: record)  # type: ignore[misc]

    def _unless_answered(self, address: bytes, read: Read) -> Iterator[Answer]:
        statement = "contract_import/contract_claims_list_answered"
        if not self._database.rows(statement, source=self._name, addresses=[address]):
            yield self._answer(address, read)

    def _answer(self, address: bytes, read: Read) -> Answer:
        try:
            try:
                contract = indexed_contract(self._database, address)
            except NotFound:
                if not self._index(address):
                    raise
                contract = indexed_contract(self._database, address)
        except (NotFound, VerificationFailed) as error:
            return Answer(address, NOT_INDEXED, reason=error.message)
        try:
            record = read()
        except source_client.Malformed as error:
            answer = Answer(address, DIFFERENT, reason=error.message)
        else:
            answer = Answer(address, ABSENT) if record is None else self._compared(address, record)
        self._store(answer, contract.code_hash)
        return answer

    def _compared(self, address: bytes, record: source_records.Record) -> Answer:
        """Compile and compare a record. One that cannot be compiled here becomes a claim, as that
        is no fault of the source."""
        try:
            if source_records.named_language(record.language) not in LANGUAGES:
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

    def _claim(self, address: bytes, record: source_records.Record, error: ScanError) -> Answer:
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


FILE_BATCH_ROWS = 20  # of which each has up to 1 MiB of sources


def read_records(path: Path) -> Iterator[source_records.Record]:
    """Yield the records of a file. Raises OSError, and InvalidParameter with the line's number."""
    decoder = json_decoder(source_records.Record)
    with path.open("rb") as file:
        lines = iter(partial(file.readline, source_client.MAX_ANSWER_BYTES + 1), b"")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                if len(line) > source_client.MAX_ANSWER_BYTES:
                    raise msgspec.DecodeError("it is too long")
                yield decoder.decode(line)
            except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
                message = f"line {number} is not a contract as `scan contracts export` writes it"
                raise InvalidParameter(message) from None


def verified_rows(database: Database, *, is_unmapped: bool = False) -> Iterator[tuple[Any, ...]]:
    """Yield every verified contract whose code is still at its address, by address; `is_unmapped`:
    only those without a source map."""
    statement, after = "contract_import/verified_contracts_list", b""
    query = partial(database.rows, statement, is_unmapped=is_unmapped, limit=FILE_BATCH_ROWS)
    while rows := query(after=after):
        yield from rows
        after = bytes(rows[-1][0])


def write_records(database: Database, file: IO[bytes], chain_id: str | None) -> int:
    """Write every verified contract whose code is still at its address. Return their number."""
    count = 0
    for row in verified_rows(database):
        file.write(msgspec.json.encode(record_of(row, chain_id)) + b"\n")
        count += 1
    return count


def record_of(row: tuple[Any, ...], chain_id: str | None) -> source_records.Record:
    """Return a row of contract_import/verified_contracts_list as a line of the file."""
    address, match, creation, name, path, version, license_, settings, sources, arguments = row
    files, compiled_with = orjson.loads(sources), orjson.loads(settings)
    return source_records.Record(
        address=to_hex(bytes(address)) if address else "",
        chain_id=chain_id,
        match=match,
        creation_match=creation,
        contract_name=f"{path}:{name}",
        compiler_version=version,
        license=license_,
        source_code=standard_input(path, files, compiled_with),
        constructor_arguments=None if arguments is None else to_hex(bytes(arguments)),
    )


MAX_FILES = 1_000
KEPT_BATCH_ROWS = 20  # of which each has up to 1 MiB of sources
CLIENT = "kept sources"  # the client that its jobs are charged to
SUFFIX = ".json"
FILES = "[0-9a-f]" * 64 + SUFFIX  # a folder may have other files of an operator

log = logging.getLogger(__name__)


class KeptSources:
    """Writes the sources that are verified in a database to files, and submits those in files for
    verification."""

    def __init__(self, folder: Path, database: Database, jobs: VerificationJobs) -> None:
        self._folder = folder
        self._database = database
        self._jobs = jobs
        self._submitted: set[bytes] = set()  # code hashes, even if the source did not match

    def step(self) -> bool:
        """Write new sources to files, and submit those whose code an unverified contract has;
        return False: the next step is not due at once."""
        self._folder.mkdir(parents=True, exist_ok=True)
        kept = {bytes.fromhex(path.stem) for path in self._folder.glob(FILES)}
        self._keep(kept)
        self._submit(kept - self._submitted)
        return False

    def _keep(self, kept: set[bytes]) -> None:
        rows = self._database.rows(
            "contract_import/verified_contracts_list_new",
            code_hashes=[*kept],
            limit=min(KEPT_BATCH_ROWS, MAX_FILES - len(kept)),
        )
        for code_hash, *row in rows:
            unfinished = self._folder / f"{code_hash.hex()}.unfinished"
            unfinished.write_bytes(msgspec.json.encode(record_of(tuple(row), None)))
            unfinished.replace(self._file(bytes(code_hash)))

    def _submit(self, code_hashes: Iterable[bytes]) -> None:
        statement = "contract_import/contracts_list_by_code"
        for code_hash, address in self._database.rows(statement, code_hashes=[*code_hashes]):
            try:
                content = self._file(bytes(code_hash)).read_bytes()
                record = json_decoder(source_records.Record).decode(content)
                body = {**record.submission(), "address": to_hex(bytes(address))}
                self._jobs.submit(body, CLIENT)
            except (RateLimited, Unavailable):
                return  # the next step goes on
            except (InvalidParameter, TooLarge, NotFound, msgspec.MsgspecError) as error:
                log.warning("the kept source of code %s is not used: %s", code_hash.hex(), error)
            self._submitted.add(bytes(code_hash))

    def _file(self, code_hash: bytes) -> Path:
        return self._folder / f"{code_hash.hex()}{SUFFIX}"
