"""Calldata, logs and errors decoded by verified and imported ABIs, ABIs of standards and single
signatures: the entries by selector and topic, the decoding, and the time that it may take.

All input is hostile: the number of entries and types is bounded before they are parsed, the cost of
decoding is bounded in proportion to the decoded bytes and in time for each request, and data that
does not fit an ABI is not decoded at all. The rules are those of ethers: bytes after the arguments
are ignored, integers are cut to their width, and an address with bytes before it is refused.
"""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, cast

import orjson

from scan.contracts.abi import (
    MAX_LENGTH,
    MAX_VALUES,
    WORD,
    AbiError,
    AbiType,
    decode,
    encode,
    most_bytes_of,
    parse_signature,
    parse_types,
    signature_of,
)
from scan.contracts.abi_json import MAX_NAME, AbiEntries, constructor_inputs, render
from scan.ethereum.rlp_and_tries import keccak256

# The evidence that an implementation runs for its proxy; see proxy_contracts.py.
CODE, TRACE, CLAIM = "code", "trace", "claim"
# Sources of entries of an ABI that the operator has built, or gave.
BUILD, FOLLOWED = "build", "followed"
SOURCES = ("verified", BUILD, FOLLOWED, "standard", "imported", "protocol")  # of Decoded
FOLDER = Path(__file__).with_name("standard_abis")
# A signature that several standards share has the argument names of the first of them in this list.
STANDARDS = tuple(
    """
    erc20 erc721 erc1155 erc6909 erc2612 erc4626 weth9 uniswap_v2 uniswap_v3 multicall safe access
    erc1967 erc4337 erc6093 op_stack
    """.split()
)
OF_TOKEN_TYPE = {"BEP20": "erc20", "BEP721": "erc721", "BEP1155": "erc1155", "BEP6909": "erc6909"}
MAX_ENTRIES = 2000  # of an ABI
# Types of an ABI's parameters, members and array items. Parsing one takes 4 us: without the bound,
# 1 MiB of nested arrays, the largest stored ABI, took 0.7 s. 500 functions of six parameters have
# 3,500.
MAX_TYPES = 20_000
MAX_ARGUMENTS = 100
LIBRARY = "library"  # the key of an ABI's entry for the library that declares it
UNNAMED = ("receive", "fallback")
HASH = AbiType("bytesN", "bytes32", 32)
MAX_ALTERNATIVES = 8  # entries of an ABI with one selector, or anonymous events that a log may be
_T = TypeVar("_T")


class Entry(NamedTuple):
    """A function, an event or an error of an ABI. `indexed` has one value per type. `outputs` are
    None where the entry is no function, or its outputs are unknown."""

    name: str
    signature: str
    names: tuple[str, ...]
    types: tuple[AbiType, ...]
    indexed: tuple[bool, ...]
    source: str
    standard: str | None = None
    outputs: tuple[AbiType, ...] | None = None
    output_names: tuple[str, ...] = ()
    evidence: str | None = None  # that an implementation's code runs for its proxy


class AbiIndex(NamedTuple):
    """An ABI's functions and errors by selector, events by their first topic, and anonymous events
    by the number of their topics and the size of their data, None where it varies. Of an
    implementation with the evidence that it runs for a proxy, and the functions of which that holds
    where it is a trace: of others it is a claim. `unnamed` has fallback() and receive(), if any."""

    functions: Mapping[bytes, Sequence[Entry]]
    events: Mapping[bytes, Sequence[Entry]]
    anonymous: Mapping[tuple[int, int | None], Sequence[Entry]]
    errors: Mapping[bytes, Sequence[Entry]]
    evidence: str | None = None
    traced: Collection[bytes] = ()
    unnamed: Mapping[str, Entry] = MappingProxyType({})

    def functions_of(self, selector: bytes) -> Sequence[Entry]:
        """Return the functions with a selector, with the evidence."""
        entries = self.functions.get(selector, ())
        if self.evidence is None or not entries:
            return entries
        is_claim = self.evidence == TRACE and selector not in self.traced
        return [e._replace(evidence=CLAIM if is_claim else self.evidence) for e in entries]

    def events_of(self, topic: bytes) -> Sequence[Entry]:
        """Return the events with a topic, with the evidence."""
        entries = self.events.get(topic, ())
        if self.evidence is None:
            return entries
        return [entry._replace(evidence=self.evidence) for entry in entries]


