"""The descriptors of a chain, by the contract that they describe or the factory that created it,
and by the messages that they describe (ERC-7730, "EIP-712 messages binding context")."""

import logging
import re
import threading
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scan.errors import InvalidParameter
from scan.extensions.clear_signing import descriptor_files
from scan.extensions.clear_signing.descriptor_formats import (
    Format,
    event_topic,
    object_at,
    one_line,
    parse_formats,
    parse_messages,
)
from scan.extensions.clear_signing.value_formats import ADDRESS_BYTES, address_of, number_of
from scan.extensions.contract_details.decoder.typed_data import Structures, members_by_name
from scan.extensions.transaction_details.decoding import MessageToSign
from scan.hex import BadHex, data

MAX_SCHEMAS = 50  # of a file
MAX_KEY = 100  # characters of the names by which files are found
HASH_BYTES = 32


class Messages(NamedTuple):
    """What a descriptor says of messages: values that their domain must have, the hash of the
    domain where that has to be equal, and formats by encodeType(), or in the schema's first version
    by the name of the primary type of one of `schemas`."""

    domain: Mapping[str, Any]
    separator: bytes | None
    formats: Mapping[str, Format]
    schemas: frozenset[str]

    def format_of(self, message: MessageToSign) -> Format | None:
        """Return the format of a message that the descriptor describes."""
        fits = all(
            name in message.domain and _is_same(name, value, message.domain[name])
            for name, value in self.domain.items()
        )
        if not fits or self.separator not in (None, message.domain_separator):
            return None
        message_format = self.formats.get(message.encoded_type)
        if message_format is None and message.encoded_type in self.schemas:
            return self.formats.get(message.primary_type)
        return message_format


def parse(document: descriptor_files.Document) -> Messages | None:
    """Return what a file says of messages; None without a word. Raises InvalidDescriptor."""
    context = object_at(document, "context")
    if "eip712" not in context:
        return None
    bound = object_at(context, "eip712")
    separator = bound.get("domainSeparator")
    try:
        expected = None if separator is None else data(separator, HASH_BYTES)
    except BadHex:
        raise descriptor_files.InvalidDescriptor("its domainSeparator is no hash") from None
    schemas = bound.get("schemas", [])
    listed = schemas[:MAX_SCHEMAS] if isinstance(schemas, list) else []
    types = frozenset(_encoded_types(listed))
    return Messages(object_at(bound, "domain"), expected, parse_messages(document), types)


def keys(document: descriptor_files.Document, deployed: Iterator[bytes]) -> Iterator[Hashable]:
    """Yield by what a file is found: the contracts that verify its messages or, where it names
    none, the names of primary types with that of the domain."""
    bound = object_at(document, "context", "eip712")
    domain = object_at(bound, "domain")
    if "deployments" in bound:
        yield from deployed
    elif (verifying := address_of(domain.get("verifyingContract"))) is not None:
        yield data(verifying)
    elif domain or "domainSeparator" in bound:  # else any contract's messages would be described
        for key in object_at(document, "display", "formats"):
            yield key.partition("(")[0][:MAX_KEY], one_line(domain.get("name"), MAX_KEY)


def keys_of(message: MessageToSign, verifying: Sequence[bytes]) -> Iterator[Hashable]:
    """Yield the keys of the files that may describe a message; `verifying` are the contract that
    verifies it and the implementations that it has."""
    yield from verifying
    for name in dict.fromkeys((one_line(message.domain.get("name"), MAX_KEY), "")):
        yield message.primary_type[:MAX_KEY], name


def _encoded_types(schemas: Sequence[object]) -> Iterator[str]:
    for schema in schemas:
        # It may also be the URL of one, which is not fetched.
        types = schema if isinstance(schema, dict) else {}
        primary_type = types.get("primaryType")
        try:
            structures = Structures(members_by_name(types.get("types"), {}))
        except InvalidParameter:
            continue
        if isinstance(primary_type, str) and primary_type in structures.members:
            yield structures.encoded_type(primary_type)


def _is_same(name: str, value: object, other: object) -> bool:
    if name == "chainId":
        return number_of(value) is not None and number_of(value) == number_of(other)
    if name == "verifyingContract":
        return address_of(value) is not None and address_of(value) == address_of(other)
    return type(value) is type(other) and value == other


MAX_DEPLOYMENTS = 1_000  # of a file
MAX_OF_KEY = 8  # files that describe one contract, or messages of one name
LAST_VERSION = 2  # of the schema

LEFT_OUT = "descriptors: %s is left out: %s"

log = logging.getLogger(__name__)

_VERSION = re.compile(r"erc7730-v([0-9]{1,6})")


