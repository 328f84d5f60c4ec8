"""The descriptors of a chain, by the contract that they describe or the factory that created it."""

import logging
import re
import threading
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from scan.extensions.clear_signing.descriptor_files import (
    DescriptorFiles,
    Document,
    InvalidDescriptor,
)
from scan.extensions.clear_signing.field_formats import ADDRESS_BYTES
from scan.extensions.clear_signing.formats import (
    Format,
    event_topic,
    object_at,
    one_line,
    parse_formats,
)
from scan.extensions.clear_signing.messages import Messages, keys
from scan.extensions.clear_signing.messages import parse as parse_messages
from scan.hex import BadHex, data

MAX_DEPLOYMENTS = 1_000  # of a file
MAX_OF_KEY = 8  # files that describe one contract, or messages of one name
LAST_VERSION = 2  # of the schema

LEFT_OUT = "descriptors: %s is left out: %s"

log = logging.getLogger(__name__)

_VERSION = re.compile(r"erc7730-v([0-9]{1,6})")


class Descriptor(NamedTuple):
    """A file: whose contract it says to describe, and formats by selector. `deploy_event` is the
    first topic of the event by which a factory names a contract that it created."""

    file: str
    owner: str
    contract_name: str
    formats: Mapping[bytes, Format]
    deploy_event: bytes | None
    messages: Messages | None


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
        listed = self._of_chain(chain_id)
        return next(self._with_function(listed, listed.names.get(address, ()), selector), None)

    def find_of_factory(
        self, chain_id: str, factory: bytes, topics: Collection[bytes], selector: bytes
    ) -> Descriptor | None:
        """Return the first descriptor of contracts that a factory creates with an event of one of
        these topics. Raises StillReading."""
        listed = self._of_chain(chain_id)
        fitting = self._with_function(listed, listed.of_factories.get(factory, ()), selector)
        return next((own for own in fitting if own.deploy_event in topics), None)

    def of_messages(self, chain_id: str, keys: Iterable[Hashable]) -> Iterator[Descriptor]:
        """Yield the descriptors of messages that are found by keys. Raises StillReading."""
        listed = self._of_chain(chain_id)
        for name in dict.fromkeys(name for key in keys for name in listed.of_messages.get(key, ())):
            descriptor = self._parse(listed, name)
            if descriptor is not None:
                yield descriptor

    def has_any(self, chain_id: str) -> bool:
        """Return whether anything of the chain is described. Raises StillReading."""
        listed = self._of_chain(chain_id)
        return bool(listed.names or listed.of_factories or listed.of_messages)

    def factories(self, chain_id: str) -> Collection[bytes]:
        """Return the factories whose contracts are described. Raises StillReading."""
        return self._of_chain(chain_id).of_factories.keys()

    def _with_function(
        self, listed: "_Listed", names: Iterable[str], selector: bytes
    ) -> Iterator[Descriptor]:
        for name in names:
            descriptor = self._parse(listed, name)
            if descriptor is not None and selector in descriptor.formats:
                yield descriptor

    def _of_chain(self, chain_id: str) -> "_Listed":
        if self._folder is None:
            return _NONE
        return self._listed or self._list(self._folder, chain_id)

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
            assert listed.files is not None  # as there are names
            descriptor = None
            try:
                descriptor = _descriptor(name, listed.files.read(name))
            except (InvalidDescriptor, RecursionError) as error:
                log.warning(LEFT_OUT, one_line(name, 200), error)
            self._parsed[name] = descriptor
        return self._parsed[name]


class _Listed(NamedTuple):
    """The files (None without a folder), and the names of those that describe contracts of the
    chain: by the contract's address, and by that of the factory which creates them; of messages, by
    the keys of messages.py."""

    files: DescriptorFiles | None
    names: Mapping[bytes, Sequence[str]]
    of_factories: Mapping[bytes, Sequence[str]]
    of_messages: Mapping[Hashable, Sequence[str]]


_NONE = _Listed(None, {}, {}, {})


def _list(folder: Path, chain_id: str) -> _Listed:
    names: dict[bytes, list[str]] = defaultdict(list)
    of_factories: dict[bytes, list[str]] = defaultdict(list)
    of_messages: dict[Hashable, list[str]] = defaultdict(list)
    files = DescriptorFiles(folder)
    for name in files.names():
        try:
            document = files.read(name)
            contract = object_at(document, "context", "contract")
            addresses = {*_deployed(contract, chain_id)}
            factories = {*_deployed(object_at(contract, "factory"), chain_id)}
            verifying = _deployed(object_at(document, "context", "eip712"), chain_id)
            messages = {*keys(document, verifying)}
        except (InvalidDescriptor, RecursionError) as error:
            log.warning(LEFT_OUT, one_line(name, 200), error)
            continue
        for key in addresses:
            _add(names[key], name)
        for key in factories:
            _add(of_factories[key], name)
        for key_of_message in messages:
            _add(of_messages[key_of_message], name)
    log.info("descriptors: of %d contracts of chain %s", len(names), chain_id)
    files.allow_all()
    return _Listed(files, dict(names), dict(of_factories), dict(of_messages))


def _add(of_key: list[str], name: str) -> None:
    if len(of_key) < MAX_OF_KEY:
        of_key.append(name)


def _descriptor(name: str, document: Document) -> Descriptor:
    version = _VERSION.search(str(document.get("$schema"))[:500])
    if version and int(version[1]) > LAST_VERSION:
        raise InvalidDescriptor(f"its schema's version is above {LAST_VERSION}")
    metadata = object_at(document, "metadata")
    is_of_messages = "eip712" in object_at(document, "context")
    factory = object_at(document, "context", "contract", "factory")
    return Descriptor(
        one_line(name, 200),
        one_line(metadata.get("owner")),
        one_line(metadata.get("contractName")),
        {} if is_of_messages else parse_formats(document),
        event_topic(factory.get("deployEvent")) if factory else None,
        parse_messages(document) if is_of_messages else None,
    )


def _deployed(bound: Document, chain_id: str) -> Iterator[bytes]:
    """Yield where a contract or a factory is deployed on the chain; nowhere, of files that others
    include."""
    deployments = bound.get("deployments", [])
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
