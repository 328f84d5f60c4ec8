"""Calls in the arguments of a call: multicalls, Safe accounts, timelocks, and those of extensions.

Pure. Sources: Multicall3; Uniswap's Multicall and MulticallExtended; Safe.sol, MultiSend.sol;
OpenZeppelin's TimelockController and Governor.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from scan import registry
from scan.contracts import abi, abi_decoding
from scan.extensions.decoder.hooks import Decoder

MOST_VALUES = 20_000
# Operation, address, value and size of a packed transaction.
PACKED_HEAD_BYTES = 1 + 20 + 2 * abi.WORD


class NestedCall(NamedTuple):
    """A call in the arguments of another one. `to` is None where it is the contract that has the
    arguments, or unknown. `is_by_other`: another contract may make it than has the arguments."""

    to: bytes | None
    value: int
    input: bytes
    is_delegated: bool = False  # by DELEGATECALL, so the code runs as the caller
    is_by_other: bool = False


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


def _proposed(*lists: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
    """Return the calls of a proposal, which the governor or its timelock makes."""
    return [(*call, False, True) for call in _lists(*lists)]


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
    "propose(address[] targets, uint256[] values, bytes[] calldatas, string description)": (
        _proposed
    ),
}