def index_abi(entries: Iterable[Any], source: str = "verified") -> AbiIndex:
    """Index an ABI up to MAX_ENTRIES and MAX_TYPES, without entries that cannot be decoded."""
    index = _empty_index()
    types_left = MAX_TYPES
    for definition in islice(entries, MAX_ENTRIES):
        types_left -= _count_types(definition)
        if types_left < 0:
            break
        _add(index, definition, source)
    functions, events, anonymous, errors, *_ = map(dict, index[:4])
    return AbiIndex(functions, events, anonymous, errors, unnamed=index.unnamed)


def _empty_index() -> Any:
    new = partial(defaultdict[Any, Any], list)
    return AbiIndex(new(), new(), new(), new(), unnamed={})


def _count_types(entry: Any) -> int:
    """Return an upper bound of an entry's types without parsing them: it also counts outputs and
    brackets in `internalType`."""
    try:
        text = orjson.dumps(entry)
    except orjson.JSONEncodeError:  # nested too deep to be decoded
        return MAX_TYPES + 1
    return text.count(b'"type"') + text.count(b"[")


def _add(index: Any, definition: Any, source: str, standard: str | None = None) -> None:
    kinds = ("function", "event", "error")
    if not isinstance(definition, dict):
        return
    if (kind := definition.get("type", "function")) in UNNAMED:
        index.unnamed[kind] = _entry({"name": kind, "inputs": []}, source, standard)
    if kind not in kinds:
        return
    try:
        entry = _entry(definition, source, standard)
    except AbiError:
        return
    digest = keccak256(entry.signature.encode())
    if definition.get("type") == "error":
        alike = index.errors[digest[:4]]
    elif definition.get("type") != "event":
        alike = index.functions[digest[:4]]
    elif definition.get("anonymous"):
        plain = plain_types(entry)
        size = None if any(t.dynamic for t in plain) else sum(t.head_bytes for t in plain)
        alike = index.anonymous[sum(entry.indexed), size]
    else:
        alike = index.events[digest]
    if len(alike) <= MAX_ALTERNATIVES:  # one more entry than that means too many
        alike.append(entry)


def _entry(definition: dict[str, Any], source: str, standard: str | None) -> Entry:
    name, inputs = definition.get("name"), definition.get("inputs", [])
    if not isinstance(name, str):
        raise AbiError("the entry has no name")
    types = parse_types(inputs)
    if len(types) > MAX_ARGUMENTS:
        raise AbiError("the entry is too large")
    is_event = definition.get("type") == "event"
    outputs: tuple[AbiType, ...] | None = None  # not decoded, as the function's calls still can be
    with suppress(AbiError):
        parsed = parse_types(definition.get("outputs"))
        outputs = parsed if len(parsed) <= MAX_ARGUMENTS else None
    return Entry(
        name=name,
        signature=signature_of(definition, types),
        names=_names(inputs),
        types=types,
        indexed=tuple(is_event and bool(parameter.get("indexed")) for parameter in inputs),
        source=source,
        standard=standard,
        outputs=outputs,
        output_names=() if outputs is None else _names(definition.get("outputs") or ()),
    )


def _names(parameters: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(parameter.get("name") or "")[:MAX_NAME] for parameter in parameters)


@cache
def standard_abis() -> AbiIndex:
    """Return the ABIs of the directory standard_abis/, read once."""
    index = _empty_index()
    for standard in STANDARDS:
        for line in (FOLDER / f"{standard}.txt").read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                kind, _, text = line.partition(" ")
                text, _, returned = text.partition(" returns ")
                entry = {"type": kind, **parse_signature(text)}
                if returned:
                    entry["outputs"] = parse_signature(f"returns{returned}")["inputs"]
                _add(index, entry, "standard", standard)
    return cast(AbiIndex, index)


