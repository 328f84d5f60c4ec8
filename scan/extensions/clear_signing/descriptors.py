"""The descriptors of a chain, by the address of the contract that they describe."""

import logging
import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from scan.extensions.clear_signing.descriptor_files import (
    DescriptorFiles,
    Document,
    InvalidDescriptor,
)
from scan.extensions.clear_signing.formats import Format, object_at, one_line, parse_formats
from scan.hex import BadHex, data

MAX_DEPLOYMENTS = 1_000  # of a file
ADDRESS_BYTES = 20
MAX_OF_ADDRESS = 8  # files that describe one contract
LAST_VERSION = 2  # of the schema

LEFT_OUT = "descriptors: %s is left out: %s"

log = logging.getLogger(__name__)

_VERSION = re.compile(r"erc7730-v([0-9]{1,6})")


class Descriptor(NamedTuple):
    """A file: whose contract it says to describe, and formats by selector."""

    file: str
    owner: str
    contract_name: str
    formats: Mapping[bytes, Format]


class StillReading(Exception):
    """Another thread lists the files."""


class Descriptors:
    """The descriptors of a folder. Its files are listed when one is needed first, and those of a
    contract parsed when it is called first: 5,000 files of ten functions take 3 s and 40 s."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._listing = threading.Lock()
        self._listed: _Listed | None = None
        self._parsed: dict[str, Descriptor | None] = {}

    def find(self, chain_id: str, address: bytes, selector: bytes) -> Descriptor | None:
        """Return the first descriptor, by the names of files, that describes a function of a
        contract. Raises StillReading."""
        if self._folder is None:
            return None
        listed = self._listed or self._list(self._folder, chain_id)
        of_contract = (self._parse(listed, name) for name in listed.names.get(address, ()))
        return next((known for known in of_contract if known and selector in known.formats), None)

    def _list(self, folder: Path, chain_id: str) -> "_Listed":
        if not self._listing.acquire(blocking=False):
            raise StillReading
        try:
            self._listed = self._listed or _list(folder, chain_id)
        finally:
            self._listing.release()
        return self._listed

    def _parse(self, listed: "_Listed", name: str) -> Descriptor | None:
        if name not in self._parsed:
            descriptor = None
            try:
                descriptor = _descriptor(name, listed.files.read(name))
            except (InvalidDescriptor, RecursionError) as error:
                log.warning(LEFT_OUT, one_line(name, 200), error)
            self._parsed[name] = descriptor
        return self._parsed[name]


class _Listed(NamedTuple):
    """The files, and the names of those that describe a contract of the chain, by address."""

    files: DescriptorFiles
    names: Mapping[bytes, Sequence[str]]


def _list(folder: Path, chain_id: str) -> _Listed:
    names: dict[bytes, list[str]] = defaultdict(list)
    files = DescriptorFiles(folder)
    for name in files.names():
        try:
            addresses = {*_addresses(files.read(name), chain_id)}
        except (InvalidDescriptor, RecursionError) as error:
            log.warning(LEFT_OUT, one_line(name, 200), error)
            continue
        for address in addresses:
            if len(names[address]) < MAX_OF_ADDRESS:
                names[address].append(name)
    log.info("descriptors: of %d contracts of chain %s", len(names), chain_id)
    files.allow_all()
    return _Listed(files, dict(names))


def _descriptor(name: str, document: Document) -> Descriptor:
    version = _VERSION.search(str(document.get("$schema"))[:500])
    if version and int(version[1]) > LAST_VERSION:
        raise InvalidDescriptor(f"its schema's version is above {LAST_VERSION}")
    metadata = object_at(document, "metadata")
    return Descriptor(
        one_line(name, 200),
        one_line(metadata.get("owner")),
        one_line(metadata.get("contractName")),
        parse_formats(document),
    )


def _addresses(document: Document, chain_id: str) -> Iterator[bytes]:
    """Yield where the contract is deployed on the chain; nowhere, of files that others include."""
    deployments = object_at(document, "context", "contract").get("deployments", [])
    if not isinstance(deployments, list) or len(deployments) > MAX_DEPLOYMENTS:
        raise InvalidDescriptor(f"its deployments are none, or more than {MAX_DEPLOYMENTS:,}")
    for deployment in deployments:
        own = deployment if isinstance(deployment, dict) else {}
        try:
            address = data(own.get("address"), ADDRESS_BYTES)
        except BadHex:
            raise InvalidDescriptor("a deployment has no address") from None
        if one_line(own.get("chainId")) == chain_id:
            yield address
