"""Source maps of contracts that were verified before source maps were kept.

Their own stored sources are compiled again and compared with their code. What has a map is left
out, so that an interrupted run goes on.
"""

from collections.abc import Iterator
from typing import NamedTuple

from scan.errors import ScanError
from scan.extensions.contract_details.contract_import.contract_file import BATCH_ROWS, record_of
from scan.extensions.contract_details.contract_import.importer import DOWNLOAD_S
from scan.hex import to_hex
from scan.verification.request import parse
from scan.verification.verifier import Verifier, add_findings

NO_MAP = "the compiler gives no source map for it"


class Outcome(NamedTuple):
    """What came of one contract; `reason` is None where it has a source map now."""

    address: str
    reason: str | None


def add_missing(verifier: Verifier) -> Iterator[Outcome]:
    """Yield the outcome for each verified contract without a source map, by address."""
    after = b""
    while rows := verifier.database.rows(
        "contract_import/verified_contracts_list_unmapped", after=after, limit=BATCH_ROWS
    ):
        for row in rows:
            after = bytes(row[0])
            yield Outcome(to_hex(after), _add(verifier, row))


def _add(verifier: Verifier, row: tuple[object, ...]) -> str | None:
    try:
        submission = parse(record_of(row, None).submission())
        compilers = verifier.compilers.of(submission.language.kind)
        compilers.compiler(submission.version, DOWNLOAD_S)
        return None if add_findings(verifier, submission) else NO_MAP
    except ScanError as error:
        return error.message
