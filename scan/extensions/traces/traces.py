"""Contract creations and transfers of value inside transactions, decoded from traces. Pure.

Geth's callTracer nests frames. The flat traces of trace_block carry their place in the tree, by
which nested() brings them into callTracer's format. Frames are read in the order of the calls,
without those that were undone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from scan.cached_values import LazyMapping
from scan.ethereum.blocks import DecodedBlock, DecodedTransaction, MalformedBlock
from scan.ethereum.forms.matching import FORMS
from scan.ethereum.sparse_tables import CREATIONS, InternalTransfer, TransferType
from scan.ethereum.token_functions import may_change_unsaid
from scan.extensions.traces.trace_checks import require_own_call
from scan.hex import BadHex, data, quantity, to_hex

# Other calls move nothing: DELEGATECALL and STATICCALL cannot, CALLCODE pays the caller itself.
_FRAME_TYPES = {t.name: t for t in TransferType if t is not TransferType.TRANSFER}
_NOTHING = (None, "0x0")
_CALLING, _LENDING = ("CALL", "STATICCALL"), ("DELEGATECALL", "CALLCODE")
_PRECOMPILES = LazyMapping(
    lambda: {address: read for form in FORMS for address, read in form.precompiles.items()}
)
_Call = tuple[str, str]  # the called contract, and its input's first bytes, as hex
_DEPOSIT_TYPE = b"\x7e"  # of the OP Stack, also of a development node
_MALFORMED = (BadHex, KeyError, TypeError, AttributeError, IndexError, RecursionError)


class BlockTraces(NamedTuple):
    """Created contracts and transfers of a block, in the order of the calls. `created` includes the
    contracts that transactions create, `destroyed` has those whose code may have ended, `called`
    and `delegated` are as TracedBlock has them.

    `failed` has the indexes of failed transactions, only where receipts have no status.
    """

    created: list[bytes]
    transfers: list[InternalTransfer]
    failed: frozenset[int] = frozenset()
    destroyed: tuple[bytes, ...] = ()
    called: frozenset[bytes] = frozenset()
    delegated: Mapping[tuple[bytes, bytes], bytes | None] = MappingProxyType({})


class _Calls(NamedTuple):
    """What is noted of calls beside what they move: `inner` are those of contracts, `delegated` the
    contracts to which the last of each passed its whole input on."""

    inner: set[_Call]
    delegated: dict[_Call, set[str]]

    def note(self, depth: int, outer: Any, frame: Any) -> None:
        kind, to, input_ = frame["type"], frame.get("to"), frame.get("input") or "0x"
        if not to:
            return
        if depth and kind == "CALL":
            self.inner.add((to, input_[:10]))
        if len(input_) < 10:
            return
        if kind in _CALLING:
            self.delegated[to, input_[:10]] = set()
        elif kind in _LENDING and outer["type"] in _CALLING and outer.get("input") == input_:
            self.delegated.setdefault((outer["to"], input_[:10]), set()).add(to)


def _no_calls() -> _Calls:
    return _Calls(set(), {})


def is_creation(kind: object) -> bool:
    """Return whether a frame of this type creates a contract."""
    return kind in ("CREATE", "CREATE2")


class CallFrame(NamedTuple):
    """One call of a transaction; `undone` if it or an enclosing call failed."""

    depth: int  # 0: the transaction itself
    outer: Any  # the enclosing call, None for the transaction itself
    call: Any  # in callTracer's format
    undone: bool


class _Frame(NamedTuple):
    # In the trace, of which 0 is the transaction itself; None outside of calls.
    call_index: int | None
    type: TransferType
    from_address: bytes
    to_address: bytes
    value: int


def walk_calls(outermost: Any) -> Iterator[CallFrame]:
    """Yield the calls of a trace in callTracer's format, depth first, as they were made.

    Raises AttributeError or TypeError where the trace is malformed.
    """
    ahead: list[tuple[int, Any, Any, bool]] = [(0, None, outermost, False)]
    while ahead:
        depth, outer, call, undone = ahead.pop()
        if call.get("error"):
            undone = True
        if outer is not None and call.get("type") == "SELFDESTRUCT":
            # Where a contract destroys itself in its own favour, which moves nothing since Cancun
            # (EIP-6780), reth and anvil report no parties, or those of the transfer before.
            # It is the contract in whose context the calling code runs.
            destroyed = outer["from" if outer["type"] in ("DELEGATECALL", "CALLCODE") else "to"]
            if call.get("from") != destroyed:
                call = {**call, "from": destroyed, "to": destroyed, "value": "0x0"}
        yield CallFrame(depth, outer, call, undone)
        if calls := call.get("calls"):
            ahead += [(depth + 1, call, inner, undone) for inner in reversed(calls)]


def read_call_traces(block: DecodedBlock, entries: list[Any]) -> BlockTraces:
    """Read the result of debug_traceBlockByHash with callTracer.

    The caller has to replace an entry without a result, of a transaction that the node did not
    trace. Raises MalformedBlock, also for traces of another block.
    """
    transactions = _traced_transactions(block)
    if len(entries) not in (len(transactions), len(block.transactions)):
        raise _mismatch(block)
    calls = _no_calls()
    frames = (
        (t, _call_frames(block, t, result_of(t, block, entry), calls))
        for t, entry in zip(transactions, entries, strict=False)
    )
    return _checked(block, frames, calls)


def read_flat_traces(block: DecodedBlock, traces: list[Any]) -> BlockTraces:
    """Read the result of trace_block. Raises MalformedBlock, also for traces of another block."""
    by_position: dict[int, list[Any]] = {}
    try:
        if not _name(traces, "blockHash", block.hash):
            raise _mismatch(block)
        for trace in traces:
            if trace.get("transactionPosition") is not None:  # else it is a block's reward
                by_position.setdefault(trace["transactionPosition"], []).append(trace)
    except _MALFORMED as error:
        raise _malformed(block, error) from error
    transactions = _traced_transactions(block)
    if len(transactions) < len(block.transactions):
        by_position.pop(len(transactions), None)
    if by_position.keys() != set(range(len(transactions))):
        raise _mismatch(block)
    calls = _no_calls()
    frames = (
        (transaction, _flat_frames(block, transaction, by_position[index], calls))
        for index, transaction in enumerate(transactions)
    )
    return _checked(block, frames, calls)


def _traced_transactions(block: DecodedBlock) -> list[DecodedTransaction]:
    """Return all transactions but Polygon's state sync, of which only some nodes have a trace."""
    has_state_sync = block.transactions and block.transactions[-1].is_state_sync
    return block.transactions[:-1] if has_state_sync else block.transactions