# What a descriptor is found by: its kind, and an address, or one of keys() of messages.
CONTRACT, FACTORY, MESSAGES = "contract", "factory", "messages"
_Key = tuple[str, Hashable]


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
        described = self._described(chain_id, [(CONTRACT, address)])
        return next((one for one in described if selector in one.formats), None)

    def find_of_factory(
        self, chain_id: str, factory: bytes, topics: Collection[bytes], selector: bytes
    ) -> Descriptor | None:
        """Return the first descriptor of contracts that a factory creates with an event of one of
        these topics. Raises StillReading."""
        described = self._described(chain_id, [(FACTORY, factory)])
        fitting = (one for one in described if one.deploy_event in topics)
        return next((one for one in fitting if selector in one.formats), None)

    def of_messages(self, chain_id: str, keys: Iterable[Hashable]) -> Iterator[Descriptor]:
        """Yield the descriptors of messages that are found by keys. Raises StillReading."""
        return self._described(chain_id, [(MESSAGES, key) for key in keys])

    def has_any(self, chain_id: str) -> bool:
        """Return whether anything of the chain is described. Raises StillReading."""
        return bool(self._of_chain(chain_id).names)

    def factories(self, chain_id: str) -> Collection[Hashable]:
        """Return the factories whose contracts are described. Raises StillReading."""
        return [key for kind, key in self._of_chain(chain_id).names if kind == FACTORY]

    def _described(self, chain_id: str, keys: Iterable[_Key]) -> Iterator[Descriptor]:
        listed = self._of_chain(chain_id)
        for name in dict.fromkeys(name for key in keys for name in listed.names.get(key, ())):
            if (descriptor := self._parse(listed, name)) is not None:
                yield descriptor

    def _of_chain(self, chain_id: str) -> "_Listed":
        if self._folder is None:
            return _NONE
        return self._listed or self._list(self._folder, chain_id)

    def _list(self, folder: Path, chain_id: str) -> "_Listed":
        if not self._listing.acquire(blocking=False):
            raise StillReading
        try:
            self._listed = self._listed or _listed(folder, chain_id)
            return self._listed
        finally:
            self._listing.release()

    def _parse(self, listed: "_Listed", name: str) -> Descriptor | None:
        if name not in self._parsed:
            assert listed.files is not None  # as there are names
            descriptor = None
            try:
                descriptor = _descriptor(name, listed.files.read(name))
            except (descriptor_files.InvalidDescriptor, RecursionError) as error:
                log.warning(LEFT_OUT, one_line(name, 200), error)
            self._parsed[name] = descriptor
        return self._parsed[name]


class _Listed(NamedTuple):
    """The files (None without a folder), and the names of those that describe something of the
    chain."""

    files: descriptor_files.DescriptorFiles | None
    names: Mapping[_Key, Sequence[str]]


_NONE = _Listed(None, {})


def _listed(folder: Path, chain_id: str) -> _Listed:
    names: dict[_Key, list[str]] = defaultdict(list)
    files = descriptor_files.DescriptorFiles(folder)
    for name in files.names():
        try:
            described = {*_described(files.read(name), chain_id)}
        except (descriptor_files.InvalidDescriptor, RecursionError) as error:
            log.warning(LEFT_OUT, one_line(name, 200), error)
            continue
        for key in described:
            if len(names[key]) < MAX_OF_KEY:
                names[key].append(name)
    contracts = sum(kind == CONTRACT for kind, _ in names)
    log.info("descriptors: of %d contracts of chain %s", contracts, chain_id)
    files.allow_all()
    return _Listed(files, dict(names))


def _described(document: descriptor_files.Document, chain_id: str) -> Iterator[_Key]:
    """Yield what a file describes of a chain: contracts, those that a factory creates, messages."""
    contract = object_at(document, "context", "contract")
    for kind, bound in ((CONTRACT, contract), (FACTORY, object_at(contract, "factory"))):
        yield from ((kind, address) for address in _deployed(bound, chain_id))
    verifying = _deployed(object_at(document, "context", "eip712"), chain_id)
    yield from ((MESSAGES, key) for key in keys(document, verifying))


def _descriptor(name: str, document: descriptor_files.Document) -> Descriptor:
    version = _VERSION.search(str(document.get("$schema"))[:500])
    if version and int(version[1]) > LAST_VERSION:
        raise descriptor_files.InvalidDescriptor(f"its schema's version is above {LAST_VERSION}")
    metadata = object_at(document, "metadata")
    is_of_messages = "eip712" in object_at(document, "context")
    factory = object_at(document, "context", "contract", "factory")
    return Descriptor(
        one_line(name, 200),
        one_line(metadata.get("owner")),
        one_line(metadata.get("contractName")),
        {} if is_of_messages else parse_formats(document),
        event_topic(factory.get("deployEvent")) if factory else None,
        parse(document) if is_of_messages else None,
    )


def _deployed(bound: descriptor_files.Document, chain_id: str) -> Iterator[bytes]:
    """Yield where a contract or a factory is deployed on the chain; nowhere, of files that others
    include."""
    deployments = bound.get("deployments", [])
    if not isinstance(deployments, list) or len(deployments) > MAX_DEPLOYMENTS:
        message = f"its deployments are none, or more than {MAX_DEPLOYMENTS:,}"
        raise descriptor_files.InvalidDescriptor(message)
    for deployment in deployments:
        deployment_object = deployment if isinstance(deployment, dict) else {}
        try:
            address = data(deployment_object.get("address"), ADDRESS_BYTES)
        except BadHex:
            raise descriptor_files.InvalidDescriptor("a deployment has no address") from None
        if one_line(deployment_object.get("chainId")) == chain_id:
            yield address
