"""The file of an export: NDJSON with one Record a line, which an import can read."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec
import orjson

from scan.database.connection import Database
from scan.errors import InvalidParameter
from scan.extensions.contract_details.contract_import.source_client import MAX_ANSWER_BYTES
from scan.extensions.contract_details.contract_import.source_records import Record
from scan.hex import to_hex
from scan.queries.contracts import libraries_by_file
from scan.verification.languages import of_path, standard_input

BATCH_ROWS = 20  # of which each has up to 1 MiB of sources


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a file. Raises OSError, and InvalidParameter with the line's number."""
    decoder = msgspec.json.Decoder(Record)
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_ANSWER_BYTES + 1):
            number += 1
            if not line.strip():
                continue
            try:
                if len(line) > MAX_ANSWER_BYTES:
                    raise msgspec.DecodeError("it is too long")
                yield decoder.decode(line)
            except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
                raise InvalidParameter(
                    f"line {number} is not a contract as `scan contracts export` writes it"
                ) from None


def write_records(database: Database, file: IO[bytes], chain_id: str | None) -> int:
    """Write every verified contract whose code is still at its address. Return their number."""
    after, count = b"", 0
    while rows := database.rows(
        "contract_import/verified_contracts_list", after=after, limit=BATCH_ROWS
    ):
        for row in rows:
            file.write(msgspec.json.encode(record_of(row, chain_id)) + b"\n")
        after, count = bytes(rows[-1][0]), count + len(rows)
    return count


def record_of(row: tuple[object, ...], chain_id: str | None) -> Record:
    """Return a row of contract_import/verified_contracts_list as a line of the file."""
    address, match, creation_match, name, path, version, license_, settings, sources, arguments = (
        bytes(value) if isinstance(value, memoryview) else value for value in row
    )
    compiled_with = orjson.loads(str(settings))
    if libraries := compiled_with.get("libraries"):
        compiled_with["libraries"] = libraries_by_file(libraries)
    return msgspec.convert(
        {
            "address": to_hex(address) if isinstance(address, bytes) else "",
            "chainId": chain_id,
            "match": match,
            "creationMatch": creation_match,
            "contractName": f"{path}:{name}",
            "compilerVersion": version,
            "license": license_,
            "sourceCode": standard_input(
                of_path(str(path)).name, orjson.loads(str(sources)), compiled_with
            ),
            "constructorArguments": to_hex(arguments) if isinstance(arguments, bytes) else None,
        },
        Record,
    )