def read_call_trace(
    block: DecodedBlock, transaction: DecodedTransaction, frame: Any
) -> BlockTraces:
    """Read the result of debug_traceTransaction."""
    calls = _no_calls()
    return _checked(block, [(transaction, _call_frames(block, transaction, frame, calls))], calls)


def read_flat_trace(
    block: DecodedBlock, transaction: DecodedTransaction, traces: list[Any]
) -> BlockTraces:
    """Read the result of trace_transaction."""
    calls = _no_calls()
    return _checked(block, [(transaction, _flat_frames(block, transaction, traces, calls))], calls)


def _checked(
    block: DecodedBlock,
    frames: Iterable[tuple[DecodedTransaction, Iterable[_Frame]]],
    calls: _Calls,
) -> BlockTraces:
    """Return the traces of frames; reading these fills `calls`."""
    created: list[bytes] = []
    destroyed: list[bytes] = []
    transfers: list[InternalTransfer] = []
    failed: list[int] = []
    try:
        for transaction, of_transaction in frames:
            index = transaction.transaction_index
            last, has_outermost = -1, False
            read = [*of_transaction]
            paid_last = {frame.to_address: n for n, frame in enumerate(read) if frame.value}
            for n, frame in enumerate(read):
                call_index, kind, from_address, to_address, value = frame
                has_outermost = has_outermost or call_index == 0
                if kind in CREATIONS:
                    created.append(to_address)
                is_kept = value or kind in CREATIONS
                if kind is TransferType.SELFDESTRUCT:
                    destroyed.append(from_address)
                    # What comes in afterwards is burnt (EIP-6780).
                    is_kept = is_kept or paid_last.get(from_address, 0) > n
                if is_kept and call_index != 0:
                    # What moves outside of calls takes the next index.
                    last = max(call_index or 0, last + 1)
                    transfers.append(
                        InternalTransfer(index, last, kind, from_address, to_address, value)
                    )
            if transaction.status and not has_outermost:  # which was undone
                failed.append(index)
        emitters = {log.address for log in block.logs}
        called = frozenset(
            address
            for address, selector in ((data(to, 20), data(start)) for to, start in calls.inner)
            if may_change_unsaid(selector, has_emitted=address in emitters)
        )
        delegated = {
            (data(to, 20), data(start, 4)): data(next(iter(lent)), 20) if len(lent) == 1 else None
            for (to, start), lent in calls.delegated.items()
        }
    except _MALFORMED as error:
        raise _malformed(block, error) from error
    return BlockTraces(
        created,
        transfers,
        frozenset(() if block.has_statuses else failed),
        () if block.keeps_destroyed else tuple(destroyed),
        called,
        delegated,
    )


