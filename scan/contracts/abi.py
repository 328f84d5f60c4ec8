"""The contract ABI: types parsed from an ABI's JSON or from a signature such as
`f((address,bytes)[] calls)`, encoding and decoding of values.

A type's name is what a signature has, which is hashed; how values are encoded is another thing: a
`function` is encoded as bytes24, an enum that a library takes as its number, and a decimal of Vyper
as an integer. Where a compiler has given the signature of an entry, the entry has it as STATED.

eth-abi is not used because types and data are hostile. Decoding: 2.2 KB of `uint256[]` nested seven
deep took eth-abi 6 s; here decoding stops at MAX_VALUES values and at MAX_DECODED_BYTES bytes,
whatever the offsets in the data. Encoding: eth-abi caches every type for ever (100 structures of
950 members: 200 MiB and 6 s) and rejects `uint8[0]` and `()`.

Python values: int (of decimals, the one that is encoded), bool, address as 20 bytes, bytes, string
as its raw bytes, list for arrays, tuple for tuples. Layout: Solidity documentation, "Contract ABI
Specification".
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from scan.ethereum.rlp_and_tries import keccak256

MAX_DEPTH = 32
MAX_VALUES = 100_000
MAX_DECODED_BYTES = 10 * 1024 * 1024
WORD = 32

T = TypeVar("T")

_ARRAY = re.compile(r"(.+)\[([0-9]{0,78})\]")
_ELEMENTARY = re.compile(r"(uint|int|bytes)([1-9][0-9]{0,2})")
_FIXED = re.compile(r"(u?)fixed([1-9][0-9]{0,2})x([0-9]{1,2})")
_ALIASES = {
    "uint": "uint256",
    "int": "int256",
    "byte": "bytes1",
    "fixed": "fixed128x18",
    "ufixed": "ufixed128x18",
}
MAX_DECIMALS = 80
STATED = "statedSignature"  # the key of an ABI's entry
STORAGE = " storage"  # the end of types that are encoded as the number of a slot


class AbiError(ValueError):
    """A type or value is invalid, or data cannot be decoded; the message says which and why."""


class AbiType(NamedTuple):
    """A type of the ABI.

    `kind` says how values are encoded; "unknown" where only a declaration would. `size` is the bits
    of an integer, the bytes of bytesN or the length of a fixed array, None for other types; an
    integer stands for a number with `decimals`. `items` are a tuple's members or an array's one
    element type, `labels` a tuple's member names. `head_bytes` is the size of a value in the head
    of the enclosing tuple or array.
    """

    kind: str
    name: str
    size: int | None = None
    items: tuple["AbiType", ...] = ()
    labels: tuple[str, ...] = ()
    dynamic: bool = False
    head_bytes: int = WORD
    decimals: int = 0


def parse_types(parameters: object) -> tuple[AbiType, ...]:
    """Return the types of an ABI's `inputs` or `outputs`."""
    if not isinstance(parameters, list):
        raise AbiError("the ABI's parameters are not a list")
    return tuple(parse_type(parameter) for parameter in parameters)


def parse_type(parameter: object, depth: int = 0) -> AbiType:
    if not isinstance(parameter, dict) or not isinstance(parameter.get("type"), str):
        raise AbiError("the ABI has a parameter without a type")
    return _parse(parameter["type"], parameter, depth)


def _parse(text: str, parameter: Mapping[str, Any], depth: int) -> AbiType:
    if depth > MAX_DEPTH or len(text) > 1000:
        raise AbiError("the type is nested too deeply")
    if text.endswith(STORAGE):
        return AbiType("uint", text, 256)
    array = _ARRAY.fullmatch(text)
    if array:
        return _array(_parse(array[1], parameter, depth + 1), array[2])
    if text == "tuple":
        components = parameter.get("components")
        if not isinstance(components, list):
            raise AbiError("the ABI has a tuple without components")
        items = tuple(parse_type(component, depth + 1) for component in components)
        labels = tuple(str(component.get("name") or "") for component in components)
        dynamic = any(item.dynamic for item in items)
        name = f"({','.join(item.name for item in items)})"
        head_bytes = WORD if dynamic else sum(item.head_bytes for item in items)
        return AbiType("tuple", name, None, items, labels, dynamic, head_bytes)
    if text == "function":
        return AbiType("bytesN", text, 24)
    # Libraries take contracts and enums. solc says which since 0.5.11; before, enums were always
    # declared in contracts.
    internal = str(parameter.get("internalType", "enum" if "." in text else "contract"))
    internal = internal.partition("[")[0]
    kind = {"enum": "uint", "contract": "address"}.get(internal.partition(" ")[0], "unknown")
    if _NAMED.fullmatch(text) or (internal.endswith(f" {text}") and kind != "unknown"):
        return AbiType(kind, text, 256 if kind == "uint" else None)
    name = _ALIASES.get(text, text)
    if (text, internal) == ("int168", "decimal"):  # Vyper's, since 0.4
        return elementary(text)._replace(decimals=10)
    if (fixed := _FIXED.fullmatch(name)) and int(fixed[3]) <= MAX_DECIMALS:
        return elementary(f"{fixed[1]}int{fixed[2]}")._replace(name=name, decimals=int(fixed[3]))
    return elementary(name)