def signatures_of(entries: Iterable[Any]) -> dict[bytes, str]:
    """Return the signatures of an ABI's functions by selector, in the order of selectors, without
    those above MAX_LENGTH."""
    functions = index_abi(entries).functions
    by_selector = {selector: functions[selector][0].signature for selector in sorted(functions)}
    return {selector: s for selector, s in by_selector.items() if len(s.encode()) <= MAX_LENGTH}


def declared_signatures(entries: Iterable[Any]) -> list[tuple[bytes, str]]:
    """Return the errors of an ABI by selector and its events by topic, with their signatures,
    without those above MAX_LENGTH."""
    index = index_abi(entries)
    hashed = [*index.errors.items(), *index.events.items()]
    named = {(hash_, entry.signature) for hash_, entries in hashed for entry in entries}
    return sorted(pair for pair in named if len(pair[1].encode()) <= MAX_LENGTH)


def functions_of(
    selector: bytes, abis: Sequence[AbiIndex], token_type: str | None = None
) -> Iterator[Entry]:
    """Yield the functions with a selector: those of `abis` first, then those of standards."""
    for abi in abis:
        yield from abi.functions_of(selector)
    yield from _preferred(standard_abis().functions.get(selector, ()), token_type)


def unnamed_function(calldata: bytes, abis: Sequence[AbiIndex]) -> "Decoded | None":
    """Return the function that a contract runs where it has none with the selector of a call."""
    names = UNNAMED[bool(calldata) :]
    entry = next((abi.unnamed[n] for n in names for abi in abis if n in abi.unnamed), None)
    return entry and Fit(entry, []).decoded()


def events_of(
    topic: bytes, abis: Sequence[AbiIndex], token_type: str | None
) -> Iterator[Sequence[Entry]]:
    """Yield the events with a topic that the ABIs and libraries of their contracts declare, then
    those of standards."""
    yield [entry for abi in abis for entry in abi.events_of(topic)]
    yield _preferred(standard_abis().events.get(topic, ()), token_type)


def _preferred(entries: Sequence[Entry], token_type: str | None) -> Sequence[Entry]:
    standard = OF_TOKEN_TYPE.get(token_type or "")
    if standard is None or len(entries) < 2:
        return entries
    return sorted(entries, key=lambda entry: entry.standard != standard)


def entries_of(kind: str, signatures: Iterable[str]) -> Iterator[dict[str, Any]]:
    for text in signatures:
        yield {"type": kind, **parse_signature(text)}


def plain_types(entry: Entry) -> list[AbiType]:
    """Return the types of the arguments in a log's data."""
    return [t for t, is_topic in zip(entry.types, entry.indexed, strict=True) if not is_topic]


# A standard transfer costs 12 units and takes 18 us; decoding, comparing and rendering one word
# takes 2.6 us.
WORK = 250_000
PROCESSOR_S = 0.5
ATTEMPT = 8  # units, plus one per word


class DecodingBudget:
    """The budget of one request, in its thread. When it is spent, nothing more is decoded.

    Units of work limit a request equally on every machine; the thread's processor time also limits
    work that is not counted in units, such as reading ABIs.
    """

    def __init__(self, work: int = WORK, processor_s: float | None = None) -> None:
        self._work_left = work
        self._ends_at = time.thread_time() + (PROCESSOR_S if processor_s is None else processor_s)
        self.is_exceeded = False

    def allows(self, size_bytes: int = 0) -> bool:
        """Deduct the cost of one attempt to decode `size_bytes`, and return whether the budget
        allowed it."""
        self._work_left -= ATTEMPT + size_bytes // 32
        if self._work_left < 0 or time.thread_time() >= self._ends_at:
            self.is_exceeded = True
        return not self.is_exceeded


