"""Typed data of EIP-712 that a client sends: checked, its values, and what of it is signed.

It is hostile: types that refer to themselves are refused, each structure is read once, however many
others refer to it, and values are as many as the body's JSON may have.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scan import json_bodies
from scan.contracts.abi import MAX_DEPTH, AbiError, AbiType, elementary, encode, parse_type
from scan.contracts.abi_json import MAX_NAME, coerce, render
from scan.errors import InvalidParameter
from scan.ethereum.rlp_and_tries import keccak256

FIELD = "typedData"
MAX_STRUCTURES = 100
MAX_MEMBERS = 100  # of a structure
DOMAIN = "EIP712Domain"
DOMAIN_MEMBERS = {
    "name": "string",
    "version": "string",
    "chainId": "uint256",
    "verifyingContract": "address",
    "salt": "bytes32",
}
TOO_DEEP = "the types are nested too deeply"
SIGNED_PREFIX = b"\x19\x01"

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII)
# Wallets take such names of structures, too: HyperliquidTransaction:UsdSend.
_STRUCTURE = re.compile(rf"{_NAME.pattern}(:{_NAME.pattern})*", re.ASCII)
_ARRAY = re.compile(r"(.+)\[([0-9]{0,9})\]", re.ASCII)

Members = Sequence[tuple[str, str]]  # names with types


class TypedData(NamedTuple):
    """A message: encodeType() of its type, its values as JSON, the bytes whose hash is signed."""

    primary_type: str
    encoded_type: str
    type: AbiType
    values: Sequence[Any]
    signed: bytes


def parse(value: object) -> TypedData:
    """Return typed data as wallets take it for eth_signTypedData_v4. Raises InvalidParameter."""
    if not isinstance(value, dict):
        raise InvalidParameter(f"{FIELD} must be an object.", field=FIELD)
    names = ("types", "domain", "primaryType", "message")
    json_bodies.only_known(value, names, f"field of {FIELD}")
    types, domain, primary_type, message = (value.get(name) for name in names)
    if not isinstance(domain, dict):
        raise InvalidParameter(f"{FIELD}.domain must be an object.", field=f"{FIELD}.domain")
    structures = Structures(members_by_name(types, domain))
    if not isinstance(primary_type, str) or primary_type not in structures.members:
        raise _invalid("primaryType is none of the types")
    if primary_type == DOMAIN:
        raise _invalid("primaryType is that of the domain")
    try:
        type_ = structures.type_of(primary_type)
        of_domain = coerce(structures.type_of(DOMAIN), domain, "domain")
        of_message = coerce(type_, message, "message")
    except AbiError as error:
        raise _invalid(str(error)) from None
    rendered = [render(member, item) for member, item in zip(type_.items, of_message, strict=True)]
    hashes = structures.hash_of(DOMAIN, of_domain) + structures.hash_of(primary_type, of_message)
    encoded_type = structures.encoded_type(primary_type)
    return TypedData(primary_type, encoded_type, type_, rendered, SIGNED_PREFIX + hashes)


class Structures:
    """The structures of typed data by name."""

    def __init__(self, members: Mapping[str, Members]) -> None:
        self.members = members
        self._types: dict[str, tuple[AbiType, int]] = {}  # with the levels inside of it
        self._type_hashes: dict[str, bytes] = {}

    def type_of(self, text: str) -> AbiType:
        """Return a type; the name of a structure is its own, not that of its members. `dynamic`
        says that a value is hashed, not how the ABI encodes it. Raises AbiError."""
        return self._type_with_levels(text, ())[0]

    def _type_with_levels(self, text: str, enclosing: tuple[str, ...]) -> tuple[AbiType, int]:
        if text in self._types:
            return self._types[text]
        if text in enclosing:
            raise AbiError(f"the type {text[:60]!r} refers to itself")
        if len(enclosing) > MAX_DEPTH:  # bounds this stack; types that were read are not entered
            raise AbiError(TOO_DEEP)
        array = _ARRAY.fullmatch(text)
        members = [("", array[1])] if array else self.members.get(text, ())
        inside = [self._type_with_levels(member, (*enclosing, text)) for _, member in members]
        items = tuple(item for item, _ in inside)
        levels = max((1 + levels for _, levels in inside), default=0)
        if levels > MAX_DEPTH:
            raise AbiError(TOO_DEEP)
        if array:
            size = int(array[2]) if array[2] else None
            type_ = AbiType("array", text, size, items, dynamic=True)
        elif text in self.members:
            labels = tuple(name for name, _ in members)
            type_ = AbiType("tuple", text, None, items, labels, dynamic=True)
        else:
            type_ = elementary(text)
        self._types[text] = type_, levels
        return type_, levels

    def encoded_type(self, name: str) -> str:
        """Return encodeType() of a structure: with those that it refers to, in their order."""
        others = self._referred({name}, name) - {name}
        return "".join(self._declared(structure) for structure in (name, *sorted(others)))

    def hash_of(self, name: str, values: Sequence[Any]) -> bytes:
        """Return hashStruct() of the values of a structure, which are those of coerce()."""
        if name not in self._type_hashes:
            self._type_hashes[name] = keccak256(self.encoded_type(name).encode())
        items = self.type_of(name).items
        words = (self._word(item, value) for item, value in zip(items, values, strict=True))
        return keccak256(self._type_hashes[name] + b"".join(words))

    def _word(self, type_: AbiType, value: Any) -> bytes:
        if type_.kind == "tuple":
            return self.hash_of(type_.name, value)
        if type_.kind == "array":
            return keccak256(b"".join(self._word(type_.items[0], item) for item in value))
        return keccak256(value) if type_.dynamic else encode([type_], [value])

    def _referred(self, structures: set[str], name: str) -> set[str]:
        for _, member in self.members[name]:
            structure = member.partition("[")[0]
            if structure in self.members and structure not in structures:
                structures.add(structure)
                self._referred(structures, structure)
        return structures

    def _declared(self, name: str) -> str:
        return f"{name}({','.join(f'{type_} {member}' for member, type_ in self.members[name])})"


def members_by_name(types: object, domain: Mapping[str, Any]) -> dict[str, Members]:
    """Return the structures; that of the domain, where it is left out, by the domain's fields.
    Raises InvalidParameter."""
    if not isinstance(types, dict) or len(types) > MAX_STRUCTURES:
        raise _invalid(f"types must be an object of at most {MAX_STRUCTURES} structures")
    members = {name: _members(name, listed) for name, listed in types.items()}
    domain_members = [(name, type_) for name, type_ in DOMAIN_MEMBERS.items() if name in domain]
    members.setdefault(DOMAIN, domain_members)
    return members


def _members(name: str, listed: object) -> Members:
    at = f"types.{name[:60]}"
    if not _STRUCTURE.fullmatch(name) or len(name) > MAX_NAME:
        raise _invalid(f"{at}: the name is no identifier, or longer than {MAX_NAME} characters")
    if _is_elementary(name):
        raise _invalid(f"{at}: the name is that of an elementary type")
    if not isinstance(listed, list) or len(listed) > MAX_MEMBERS:
        raise _invalid(f"{at} must be an array of at most {MAX_MEMBERS} members")
    members = []
    for member in listed:
        if not isinstance(member, dict) or member.keys() != {"name", "type"}:
            raise _invalid(f"{at} has a member that is not of a name and a type")
        label, type_ = member["name"], member["type"]
        if not isinstance(label, str) or not _NAME.fullmatch(label) or len(label) > MAX_NAME:
            raise _invalid(f"{at} has a member whose name is no identifier")
        if not isinstance(type_, str) or len(type_) > 2 * MAX_NAME:
            raise _invalid(f"{at} has a member whose type is no text, or too long")
        members.append((label, type_))
    if len({label for label, _ in members}) < len(members):
        raise _invalid(f"{at} has two members of one name")
    return members


def _is_elementary(name: str) -> bool:
    try:
        return parse_type({"type": name, "internalType": ""}).kind != "unknown"
    except AbiError:
        return False


def _invalid(reason: str) -> InvalidParameter:
    return InvalidParameter(f"{FIELD}: {reason}.", field=FIELD)
