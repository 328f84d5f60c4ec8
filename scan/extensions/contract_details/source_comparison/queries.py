"""The sources of two verified contracts, compared."""

import json

from scan.errors import NotFound
from scan.extensions.contract_details.source_comparison.comparison import FilePair, Source, compare
from scan.hex import to_hex
from scan.queries import contracts
from scan.queries.reader import Reader


def of(reader: Reader, address: bytes, other: bytes) -> list[FilePair]:
    """Return the files of two contracts in pairs; raises NotFound for one that is not verified."""
    reader.hold_processor()
    source, other_source = _source(reader, address), _source(reader, other)
    reader.do_not_cache()  # large sources would evict everything else
    return compare(source, other_source)


def _source(reader: Reader, address: bytes) -> Source:
    contract, _ = contracts.get_with_proxy(reader, address, {"sources"})
    if contract.sources is None:
        raise NotFound(f"The contract at {to_hex(address)} is not verified.")
    files = json.loads(contract.sources)
    return Source({path: str(file["content"]) for path, file in files.items()}, contract.path)
