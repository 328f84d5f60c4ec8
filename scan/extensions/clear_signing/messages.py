"""Which messages a descriptor describes (ERC-7730, "EIP-712 messages binding context")."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scan.errors import InvalidParameter
from scan.extensions.clear_signing.descriptor_files import Document, InvalidDescriptor
from scan.extensions.clear_signing.field_formats import address_of, number_of
from scan.extensions.clear_signing.formats import Format, object_at, one_line, parse_messages
from scan.extensions.contract_details.decoder.typed_data import Structures, members_by_name
from scan.extensions.transaction_details.clear_signing import MessageToSign
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
        own = self.formats.get(message.encoded_type)
        if own is None and message.encoded_type in self.schemas:
            return self.formats.get(message.primary_type)
        return own


def parse(document: Document) -> Messages | None:
    """Return what a file says of messages; None without a word. Raises InvalidDescriptor."""
    context = object_at(document, "context")
    if "eip712" not in context:
        return None
    bound = object_at(context, "eip712")
    separator = bound.get("domainSeparator")
    try:
        expected = None if separator is None else data(separator, HASH_BYTES)
    except BadHex:
        raise InvalidDescriptor("its domainSeparator is no hash") from None
    schemas = bound.get("schemas", [])
    listed = schemas[:MAX_SCHEMAS] if isinstance(schemas, list) else []
    return Messages(
        object_at(bound, "domain"),
        expected,
        parse_messages(document),
        frozenset(_encoded_types(listed)),
    )


def keys(document: Document, deployed: Iterator[bytes]) -> Iterator[Hashable]:
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
        own = schema if isinstance(schema, dict) else {}  # or the URL of one, which is not fetched
        primary_type = own.get("primaryType")
        try:
            structures = Structures(members_by_name(own.get("types"), {}))
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