class Argument(NamedTuple):
    """An argument, with its value as JSON. `hashed`: it is indexed and of a dynamic or composite
    type, of which the topic contains only the hash. `errors` are those in its bytes, which a
    contract passed on, each with its place in the value."""

    name: str
    type: str
    value: Any
    hashed: bool = False
    indexed: bool = False  # a topic of the event has it
    errors: Sequence[tuple[str, "Decoded"]] = ()

    def record(self) -> dict[str, Any]:
        argument = {"name": self.name, "type": self.type, "value": self.value}
        if self.errors:
            argument["errors"] = [{"place": at, **error.record()} for at, error in self.errors]
        return {**argument, "hashed": True} if self.hashed else argument


class Decoded(NamedTuple):
    """A decoded call, event or error; `source` is one of SOURCES: "protocol" of logs of coin
    (EIP-7708). `alternatives` are the arguments that it may have where that is not certain: those
    in which they differ have no value. `evidence` is that of the implementation whose ABI it is by,
    None where it is by that of the code that ran."""

    name: str
    signature: str
    arguments: Sequence[Argument]
    source: str
    alternatives: Sequence[Sequence[Argument]] = ()
    evidence: str | None = None

    def record(self) -> dict[str, Any]:
        record: dict[str, Any] = {
            "name": self.name,
            "signature": self.signature,
            "arguments": [argument.record() for argument in self.arguments],
            "source": self.source,
        }
        if self.evidence:
            record["evidence"] = self.evidence
        if self.alternatives:
            record["alternatives"] = [[a.record() for a in args] for args in self.alternatives]
        return record

    @property
    def readings(self) -> Sequence["Decoded"]:
        """What it may be, one for all arguments that it may have."""
        readings = [self._replace(arguments=args, alternatives=()) for args in self.alternatives]
        return readings or [self]


def one_of(readings: Sequence[Decoded]) -> Decoded:
    """Return what several readings of one event say: what is different in them is not known."""
    first, *others = readings
    if not others:
        return first
    arguments = [
        alike[0]
        if len({orjson.dumps(a.value) for a in alike}) == 1
        else Argument(alike[0].name, alike[0].type, None)
        for alike in zip(*(reading.arguments for reading in readings), strict=True)
    ]
    return first._replace(arguments=arguments, alternatives=[r.arguments for r in readings])


def decode_error(
    data: bytes,
    abis: Sequence[AbiIndex] = (),
    *,
    budget: DecodingBudget | None = None,
    strict: bool = False,
) -> Decoded | None:
    """Return the custom error that a contract reverted with, as decode_call() does."""
    if len(data) < 4:
        return None
    entries = [entry for abi in abis for entry in abi.errors.get(data[:4], ())]
    entries += standard_abis().errors.get(data[:4], ())
    fitting = (values_of_call(data, entry, budget, strict=strict) for entry in entries)
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
            argument_type = topic_type(type_) if is_topic else type_
            text = render(argument_type, value)
            arguments.append(Argument(name, type_.name, text, argument_type is HASH, is_topic))
        return Decoded(
            entry.name, entry.signature, arguments, entry.source, evidence=entry.evidence
        )


def values_of_call(
    calldata: bytes, entry: Entry, budget: DecodingBudget | None, *, strict: bool = False
) -> Fit | None:
    if budget is not None and not budget.allows(len(calldata)):
        return None
    try:
        return Fit(entry, decoded_values(entry.types, calldata[4:], strict=strict))
    except (AbiError, OverflowError):
        return None


def constructor_values(abi: AbiEntries, data: bytes) -> list[Argument] | None:
    """Return a constructor's arguments; None where they do not decode by its ABI."""
    inputs = constructor_inputs(abi)
    try:
        types = parse_types(inputs)
        values = decode(types, data, most_values=1000, most_bytes=most_bytes_of(data))
    except (AbiError, OverflowError):
        return None
    return [
        Argument(label, type_.name, render(type_, value))
        for label, type_, value in zip(_names(inputs), types, values, strict=True)
    ]


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
    if strict and encode(types, values, data) != data:
        raise AbiError("the data is another encoding of these values")
    return values