def result_of(transaction: DecodedTransaction, block: DecodedBlock, entry: Any) -> Any:
    """Return the entry's result. Raises MalformedBlock where it has none, or names another
    transaction; older nodes name none."""
    try:
        hash_ = entry.get("txHash")
        if hash_ is not None and data(hash_) != _name_in_traces(transaction, hash_):
            raise _mismatch(block)
        return entry["result"]
    except _MALFORMED as error:
        raise _malformed(block, error) from error


def _name_in_traces(transaction: DecodedTransaction, name: str) -> bytes:
    """Return the hash by which traces may name a transaction. anvil names a deposit that it sends
    in another account's name by a hash of its own, as its receipt does: its place has to do."""
    return data(name, 32) if transaction.type == _DEPOSIT_TYPE else transaction.hash


def _call_frames(
    block: DecodedBlock, transaction: DecodedTransaction, outermost: Any, calls: _Calls
) -> Iterator[_Frame]:
    """Yield the frames that move value or create contracts and were not undone. Transfers by
    Arbitrum's protocol before and after a transaction hold even where it failed.

    Raises ContradictingTraces where the outermost call is not the transaction's.
    """
    fields = outermost if isinstance(outermost, dict) else {}
    if transaction.status:
        require_own_call(transaction, outermost, has_status=block.has_statuses)
    if entries := fields.get("beforeEVMTransfers"):
        yield from _protocol_transfers(entries)
    if transaction.status:
        yield from _executed_frames(transaction, outermost, calls)
    if entries := fields.get("afterEVMTransfers"):
        yield from _protocol_transfers(entries)


def _protocol_transfers(entries: Iterable[Any]) -> Iterator[_Frame]:
    """Yield the transfers of Arbitrum's protocol outside of calls. Entries with one party only are
    fees and mints."""
    for entry in entries:
        if entry["from"] is not None and entry["to"] is not None:
            parties = data(entry["from"], 20), data(entry["to"], 20)
            yield _Frame(None, TransferType.CALL, *parties, quantity(entry["value"]))


def _executed_frames(
    transaction: DecodedTransaction, outermost: Any, calls: _Calls
) -> Iterator[_Frame]:
    of_protocols = [f.protocol_moves(transaction) for f in FORMS if f.protocol_moves]
    makes_all = any(moves.makes_all for moves in of_protocols)
    for call_index, (depth, outer, frame, undone) in enumerate(walk_calls(outermost)):
        if undone:
            continue
        kind = _FRAME_TYPES.get(frame["type"])
        calls.note(depth, outer, frame)
        moves = None
        if kind is None or makes_all:  # hardly any
            moves = next((moves for moves in of_protocols if moves.has(frame, depth)), None)
        if moves:
            value = quantity(frame.get("value") or "0x0")
            parties = data(frame["from"], 20), data(frame["to"], 20)
            if moves.is_transfer(*parties, value):
                yield _Frame(call_index or None, TransferType.CALL, *parties, value)
            continue
        precompile = _PRECOMPILES.get(frame.get("to"))
        if precompile and (moved := precompile(frame, depth == 0)):
            yield _Frame(call_index or None, TransferType.CALL, *moved)
        if kind is TransferType.SELFDESTRUCT:
            if frame.get("to") is None:  # of steps, which do not tell it
                frame = {"from": frame["from"], "to": frame["from"]}
        # Of ten calls nine move nothing, and are not decoded.
        elif kind is None or (depth and kind not in CREATIONS and frame.get("value") in _NOTHING):
            continue
        if kind is TransferType.CALL or frame.get("to") is not None:
            parties = data(frame["from"], 20), data(frame["to"], 20)
            yield _Frame(call_index, kind, *parties, quantity(frame.get("value") or "0x0"))


