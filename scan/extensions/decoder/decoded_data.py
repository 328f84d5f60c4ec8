"""What a call, a log, an error or constructor arguments may mean, and the calls in the arguments of
calls: multicalls, Safe accounts, timelocks, and those of extensions. Sources: Multicall3; Uniswap's
Multicall and MulticallExtended; Safe.sol, MultiSend.sol; OpenZeppelin's TimelockController and
Governor.

All of it is hostile: sizes are bounded before they are decoded, the number and depth of nested
calls and the bytes in all of them are, and one DecodingBudget bounds the time.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import orjson

from scan import registry
from scan.api.renamed_fields import recording
from scan.contracts import abi, abi_decoding
from scan.contracts.abi_decoding import (
    BUILD,
    FOLLOWED,
    AbiIndex,
    Argument,
    Decoded,
    DecodingBudget,
    constructor_values,
    decode_call_by,
    decode_error,
)
from scan.contracts.revert_reasons import CUSTOM, InnerErrors, Reason, decode_reason
from scan.errors import InvalidParameter, NotFound
from scan.ethereum import node_errors, rlp_and_tries
from scan.extensions.decoder import typed_data
from scan.extensions.decoder.hooks import Decoder
from scan.extensions.decoding import contract_abis
from scan.extensions.decoding.decoding import decode_call, decode_log, decode_log_by
from scan.hex import to_hex
from scan.queries import blocks, contracts
from scan.queries.reader import Reader

MOST_VALUES = 20_000
# Operation, address, value and size of a packed transaction.
PACKED_HEAD_BYTES = 1 + 20 + 2 * abi.WORD


class NestedCall(NamedTuple):
    """A call in the arguments of another one. `to` is None where it is the contract that has the
    arguments, or unknown."""

    to: bytes | None
    value: int
    input: bytes
    is_delegated: bool = False  # by DELEGATECALL, so the code runs as the caller


Read = Callable[..., Sequence[tuple[Any, ...]]]  # of a function's arguments; NestedCalls as tuples


def calls_in(calldata: bytes, signature: str) -> list[NestedCall]:
    """Return the calls in the arguments of a call of this function; [] where it has none."""
    text, types, read = _functions().get(calldata[:4], ("", (), _inner_calls))
    if text != signature:
        return []
    data, most_bytes = calldata[4:], abi.most_bytes_of(calldata)
    try:
        arguments = abi.decode(types, data, most_values=MOST_VALUES, most_bytes=most_bytes)
        return [NestedCall(*call) for call in read(*arguments)]
    except (abi.AbiError, ValueError, OverflowError):
        return []


@cache
def functions_with_calls() -> abi_decoding.AbiIndex:
    """Return the functions whose arguments are calls, as an ABI."""
    return abi_decoding.index_abi(abi_decoding.entries_of("function", _readers()), "standard")


@cache
def _functions() -> Mapping[bytes, tuple[str, tuple[abi.AbiType, ...], Read]]:
    return abi.by_selector(_readers())


def _readers() -> Mapping[str, Read]:
    return {**CALLS, **registry.merged(part.calls for part in registry.parts(Decoder))}


def _inner_calls(inputs: Sequence[bytes]) -> Sequence[tuple[Any, ...]]:
    """Return the calls that a contract makes of itself."""
    return [(None, 0, calldata) for calldata in inputs]


def _one(to: bytes, value: int, data: bytes, *_: object) -> Sequence[tuple[Any, ...]]:
    return [(to, value, data)]


def _operation_call(
    to: bytes, value: int, data: bytes, operation: int, *_: object
) -> Sequence[tuple[Any, ...]]:
    return [(to, value, data, operation == 1)]


def _lists(
    targets: Sequence[bytes], values: Sequence[int], inputs: Sequence[bytes], *_: object
) -> Sequence[tuple[Any, ...]]:
    """Return a call for each target; raises ValueError where the lists differ in length."""
    return [*zip(targets, values, inputs, strict=True)]


def _packed(transactions: bytes) -> Sequence[tuple[Any, ...]]:
    """Return the transactions of MultiSend; raises ValueError where they do not end with the
    data."""
    calls, at = [], 0
    while at < len(transactions):
        head = transactions[at : at + PACKED_HEAD_BYTES]
        at += PACKED_HEAD_BYTES
        size = int.from_bytes(head[53:])
        if len(head) < PACKED_HEAD_BYTES or at + size > len(transactions):
            raise ValueError("the transactions are cut")
        data = transactions[at : at + size]
        calls.append((head[1:21], int.from_bytes(head[21:53]), data, head[0] == 1))
        at += size
    return calls


def _pairs(calls: Sequence[tuple[bytes, bytes]]) -> Sequence[tuple[Any, ...]]:
    return [(target, 0, data) for target, data in calls]


_CALL = "(address target, bytes callData)[] calls"
_SAFE = "(address to, uint256 value, bytes data, uint8 operation"
_TIMELOCK = "(address target, uint256 value, bytes data, bytes32 predecessor, bytes32 salt"
_TIMELOCK_BATCH = (
    "(address[] targets, uint256[] values, bytes[] payloads, bytes32 predecessor, bytes32 salt"
)
CALLS: Mapping[str, Read] = {
    "multicall(bytes[] data)": _inner_calls,
    "multicall(uint256 deadline, bytes[] data)": lambda _, inputs: _inner_calls(inputs),
    "multicall(bytes32 previousBlockhash, bytes[] data)": lambda _, inputs: _inner_calls(inputs),
    f"aggregate({_CALL})": _pairs,
    f"blockAndAggregate({_CALL})": _pairs,
    f"tryAggregate(bool requireSuccess, {_CALL})": lambda _, calls: _pairs(calls),
    f"tryBlockAndAggregate(bool requireSuccess, {_CALL})": lambda _, calls: _pairs(calls),
    "aggregate3((address target, bool allowFailure, bytes callData)[] calls)": lambda calls: [
        (target, 0, data) for target, _, data in calls
    ],
    "aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls)": (
        lambda calls: [(target, value, data) for target, _, value, data in calls]
    ),
    f"execTransaction{_SAFE}, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice,"
    " address gasToken, address refundReceiver, bytes signatures)": _operation_call,
    f"execTransactionFromModule{_SAFE})": _operation_call,
    f"execTransactionFromModuleReturnData{_SAFE})": _operation_call,
    "multiSend(bytes transactions)": _packed,
    f"schedule{_TIMELOCK}, uint256 delay)": _one,
    f"execute{_TIMELOCK})": _one,
    f"scheduleBatch{_TIMELOCK_BATCH}, uint256 delay)": _lists,
    f"executeBatch{_TIMELOCK_BATCH})": _lists,
    "propose(address[] targets, uint256[] values, bytes[] calldatas, string description)": _lists,
}


recorded = recording(__file__)

CALL, ERROR, EVENT, CONSTRUCTOR = KINDS = ("call", "error", "event", "constructor")
MESSAGE = "message"
CANDIDATE_KINDS = (*KINDS, MESSAGE)
VERIFIED, IMPLEMENTATION, STANDARD = "verified", "implementation", "standard"
ELSEWHERE, IMPORTED, PROTOCOL = "verified_elsewhere", "imported", "protocol"
TYPED_DATA = "typed_data"
SOURCES = (*abi_decoding.SOURCES, IMPLEMENTATION, ELSEWHERE, TYPED_DATA)
MAX_BYTES = 128 * 1024  # of what is decoded: nodes accept no larger transaction
MAX_DECODED_BYTES = 512 * 1024  # of all candidates together; the first one's always are
LARGE_BYTES = 16 * 1024  # what is larger is decoded two at a time
MAX_CANDIDATES = 8
MAX_DEPTH = 8
MAX_CALLS = 200
TIMEOUT_S = 1.5  # of the node, for the implementations of proxies
CUT = "There are more nested calls, candidates or data than are decoded at once."
NO_NODE = "The node does not respond, so that implementations of proxies are not known."


class Encoded(NamedTuple):
    """What is to be decoded. `kind` is one of KINDS, None for a call or an error, or for an event
    where there are topics. `address` is the contract's. `typed_data` is JSON in place of all."""

    data: bytes
    topics: Sequence[bytes] = ()
    address: bytes | None = None
    kind: str | None = None
    typed_data: object = None


