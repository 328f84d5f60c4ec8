"""Calldata and errors decoded by verified, standard and imported ABIs.

All input is hostile: the cost of decoding is bounded in proportion to the decoded bytes, and data
that does not fit an ABI is not decoded at all. The rules are those of ethers: bytes after the
arguments are ignored, integers are cut to their width, and an address with bytes before it is
refused.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from scan.contracts.abi import MAX_VALUES, WORD, AbiError, AbiType, decode, encode, most_bytes_of
from scan.contracts.abi_index import AbiIndex, Entry, entries_of, index_abi, standard_abis
from scan.contracts.abi_json import render
from scan.contracts.decoding_budget import DecodingBudget

HASH = AbiType("bytesN", "bytes32", 32)


class Argument(NamedTuple):
    """An argument, with its value as JSON. `hashed`: it is indexed and of a dynamic or composite
    type, of which the topic contains only the hash."""

    name: str
    type: str
    value: Any
    hashed: bool = False
    indexed: bool = False  # a topic of the event has it

    def record(self) -> dict[str, Any]:
        shown = {"name": self.name, "type": self.type, "value": self.value}
        return {**shown, "hashed": True} if self.hashed else shown


class Decoded(NamedTuple):
    """A decoded call, event or error; `source` is "verified", "build", "standard",
    "imported" or, of logs of coin (EIP-7708), "protocol"."""

    name: str
    signature: str
    arguments: Sequence[Argument]
    source: str

    def record(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "signature": self.signature,
            "arguments": [argument.record() for argument in self.arguments],
            "source": self.source,
        }


def decode_error(
    data: bytes, abis: Sequence[AbiIndex] = (), *, budget: DecodingBudget | None = None
) -> Decoded | None:
    """Return the custom error that a contract reverted with, as decode_call() does."""
    if len(data) < 4:
        return None
    entries = [entry for abi in abis for entry in abi.errors.get(data[:4], ())]
    entries += standard_abis().errors.get(data[:4], ())
    fitting = (values_of_call(data, entry, budget) for entry in entries)
    return next((fit.decoded() for fit in fitting if fit is not None), None)


def decode_call_by(
    calldata: bytes, signatures: Iterable[str], *, budget: DecodingBudget | None = None
) -> Decoded | None:
    """Decode a call by the one of these signatures with which the arguments encode to the same
    calldata; return None where none or several fit."""
    index = index_abi(entries_of("function", signatures), "imported")
    entries = index.functions.get(calldata[:4], ())
    fit = only(values_of_call(calldata, entry, budget, strict=True) for entry in entries)
    return None if fit is None else fit.decoded()


_T = TypeVar("_T")


def only(candidates: Iterable[_T | None]) -> _T | None:
    """Return the only candidate that is not None; None if there are none or several."""
    fitting = [candidate for candidate in candidates if candidate is not None]
    return fitting[0] if len(fitting) == 1 else None


class Fit(NamedTuple):
    """An entry and the values decoded by it; they are rendered only if it is chosen."""

    entry: Entry
    values: Sequence[Any]

    def decoded(self) -> Decoded:
        entry = self.entry
        arguments = []
        for name, type_, is_topic, value in zip(
            entry.names, entry.types, entry.indexed, self.values, strict=True
        ):
            shown = topic_type(type_) if is_topic else type_
            text = render(shown, value)
            arguments.append(Argument(name, type_.name, text, shown is HASH, is_topic))
        return Decoded(entry.name, entry.signature, arguments, entry.source)


def values_of_call(
    calldata: bytes, entry: Entry, budget: DecodingBudget | None, *, strict: bool = False
) -> Fit | None:
    if budget is not None and not budget.allows(len(calldata)):
        return None
    try:
        return Fit(entry, decoded_values(entry.types, calldata[4:], strict=strict))
    except (AbiError, OverflowError):
        return None


def topic_type(abi_type: AbiType) -> AbiType:
    """Return the type of a topic: HASH for dynamic and composite types, whose values are hashed."""
    return HASH if abi_type.dynamic or abi_type.kind in ("array", "tuple") else abi_type


def decoded_values(types: Sequence[AbiType], data: bytes, *, strict: bool) -> tuple[Any, ...]:
    """Decode as many values and bytes as the data's size allows. Raises AbiError, with `strict`
    also for another encoding."""
    values = decode(
        types,
        data,
        most_values=min(MAX_VALUES, 2 * len(data) // WORD + 256),
        most_bytes=most_bytes_of(data),
        whole_addresses=True,
    )
    if strict and encode(types, values) != data:
        raise AbiError("the data is another encoding of these values")
    return values