def _flat_frames(
    block: DecodedBlock, transaction: DecodedTransaction, traces: Sequence[Any], calls: _Calls
) -> Iterator[_Frame]:
    if transaction.status:
        name = traces[0].get("transactionHash") or to_hex(transaction.hash)
        hash_ = _name_in_traces(transaction, name)
        yield from _call_frames(block, transaction, nested(traces, block.hash, hash_), calls)


def _name(traces: Sequence[Any], field: str, hash_: bytes) -> bool:
    """Return whether `field` is the hash in all traces. Texts are compared first, as nearly all
    nodes write a hash in the same way."""
    texts = {trace.get(field) for trace in traces}
    return texts == {to_hex(hash_)} or all(data(text) == hash_ for text in texts)


def _traces_by_path(traces: Sequence[Any]) -> dict[tuple[int, ...], Any]:
    """Return flat traces by their place in the tree. Raises BadHex where they are no tree."""
    by_path = {_path(trace["traceAddress"]): trace for trace in traces}
    parents = {path[:-1] for path in by_path} | {()}
    if len(by_path) != len(traces) or not by_path.keys() >= parents:
        raise BadHex("they are no tree of calls")
    return by_path


def nested(traces: Sequence[Any], block_hash: bytes, transaction_hash: bytes) -> dict[str, Any]:
    """Return the result of trace_transaction in callTracer's format.

    `output` is None where the node does not give what a call returned. Raises BadHex, KeyError,
    TypeError or AttributeError for malformed traces, and for those of another block.
    """
    of_transactions = [trace for trace in traces if trace.get("transactionHash") is not None]
    is_of_block = _name(traces, "blockHash", block_hash)
    if not (is_of_block and _name(of_transactions, "transactionHash", transaction_hash)):
        raise BadHex("the traces are another block's")
    frames = {path: _nested_frame(trace) for path, trace in _traces_by_path(traces).items()}
    for path in sorted(frames):
        if path:
            frames[path[:-1]]["calls"].append(frames[path])
    return frames[()]


def _nested_frame(trace: Any) -> dict[str, Any]:
    action, result, kind = trace["action"], trace.get("result") or {}, trace["type"]
    call_type = action.get("callType")
    moves_value = (call_type or kind) in ("call", "create")
    frame = {
        "type": str(call_type or kind).upper(),
        "from": action.get("from"),
        "to": action.get("to"),
        "value": action["value"] if moves_value else action.get("value"),
        "gas": action.get("gas"),
        "gasUsed": result.get("gasUsed"),
        "input": action.get("input") or action.get("init") or "0x",
        "output": result.get("output"),
        "error": trace.get("error"),
        "calls": [],
    }
    if kind == "create":
        is_create2 = action.get("creationMethod") == "create2"
        frame |= {"type": "CREATE2" if is_create2 else "CREATE"}
        frame["output"] = result.get("code") or result.get("output")
        if {"address", "code"}.isdisjoint(result) and "output" in result:  # Erigon's of a revert
            frame["error"] = trace.get("error") or "Reverted"
        frame |= {"to": None if frame["error"] else result["address"]}
    elif kind in ("suicide", "selfdestruct"):
        parties = {"from": action.get("address"), "to": action.get("refundAddress")}
        frame |= {"type": "SELFDESTRUCT", "value": action.get("balance"), **parties}
    return frame


def _path(steps: Sequence[Any]) -> tuple[int, ...]:
    path = tuple(steps)
    if not {*map(type, path)} <= {int}:
        raise BadHex("a traceAddress has other steps than numbers")
    return path


def _malformed(block: DecodedBlock, error: Exception) -> MalformedBlock:
    fault = f"{type(error).__name__}: {error}"
    return MalformedBlock(f"block {block.number}: its traces are malformed: {fault}")


def _mismatch(block: DecodedBlock) -> MalformedBlock:
    return MalformedBlock(f"block {block.number}: its traces are another block's")