class Candidate(NamedTuple):
    """What the data may be, one of CANDIDATE_KINDS. The source of `decoded` is one of SOURCES."""

    kind: str
    decoded: Decoded

    def record(self) -> dict[str, Any]:
        return {"kind": self.kind, **self.decoded.record()}


class DecodedCall(NamedTuple):
    """A call inside of another one; `path` has its position in each call around it."""

    path: tuple[int, ...]
    call: NestedCall
    candidates: Sequence[Candidate]

    def record(self) -> dict[str, Any]:
        return recorded("decoded_call", self)


class Decoding(NamedTuple):
    """Candidates, the likeliest first; `reason` is an error as a sentence. `calls` are those inside
    of the first candidate, each before the calls inside of it. `incomplete` says what is left
    out; `signed` are the bytes whose hash is signed, of a message."""

    candidates: Sequence[Candidate] = ()
    reason: str | None = None
    calls: Sequence[DecodedCall] = ()
    incomplete: str | None = None
    signed: bytes | None = None

    def record(self) -> dict[str, Any]:
        return {
            "digest": None if self.signed is None else to_hex(rlp_and_tries.keccak256(self.signed)),
            **recorded("decoding", self),
        }


class _Known(NamedTuple):
    """What is known of a contract and of a selector: ABIs with their sources, and signatures of
    other verified contracts and of the operator's imports."""

    abis: Sequence[tuple[AbiIndex, str]]
    token_type: str | None
    verified: Sequence[str]
    imported: Sequence[str]