def elementary(name: str) -> AbiType:
    """Return a type of EIP-712, which other types are made of. Raises AbiError for others."""
    if name in ("address", "bool"):
        return AbiType(name, name)
    if name in ("bytes", "string"):
        return AbiType(name, name, dynamic=True)
    match = _ELEMENTARY.fullmatch(name)
    if match:
        kind, size = match[1], int(match[2])
        if kind == "bytes" and size <= 32:
            return AbiType("bytesN", name, size)
        if kind != "bytes" and size % 8 == 0 and size <= 256:
            return AbiType(kind, name, size)
    raise AbiError(f"the type {name[:60]!r} is not supported")


def _array(item: AbiType, length: str) -> AbiType:
    name = f"{item.name}[{length}]"
    if not length:
        return AbiType("array", name, None, (item,), dynamic=True)
    size = int(length)
    if item.dynamic:
        return AbiType("array", name, size, (item,), dynamic=True)
    return AbiType("array", name, size, (item,), head_bytes=size * item.head_bytes)


def signature(name: str, types: Sequence[AbiType]) -> str:
    return f"{name}({','.join(abi_type.name for abi_type in types)})"


def signature_of(entry: Mapping[str, Any], types: Sequence[AbiType]) -> str:
    """Return the signature of an ABI's entry: the compiler's, or else that of its types."""
    return str(entry.get(STATED) or signature(str(entry.get("name")), types))


def by_selector(functions: Mapping[str, T]) -> dict[bytes, tuple[str, tuple[AbiType, ...], T]]:
    """Return values that are by signature by the selector, with canonical signature and types."""
    typed = {
        canonical(text): (parse_types(parse_signature(text)["inputs"]), value)
        for text, value in functions.items()
    }
    return {selector(text): (text, *of) for text, of in typed.items()}


def selector(text: str) -> bytes:
    """Return the first four bytes of the signature's Keccak-256."""
    return keccak256(text.encode())[:4]


def encode(types: Sequence[AbiType], values: Sequence[Any], like: bytes = b"") -> bytes:
    """Encode values in the types' Python forms: all heads, then all tails. Bytes are not padded
    where those in an encoding `like` this are not: solc before 0.5 leaves that out in events, such
    as DSNote's, of bytes that it takes from calldata."""
    heads: list[bytes] = []
    tails: list[bytes] = []
    offset = sum(abi_type.head_bytes for abi_type in types)
    words = range(0, offset if like else 0, WORD)
    ends = {len(like), *(int.from_bytes(like[n : n + WORD]) for n in words)}
    for abi_type, value in zip(types, values, strict=True):
        encoded = _encode(abi_type, value)
        if abi_type.dynamic:
            heads.append(offset.to_bytes(WORD, "big"))
            if abi_type.kind == "bytes" and offset + WORD + len(value) in ends:
                encoded = encoded[: WORD + len(value)]
            tails.append(encoded)
            offset += len(encoded)
        else:
            heads.append(encoded)
    return b"".join(heads) + b"".join(tails)


def _encode(abi_type: AbiType, value: Any) -> bytes:
    if abi_type.kind == "array":
        length = len(value).to_bytes(WORD, "big") if abi_type.size is None else b""
        return length + encode(abi_type.items * len(value), value)
    if abi_type.kind == "tuple":
        return encode(abi_type.items, value)
    if abi_type.kind in ("bytes", "string"):
        return b"".join((len(value).to_bytes(WORD, "big"), value, bytes(-len(value) % WORD)))
    if abi_type.kind == "bytesN":
        return bytes(value.ljust(WORD, b"\0"))
    if abi_type.kind == "address":
        return bytes(value.rjust(WORD, b"\0"))
    return int(value).to_bytes(WORD, "big", signed=abi_type.kind == "int")


def most_bytes_of(data: bytes) -> int:
    """Return how many bytes the data's size allows to decode: more of them could only come from
    several offsets to the same bytes."""
    return min(MAX_DECODED_BYTES, 4 * len(data) + 1024)


def decode(
    types: Sequence[AbiType],
    data: bytes,
    *,
    most_values: int = MAX_VALUES,
    most_bytes: int = MAX_DECODED_BYTES,
    whole_addresses: bool = False,
) -> tuple[Any, ...]:
    """Decode values. Raises AbiError if the data is too short, has invalid offsets or exceeds a
    limit.

    Padding is not checked: a value is cut to its type's width, as in Solidity. With
    `whole_addresses`, bytes before an address are an error, as in ethers.
    """
    return _Reader(data, most_values, most_bytes, whole_addresses).frame(types, 0)


