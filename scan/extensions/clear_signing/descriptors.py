"""The descriptors of a chain, by the address of the contract that they describe."""

import logging
import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scan.extensions.clear_signing.descriptor_files import (
    DescriptorFiles,
    Document,
    InvalidDescriptor,
)
from scan.extensions.clear_signing.formats import Format, parse_formats, text
from scan.hex import data

MAX_DEPLOYMENTS = 1_000  # of a file
MAX_OF_ADDRESS = 8  # files that describe one contract
LAST_VERSION = 2  # of the schema

log = logging.getLogger(__name__)

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_VERSION = re.compile(r"erc7730-v([0-9]{1,6})")


class Descriptor(NamedTuple):
    """A file: whose contract it says to describe, and formats by selector."""

    file: str
    owner: str
    contract_name: str
    formats: Mapping[bytes, Format]


class StillReading(Exception):
    """Another thread reads the files."""


class Descriptors:
    """The descriptors of a folder, read when they are needed first, and kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._reading = threading.Lock()
        self._by_address: Mapping[bytes, Sequence[Descriptor]] | None = None if folder else {}

    def find(self, chain_id: str, address: bytes, selector: bytes) -> Descriptor | None:
        """Return the first descriptor, by the names of files, that describes a function of a
        contract. Raises StillReading."""
        of_contract = self._known(chain_id).get(address, ())
        return next((known for known in of_contract if selector in known.formats), None)

    def _known(self, chain_id: str) -> Mapping[bytes, Sequence[Descriptor]]:
        if self._by_address is None:
            if not self._reading.acquire(blocking=False):
                raise StillReading
            try:
                if self._by_address is None:
                    self._by_address = _read(self._folder, chain_id)
            finally:
                self._reading.release()
        return self._by_address


def _read(folder: Path | None, chain_id: str) -> Mapping[bytes, Sequence[Descriptor]]:
    by_address: dict[bytes, list[Descriptor]] = defaultdict(list)
    files = DescriptorFiles(folder) if folder else None
    for name in files.names() if files else ():
        try:
            assert files is not None
            document = files.read(name)
            if not (addresses := {*_addresses(document, chain_id)}):
                continue
            descriptor = _descriptor(name, document)
        except (InvalidDescriptor, RecursionError) as error:
            log.warning("descriptors: %s is left out: %s", text(name, 200), error)
            continue
        for address in addresses:
            if len(by_address[address]) < MAX_OF_ADDRESS:
                by_address[address].append(descriptor)
    log.info("descriptors: %d contracts of chain %s", len(by_address), chain_id)
    return by_address


def _descriptor(name: str, document: Document) -> Descriptor:
    version = _VERSION.search(str(document.get("$schema"))[:500])
    if version and int(version[1]) > LAST_VERSION:
        raise InvalidDescriptor(f"its schema's version is above {LAST_VERSION}")
    metadata = _object(document, "metadata")
    return Descriptor(
        text(name, 200),
        text(metadata.get("owner")),
        text(metadata.get("contractName")),
        parse_formats(document),
    )


def _addresses(document: Document, chain_id: str) -> Iterator[bytes]:
    """Yield where the contract is deployed on the chain; nowhere, of files that others include."""
    deployments = _object(document, "context", "contract").get("deployments", [])
    if not isinstance(deployments, list) or len(deployments) > MAX_DEPLOYMENTS:
        raise InvalidDescriptor(f"its deployments are none, or more than {MAX_DEPLOYMENTS:,}")
    for deployment in deployments:
        own = deployment if isinstance(deployment, dict) else {}
        address = own.get("address")
        if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
            raise InvalidDescriptor("a deployment has no address")
        if text(own.get("chainId")) == chain_id:
            yield data(address.lower(), 20)


def _object(document: Document, *names: str) -> Mapping[str, Any]:
    value: Any = document
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
