"""Calldata and logs decoded to methods and events, by verified, standard and imported ABIs.

All input is hostile: the cost of decoding is bounded in proportion to the decoded bytes, and data
that does not fit an ABI is not decoded at all. The rules are those of ethers: bytes after the
arguments are ignored, integers are cut to their width, and an address with bytes before it is
refused.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

from scan.contracts.abi import MAX_VALUES, WORD, AbiError, AbiType, decode, encode, most_bytes_of
from scan.contracts.abi_index import (
    MAX_ALTERNATIVES,
    AbiIndex,
    Entry,
    entries_of,
    events_of,
    functions_of,
    index_abi,
    plain_types,
    standard_abis,
)
from scan.contracts.abi_json import render
from scan.contracts.decoding_budget import DecodingBudget

HASH = AbiType("bytesN", "bytes32", 32)
MAX_FREE_ARGUMENTS = 8  # of an event whose indexed arguments are not known


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
    """A decoded call, event or error; `source` is "verified", "standard", "imported" or,
    of logs of coin (EIP-7708), "protocol"."""

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


def decode_call(
    calldata: bytes,
    abis: Sequence[AbiIndex] = (),
    token_type: str | None = None,
    *,
    budget: DecodingBudget | None = None,
) -> Decoded | None:
    """Return the called method; None where no ABI decodes it. `token_type` selects among standards
    that share a signature."""
    if len(calldata) < 4:
        return None
    entries = functions_of(calldata[:4], abis, token_type)
    fitting = (_values_of_call(calldata, entry, budget) for entry in entries)
    return next((fit.decoded() for fit in fitting if fit is not None), None)


def decode_error(
    data: bytes, abis: Sequence[AbiIndex] = (), *, budget: DecodingBudget | None = None
) -> Decoded | None:
    """Return the custom error that a contract reverted with, as decode_call() does."""
    if len(data) < 4:
        return None
    entries = [entry for abi in abis for entry in abi.errors.get(data[:4], ())]
    entries += standard_abis().errors.get(data[:4], ())
    fitting = (_values_of_call(data, entry, budget) for entry in entries)
    return next((fit.decoded() for fit in fitting if fit is not None), None)


def decode_result(
    function: Entry, returned: bytes, *, budget: DecodingBudget | None = None
) -> Sequence[Argument] | None:
    """Return the values that a function returned; None where its ABI has no outputs, or others."""
    if function.outputs is None or (budget is not None and not budget.allows(len(returned))):
        return None
    try:
        values = _values(function.outputs, returned, strict=False)
    except (AbiError, OverflowError):
        return None
    return [
        Argument(name, type_.name, render(type_, value))
        for name, type_, value in zip(function.output_names, function.outputs, values, strict=True)
    ]


def decode_log(
    topics: Sequence[bytes],
    data: bytes,
    abis: Sequence[AbiIndex] = (),
    token_type: str | None = None,
    *,
    budget: DecodingBudget | None = None,
) -> Decoded | None:
    """Return the event of a log, as decode_call() does.

    An anonymous event is returned only where at most MAX_ALTERNATIVES of the ABIs have that number
    of topics and that size, and the data is the encoding of exactly one of them.
    """
    for entry in events_of(topics, abis, token_type):
        fit = _values_of_log(topics[1:], data, entry, budget)
        if fit is not None:
            return fit.decoded()
    forms = ((len(topics), len(data)), (len(topics), None))
    anonymous = [entry for abi in abis for form in forms for entry in abi.anonymous.get(form, ())]
    if len(anonymous) > MAX_ALTERNATIVES:
        return None
    fit = _only(_values_of_log(topics, data, entry, budget, strict=True) for entry in anonymous)
    return None if fit is None else fit.decoded()


def decode_call_by(
    calldata: bytes, signatures: Iterable[str], *, budget: DecodingBudget | None = None
) -> Decoded | None:
    """Decode a call by the one of these signatures with which the arguments encode to the same
    calldata; return None where none or several fit."""
    index = index_abi(entries_of("function", signatures), "imported")
    entries = index.functions.get(calldata[:4], ())
    fit = _only(_values_of_call(calldata, entry, budget, strict=True) for entry in entries)
    return None if fit is None else fit.decoded()


def decode_log_by(
    topics: Sequence[bytes],
    data: bytes,
    signatures: Iterable[str],
    *,
    budget: DecodingBudget | None = None,
) -> Decoded | None:
    """Decode a log as decode_call_by() does. A signature does not say which arguments are indexed,
    so all choices are tried, of which only one may fit."""
    if not topics or (budget is not None and budget.is_exceeded):
        return None
    index = index_abi(entries_of("event", signatures), "imported")
    ways = (way for entry in index.events.get(topics[0], ()) for way in _ways(entry, len(topics)))
    fits = [_values_of_log(topics[1:], data, way, budget, strict=True) for way in ways]
    only = _only(fits)
    if only is not None:
        return only.decoded()
    return _only(d for d in (fit.decoded() for fit in fits if fit) if _is_plausible(d))


def _ways(entry: Entry, topics: int) -> Iterator[Entry]:
    """Yield the entry with every choice of indexed arguments for this number of topics."""
    count = len(entry.types)
    if count <= MAX_FREE_ARGUMENTS or topics - 1 in (0, count):
        for chosen in combinations(range(count), topics - 1):
            yield entry._replace(indexed=tuple(index in chosen for index in range(count)))


def _is_plausible(decoded: Decoded) -> bool:
    """Return whether the integers are unlike addresses, and the addresses unlike small numbers."""
    return not any(
        (argument.type == "address" and 0 < int(argument.value, 16) < 2**64)
        or (argument.type == "uint256" and 2**96 <= int(argument.value) < 2**160)
        for argument in decoded.arguments
        if not argument.hashed
    )


_T = TypeVar("_T")


def _only(candidates: Iterable[_T | None]) -> _T | None:
    """Return the only candidate that is not None; None if there are none or several."""
    fitting = [candidate for candidate in candidates if candidate is not None]
    return fitting[0] if len(fitting) == 1 else None


class _Fit(NamedTuple):
    """An entry and the values decoded by it; they are rendered only if it is chosen."""

    entry: Entry
    values: Sequence[Any]

    def decoded(self) -> Decoded:
        entry = self.entry
        arguments = []
        for name, type_, is_topic, value in zip(
            entry.names, entry.types, entry.indexed, self.values, strict=True
        ):
            shown = _topic_type(type_) if is_topic else type_
            text = render(shown, value)
            arguments.append(Argument(name, type_.name, text, shown is HASH, is_topic))
        return Decoded(entry.name, entry.signature, arguments, entry.source)


def _values_of_call(
    calldata: bytes, entry: Entry, budget: DecodingBudget | None, *, strict: bool = False
) -> _Fit | None:
    if budget is not None and not budget.allows(len(calldata)):
        return None
    try:
        return _Fit(entry, _values(entry.types, calldata[4:], strict))
    except (AbiError, OverflowError):
        return None


def _values_of_log(
    topics: Sequence[bytes],
    data: bytes,
    entry: Entry,
    budget: DecodingBudget | None,
    *,
    strict: bool = False,
) -> _Fit | None:
    """Return the values of a log's arguments; None where they do not fit the entry. `topics` are
    those of indexed arguments, without the event's own."""
    if len(topics) != sum(entry.indexed):
        return None
    if budget is not None and not budget.allows(len(data) + 32 * len(topics)):
        return None
    types = zip(entry.types, entry.indexed, strict=True)
    indexed = [_topic_type(type_) for type_, is_topic in types if is_topic]
    try:
        words = iter(_values(indexed, b"".join(topics), strict))
        plain = iter(_values(plain_types(entry), data, strict))
    except (AbiError, OverflowError):
        return None
    return _Fit(entry, [next(words) if is_topic else next(plain) for is_topic in entry.indexed])


def _topic_type(abi_type: AbiType) -> AbiType:
    """Return the type of a topic: HASH for dynamic and composite types, whose values are hashed."""
    return HASH if abi_type.dynamic or abi_type.kind in ("array", "tuple") else abi_type


def _values(types: Sequence[AbiType], data: bytes, strict: bool) -> tuple[Any, ...]:
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