class _Reader:
    """A decoder of data, with the number of values and bytes that it may still produce."""

    def __init__(
        self, data: bytes, most_values: int, most_bytes: int, whole_addresses: bool
    ) -> None:
        self.data = data
        self.most_values = self.values_left = most_values
        self.most_bytes = self.bytes_left = most_bytes
        self.whole_addresses = whole_addresses

    def frame(self, types: Sequence[AbiType], start: int) -> tuple[Any, ...]:
        """Return the values whose heads begin at `start`; offsets are relative to it."""
        values = []
        head = start
        for abi_type in types:
            self.values_left -= 1
            if self.values_left < 0:
                raise AbiError(f"the data has more than {self.most_values} values")
            position = start + self._word(head) if abi_type.dynamic else head
            values.append(self._value(abi_type, position))
            head += abi_type.head_bytes
        return tuple(values)

    def _value(self, abi_type: AbiType, position: int) -> Any:
        if abi_type.kind == "array":
            length = abi_type.size
            if length is None:
                length = self._word(position)
                position += WORD
            if length > self.values_left:
                raise AbiError(f"the data has more than {self.most_values} values")
            if position + length * abi_type.items[0].head_bytes > len(self.data):
                raise AbiError("the data ends inside an array")
            return list(self.frame(abi_type.items * length, position))
        if abi_type.kind == "tuple":
            return self.frame(abi_type.items, position)
        if abi_type.kind in ("bytes", "string"):
            return self._bytes(position + WORD, self._word(position))
        if abi_type.kind == "unknown":
            raise AbiError(f"a signature does not say what {abi_type.name[:60]} is")
        word = self._bytes(position, WORD)
        if self.whole_addresses and abi_type.kind == "address" and any(word[:12]):
            raise AbiError("an address has more than 20 bytes")
        return _unpack(abi_type, word)

    def _word(self, position: int) -> int:
        return int.from_bytes(self._bytes(position, WORD), "big")

    def _bytes(self, position: int, length: int) -> bytes:
        if position + length > len(self.data):
            raise AbiError("the data is too short for its types")
        self.bytes_left -= length
        if self.bytes_left < 0:
            raise AbiError(f"the data decodes to more than {self.most_bytes} bytes")
        return self.data[position : position + length]


def _unpack(abi_type: AbiType, word: bytes) -> Any:
    if abi_type.kind == "bytesN":
        return word[: abi_type.size]
    if abi_type.kind == "address":
        return word[12:]
    if abi_type.kind == "bool":
        if any(word[:-1]) or word[-1] > 1:
            raise AbiError("a bool is neither 0 nor 1")
        return any(word)
    width = (abi_type.size or 256) // 8
    return int.from_bytes(word[WORD - width :], "big", signed=abi_type.kind == "int")


MAX_LENGTH = 2000  # of a signature; PostgreSQL indexes no text above 2,700 bytes

_NAME = r"[A-Za-z_$][A-Za-z0-9_$]*"
_QUALIFIED = rf"{_NAME}(?:\.{_NAME})*"
# The names of contracts, enums and structures; those in small letters are of elementary types.
_NAMED = re.compile(rf"(?![a-z0-9]+\Z){_QUALIFIED}", re.ASCII)
# Also a declaration as a source or ethers has it: `event Transfer(address indexed from);`.
_WHOLE = re.compile(
    rf"(?:(?:event|function|error)\s+)?({_NAME})\s*\((.*)\)(?:\s*;)?", re.ASCII | re.DOTALL
)
_PARAMETER = re.compile(
    rf"(?:tuple)?(\(.*\)|mapping\(.*\)|{_QUALIFIED})((?:\[[0-9]*\])*)(\s+storage)?(\s+indexed)?"
    rf"(?:\s+({_NAME}))?",
    re.ASCII | re.DOTALL,
)


def parse_signature(text: str) -> dict[str, Any]:
    """Return an ABI entry without `type`. Raises AbiError if the text is not a signature."""
    whole = _WHOLE.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    if whole is None:
        raise AbiError("expected a name followed by types in parentheses")
    return {"name": whole[1], "inputs": _parameters(whole[2], 0)}


def canonical(text: str) -> str:
    """Return the signature whose hash is the selector: without names and spaces, with full type
    names. Raises AbiError."""
    entry = parse_signature(text)
    return signature(entry["name"], parse_types(entry["inputs"]))


def _parameters(text: str, depth: int) -> list[dict[str, Any]]:
    if depth > MAX_DEPTH:
        raise AbiError("the type is nested too deeply")
    return [_parameter(part.strip(), depth) for part in _split(text)] if text.strip() else []


def _parameter(text: str, depth: int) -> dict[str, Any]:
    match = _PARAMETER.fullmatch(text)
    if match is None or match[5] in ("indexed", "storage"):
        raise AbiError("a parameter is not a type, optionally followed by a name")
    base, suffix, storage, indexed, name = match.groups()
    entry = {"name": name or "", "indexed": indexed is not None}
    if storage or not base.startswith("("):
        type_ = f"{base}{suffix}{STORAGE if storage else ''}"
        return {**entry, "type": type_, "internalType": ""}
    return {**entry, "type": "tuple" + suffix, "components": _parameters(base[1:-1], depth + 1)}


def _split(text: str) -> Iterator[str]:
    """Yield the parts between commas that are not in parentheses. Raises AbiError where
    parentheses are not balanced."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
        if character == "," and not depth:
            yield text[start:position]
            start = position + 1
    if depth:
        raise AbiError("its parentheses are not balanced")
    yield text[start:]
