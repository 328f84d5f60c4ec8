"""User operations (ERC-4337) in the calldata of bundles, and the calls that accounts make by them.

Pure. Sources: IEntryPoint.sol of the versions 0.6 to 0.9; ERC-7579; the functions by which widely
used accounts make calls: SimpleAccount, Safe4337Module, Kernel, Coinbase's and Biconomy's accounts.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from scan.contracts import abi

MAX_CALLS = 25  # shown of an operation
# Bounds above what a block has room for: offsets may lead to the same bytes again and again.
_decode = partial(abi.decode, most_values=20_000, most_bytes=1024 * 1024)
_EXECUTE_USER_OP = abi.selector(
    "executeUserOp((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes),bytes32)"
)
_UNPACKED = (
    "(address sender, uint256 nonce, bytes initCode, bytes callData, uint256 callGasLimit,"
    " uint256 verificationGasLimit, uint256 preVerificationGas, uint256 maxFeePerGas,"
    " uint256 maxPriorityFeePerGas, bytes paymasterAndData, bytes signature)"
)
_PACKED = (
    "(address sender, uint256 nonce, bytes initCode, bytes callData, bytes32 accountGasLimits,"
    " uint256 preVerificationGas, bytes32 gasFees, bytes paymasterAndData, bytes signature)"
)


class BundledOperation(NamedTuple):
    """A user operation as its account signed it."""

    sender: bytes
    nonce: int
    init_code: bytes
    call_data: bytes
    call_gas_limit: int
    verification_gas_limit: int
    pre_verification_gas: int
    max_fee_per_gas: int
    max_priority_fee_per_gas: int
    paymaster_and_data: bytes
    signature: bytes


class AccountCall(NamedTuple):
    """A call that an account makes for an operation."""

    to: bytes
    value: int
    input: bytes
    is_delegated: bool = False  # by DELEGATECALL, so the code runs as the account


Calls = list[AccountCall]


def bundled_operations(calldata: bytes) -> list[BundledOperation]:
    """Return the operations in the calldata of handleOps() or handleAggregatedOps(); [] for any
    other call."""
    if calldata[:4] not in _BUNDLES:
        return []
    _, types, read = _BUNDLES[calldata[:4]]
    try:
        bundle, _ = _decode(types, calldata[4:])
    except abi.AbiError:
        return []
    return read(bundle)


def account_calls(sender: bytes, call_data: bytes) -> Calls:
    """Return the calls of an operation; where the account's function is unknown, the call of the
    account itself; [] where the operation only deploys its account."""
    call = without_prefix(call_data)
    if call[:4] in _EXECUTIONS:
        _, types, read = _EXECUTIONS[call[:4]]
        try:
            return read(*_decode(types, call[4:]))
        except (abi.AbiError, ValueError):
            pass
    return [AccountCall(sender, 0, call_data)] if call_data else []


def without_prefix(call_data: bytes) -> bytes:
    """Return the account's own call, which may follow the selector of executeUserOp()."""
    return call_data[4:] if call_data.startswith(_EXECUTE_USER_OP) else call_data


def _unpacked(operations: Sequence[Any]) -> list[BundledOperation]:
    return [BundledOperation(*operation) for operation in operations]


def _packed(operations: Sequence[Any]) -> list[BundledOperation]:
    """Read packed operations, in which gas limits and fees are pairs of 16 bytes. The call's gas
    limit and the highest fee are the last of their pairs."""
    return [
        BundledOperation._make((*call, *_pair(limits), gas, *_pair(fees), paymaster, signature))
        for *call, limits, gas, fees, paymaster, signature in operations
    ]


def _pair(word: bytes) -> tuple[int, int]:
    """Return the last and the first integer of a word."""
    return int.from_bytes(word[16:]), int.from_bytes(word[:16])


_Read = Callable[..., list[Any]]


def _aggregated(read: _Read) -> _Read:
    return lambda bundles: [operation for packed, *_ in bundles for operation in read(packed)]


# By the function's signature, what reads the operations in its arguments.
BUNDLES: dict[str, _Read] = {
    f"handleOps({_UNPACKED}[],address)": _unpacked,
    f"handleOps({_PACKED}[],address)": _packed,
    f"handleAggregatedOps(({_UNPACKED}[],address,bytes)[],address)": _aggregated(_unpacked),
    f"handleAggregatedOps(({_PACKED}[],address,bytes)[],address)": _aggregated(_packed),
}
_BUNDLES = abi.by_selector(BUNDLES)


def _one(to: bytes, value: int, data: bytes, operation: int = 0) -> Calls:
    return [AccountCall(to, value, data, is_delegated=operation == 1)]


def _several(calls: Sequence[tuple[bytes, int, bytes]]) -> Calls:
    return [AccountCall(*call) for call in calls]


def _lists(targets: Sequence[bytes], values: Sequence[int], inputs: Sequence[bytes]) -> Calls:
    """Return one call for each target. Raises ValueError where the lists differ in length: accounts
    revert then."""
    return _several([*zip(targets, values or [0] * len(targets), inputs, strict=True)])


def _mode_calls(mode: bytes, data: bytes) -> Calls:
    """Decode the calls of ERC-7579's execute. The first byte of the mode tells a single call, a
    batch and a delegated call apart. Raises ValueError for other modes."""
    if mode[0] == 1:
        return _several(*_decode(abi.parse_types([_CALLS]), data))
    if mode[0] == 0 and len(data) >= 52:
        return _one(data[:20], int.from_bytes(data[20:52]), data[52:])
    if mode[0] == 0xFF and len(data) >= 20:
        return _one(data[:20], 0, data[20:], 1)
    raise ValueError("the mode is not known")


[_CALLS] = abi.parse_signature("f((address,uint256,bytes)[] calls)")["inputs"]
# By the signature of an account's function, what reads the calls in its arguments.
EXECUTIONS: dict[str, _Read] = {
    "execute(address,uint256,bytes)": _one,
    "execute(address,uint256,bytes,uint8)": _one,
    "execute_ncC(address,uint256,bytes)": _one,
    "executeUserOp(address,uint256,bytes,uint8)": _one,
    "executeUserOpWithErrorString(address,uint256,bytes,uint8)": _one,
    "executeBatch(address[],bytes[])": lambda targets, inputs: _lists(targets, (), inputs),
    "executeBatch(address[],uint256[],bytes[])": _lists,
    "executeBatch_y6U(address[],uint256[],bytes[])": _lists,
    "executeBatch((address,uint256,bytes)[])": _several,
    "execute(bytes32,bytes)": _mode_calls,
}
_EXECUTIONS = abi.by_selector(EXECUTIONS)