def decode(reader: Reader, encoded: Encoded) -> Decoding:
    """Decode what a client sent. Raises InvalidParameter, NotFound for constructor arguments of a
    contract that is not verified, Unavailable."""
    reader.do_not_cache()
    if encoded.typed_data is not None:
        return _message(reader, encoded)
    if len(encoded.data) > LARGE_BYTES:
        reader.hold_processor()
    if encoded.kind == CONSTRUCTOR:
        return Decoding(_constructor(reader, encoded))
    is_event = encoded.kind == EVENT or (encoded.topics and encoded.kind is None)
    decoder = _Decoder(reader)
    return decoder.event(encoded) if is_event else decoder.call_or_error(encoded)


def _message(reader: Reader, encoded: Encoded) -> Decoding:
    """Decode typed data by its own types."""
    size = len(json.dumps(encoded.typed_data))
    if size > MAX_BYTES:
        reason = f"{typed_data.FIELD} must have at most {MAX_BYTES:,} characters."
        raise InvalidParameter(reason, field=typed_data.FIELD)
    if size > LARGE_BYTES:
        reader.hold_processor()
    message = typed_data.parse(encoded.typed_data)
    members = zip(message.type.labels, message.type.items, message.values, strict=True)
    arguments = [Argument(label, type_.name, value) for label, type_, value in members]
    decoded = Decoded(message.primary_type, message.encoded_type, arguments, TYPED_DATA)
    return Decoding([Candidate(MESSAGE, decoded)], signed=message.signed)


def _constructor(reader: Reader, encoded: Encoded) -> list[Candidate]:
    if encoded.address is None:
        message = "Constructor arguments need the contract's address."
        raise InvalidParameter(message, field="address")
    contract, _ = contracts.get_with_proxy(reader, encoded.address, {"abi"})
    if contract.abi is None:
        raise NotFound(contract.not_verified, field="address")
    arguments = constructor_values(orjson.loads(contract.abi), encoded.data)
    if arguments is None:
        return []
    signature = f"constructor({','.join(argument.type for argument in arguments)})"
    return [Candidate(CONSTRUCTOR, Decoded("constructor", signature, arguments, VERIFIED))]


