"""Verified sources kept by the hash of the code, in files beside the databases of several chains.

A development node that is started anew begins another chain, which gets another database. Where
contracts with kept code are deployed there again, the kept source is submitted like a client's: it
is compiled and compared with the new contract and its creation code.
"""

import logging
from collections.abc import Iterable
from pathlib import Path

import msgspec

from scan.database.connection import Database
from scan.errors import InvalidParameter, NotFound, RateLimited, TooLarge, Unavailable
from scan.extensions.contract_details.contract_import.contract_file import record_of
from scan.extensions.contract_details.contract_import.source_records import Record
from scan.extensions.contract_details.verification_jobs.jobs import VerificationJobs
from scan.hex import to_hex

MAX_FILES = 1_000
BATCH_ROWS = 20  # of which each has up to 1 MiB of sources
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
            limit=min(BATCH_ROWS, MAX_FILES - len(kept)),
        )
        for code_hash, *row in rows:
            unfinished = self._folder / f"{code_hash.hex()}.unfinished"
            unfinished.write_bytes(msgspec.json.encode(record_of(tuple(row), None)))
            unfinished.replace(self._file(bytes(code_hash)))

    def _submit(self, code_hashes: Iterable[bytes]) -> None:
        rows = self._database.rows(
            "contract_import/contracts_list_by_code", code_hashes=[*code_hashes]
        )
        for code_hash, address in rows:
            try:
                record = msgspec.json.decode(self._file(bytes(code_hash)).read_bytes(), type=Record)
                body = {**record.submission(), "address": to_hex(bytes(address))}
                self._jobs.submit(body, CLIENT)
            except (RateLimited, Unavailable):
                return  # the next step goes on
            except (InvalidParameter, TooLarge, NotFound, msgspec.MsgspecError) as error:
                log.warning("the kept source of code %s is not used: %s", code_hash.hex(), error)
            self._submitted.add(bytes(code_hash))

    def _file(self, code_hash: bytes) -> Path:
        return self._folder / f"{code_hash.hex()}{SUFFIX}"