class _Decoder:
    """The decoding of one request, within its bounds."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._abis = reader.sources.get(contract_abis.ContractAbis)
        self._budget = DecodingBudget()
        self._bytes_left = MAX_DECODED_BYTES
        self._is_cut = False

    def event(self, encoded: Encoded) -> Decoding:
        topics, data = encoded.topics, encoded.data
        selector = topics[0][:4] if topics else b""
        [declared] = self._known([(encoded.address, selector)])
        events = self._with_inner_errors(self._events(topics, data, declared), declared)
        candidates = self._distinct(EVENT, len(data), events)
        return Decoding(candidates, incomplete=self._incomplete())

    def call_or_error(self, encoded: Encoded) -> Decoding:
        [declared] = self._known([(encoded.address, encoded.data[:4])])
        calls, errors, reason = [], [], None
        if encoded.kind != ERROR:
            functions = self._functions(encoded.data, declared)
            calls = self._distinct(CALL, len(encoded.data), functions)
        if encoded.kind != CALL:
            reason = self._reason(encoded.data, declared)
            decoded = self._errors(encoded.data, declared, reason, is_error=encoded.kind == ERROR)
            decoded = self._with_inner_errors(decoded, declared)
            errors = self._distinct(ERROR, len(encoded.data), decoded)
        nested = self._nested(NestedCall(encoded.address, 0, encoded.data), calls)
        is_error = encoded.kind == ERROR or (errors and not calls)
        says_why = is_error and reason is not None and (reason.decoded or not errors)
        sentence = reason.sentence if says_why and reason is not None else None
        return Decoding([*calls, *errors], sentence, nested, self._incomplete())

    def _nested(self, call: NestedCall, candidates: Sequence[Candidate]) -> list[DecodedCall]:
        """Return the calls inside of a call, level by level, in the order of their paths."""
        nested: list[DecodedCall] = []
        level = [DecodedCall((), call, candidates)]
        for _ in range(MAX_DEPTH):
            inside = [
                ((*outer.path, position), inner._replace(to=inner.to or outer.call.to))
                for outer in level
                for position, inner in enumerate(self._inside(outer))
            ]
            if not inside:
                return sorted(nested, key=lambda decoded: decoded.path)
            inside = self._within_bounds(inside, MAX_CALLS - len(nested))
            declared = self._known([(inner.to, inner.input[:4]) for _, inner in inside])
            level = []
            for (path, inner), of_call in zip(inside, declared, strict=True):
                functions = self._functions(inner.input, of_call)
                candidates = self._distinct(CALL, len(inner.input), functions)
                level.append(DecodedCall(path, inner, candidates))
            nested += level
        self._is_cut |= any(map(self._inside, level))
        return sorted(nested, key=lambda decoded: decoded.path)

    def _inside(self, outer: DecodedCall) -> list[NestedCall]:
        first = next(iter(outer.candidates), None)
        if first is None or not self._budget.allows(len(outer.call.input)):
            return []
        return calls_in(outer.call.input, first.decoded.signature)

    def _within_bounds(
        self, calls: Sequence[tuple[tuple[int, ...], NestedCall]], most: int
    ) -> list[tuple[tuple[int, ...], NestedCall]]:
        kept = []
        for path, call in calls[:most]:
            self._bytes_left -= len(call.input)
            if self._bytes_left < 0:
                break
            kept.append((path, call))
        self._is_cut |= len(kept) < len(calls)
        return kept

    def _known(self, calls: Sequence[tuple[bytes | None, bytes]]) -> list[_Known]:
        """Return what is known of these addresses and selectors, all read at once."""
        addresses = dict.fromkeys(address for address, _ in calls if address is not None)
        selectors = {selector for _, selector in calls if len(selector) == 4}
        then, now = self._contracts([*addresses])
        verified = self._abis.of_verified_contracts(selectors)
        imported = self._abis.imported(selectors)
        known = []
        for address, selector in calls:
            own = then.get(address or b"", contract_abis.NO_CONTRACT)
            lent = now.get(address or b"", own).abis[len(own.abis) :]  # of implementations
            abis = [(abi, VERIFIED) for abi in own.abis]
            abis += [(abi, IMPLEMENTATION) for abi in lent]
            signatures = verified.get(selector, ()), imported.get(selector, ())
            known.append(_Known(abis, own.token_type, *signatures))
        return known

    def _contracts(
        self, addresses: Sequence[bytes]
    ) -> tuple[Mapping[bytes, contract_abis.Contract], Mapping[bytes, contract_abis.Contract]]:
        """Return contracts with their own ABIs, and those with the ABIs of implementations, too."""
        contracts = self._abis.find(addresses, self._budget)
        delegates = any(contract.delegates for contract in contracts.values())
        newest = blocks.newest(self._reader) if delegates else None
        if newest is None:
            return contracts, contracts
        block = contract_abis.Block(newest.number, to_hex(newest.hash))
        node = self._reader.node.within(TIMEOUT_S)
        return contracts, self._abis.find_at_or_now(addresses, block, node, self._budget)

    def _functions(self, data: bytes, declared: _Known) -> Iterator[Decoded | None]:
        token_type, budget = declared.token_type, self._budget
        for index, source in declared.abis:
            if data[:4] in index.functions:
                yield _from(decode_call(data, [index], token_type, budget=budget), source)
        yield decode_call(data, [functions_with_calls()], token_type, budget=budget)
        yield from self._by_signatures(data, declared)

    def _by_signatures(self, data: bytes, declared: _Known) -> Iterator[Decoded | None]:
        for signatures, source in ((declared.verified, ELSEWHERE), (declared.imported, IMPORTED)):
            for text in signatures:
                decoded = decode_call_by(data, [text], budget=self._budget)
                yield None if decoded is None else decoded._replace(source=source)

    def _reason(self, data: bytes, declared: _Known) -> Reason:
        failure = node_errors.CallFailure(node_errors.REVERT, data=data, data_size=len(data))
        imported = {data[:4]: declared.imported}
        return decode_reason(failure, [abi for abi, _ in declared.abis], imported, self._budget)

    def _errors(
        self, data: bytes, declared: _Known, reason: Reason, *, is_error: bool
    ) -> Iterator[Decoded | None]:
        """Yield errors. Signatures that are imported, or of verified contracts, are of functions:
        they are tried where the data `is_error`."""
        for index, source in declared.abis:
            if data[:4] in index.errors:
                yield _from(decode_error(data, [index], budget=self._budget), source)
        yield reason.decoded if reason.kind != CUSTOM else None  # Error and Panic
        yield decode_error(data, budget=self._budget)
        if is_error:
            yield from self._by_signatures(data, declared)

    def _events(
        self, topics: Sequence[bytes], data: bytes, declared: _Known
    ) -> Iterator[Decoded | None]:
        token_type, budget = declared.token_type, self._budget
        for index, source in declared.abis:
            if index.anonymous or (topics and topics[0] in index.events):
                yield _from(decode_log(topics, data, [index], token_type, budget=budget), source)
        yield decode_log(topics, data, (), token_type, budget=budget)
        for text in declared.imported:
            yield decode_log_by(topics, data, [text], budget=budget)

    def _with_inner_errors(
        self, decodings: Iterable[Decoded | None], declared: _Known
    ) -> Iterator[Decoded | None]:
        abis = [abi for abi, _ in declared.abis]
        for decoded in decodings:
            yield decoded and InnerErrors(abis, {}, self._budget).within(decoded)

    def _distinct(
        self, kind: str, size: int, decodings: Iterable[Decoded | None]
    ) -> list[Candidate]:
        """Return one candidate of each signature and choice of indexed arguments, as many as the
        bounds allow, at least one."""
        by_signature: dict[object, Candidate] = {}
        for decoded in (
            reading for possible in decodings if possible for reading in possible.readings
        ):
            key = decoded.signature, *(argument.indexed for argument in decoded.arguments)
            if key in by_signature:
                continue
            self._bytes_left -= size
            if by_signature and (self._bytes_left < 0 or len(by_signature) == MAX_CANDIDATES):
                self._is_cut = True
                break
            by_signature[key] = Candidate(kind, decoded)
        return [*by_signature.values()]

    def _incomplete(self) -> str | None:
        if self._is_cut or self._budget.is_exceeded:
            return CUT
        return NO_NODE if self._reader.has_node_failed else None


def _from(decoded: Decoded | None, source: str) -> Decoded | None:
    """Return what an ABI decoded, with its source; None for what only a standard decoded."""
    if decoded is None or decoded.source == STANDARD:
        return None
    is_own = decoded.source in (PROTOCOL, BUILD, FOLLOWED)
    return decoded if is_own else decoded._replace(source=source)
