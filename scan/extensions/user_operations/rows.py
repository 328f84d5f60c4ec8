"""User operations (ERC-4337) in the logs of a block. Pure.

Sources: the events of EntryPoint 0.6 to 0.9, and the order in which handleOps() emits them. Any
contract may emit the same events, so only those of the canonical entry points count.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, NamedTuple

from scan.ethereum import blocks, column_types, sparse_tables
from scan.ethereum.forms.form import PLACE_BITS
from scan.ethereum.rlp_and_tries import keccak256
from scan.indexer.hooks import Rows

# The canonical deployments, which have the same address on every chain, and their versions.
ENTRY_POINTS = {
    bytes.fromhex("5ff137d4b0fdcd49dca30c7cf57e578a026d2789"): "0.6",
    bytes.fromhex("0000000071727de22e5e9d8baf0edac6f37da032"): "0.7",
    bytes.fromhex("4337084d9e255ff0702461cf8895ce9e3b5ff108"): "0.8",
    bytes.fromhex("433709009b8330fda32311df1c2afa402ed8d009"): "0.9",
}
VERSIONS = tuple(ENTRY_POINTS.values())
MAX_REVERT_BYTES = 2048  # the most that the entry points emit
_OPERATION = keccak256(b"UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)")
_DEPLOYED = keccak256(b"AccountDeployed(bytes32,address,address,address)")
_REVERTS = {
    keccak256(b"UserOperationRevertReason(bytes32,address,uint256,bytes)"),
    keccak256(b"PostOpRevertReason(bytes32,address,uint256,bytes)"),
}
# Events right before the first operation of a bundle, or of an aggregator, is executed.
_BEFORE_OPERATIONS = {
    keccak256(b"BeforeExecution()"),
    keccak256(b"SignatureAggregatorChanged(address)"),
}
_ADDRESS_PADDING = bytes(12)


class UserOperation(NamedTuple):
    """A user operation that was executed; a row of the table user_operations."""

    ordinal: Annotated[int, column_types.Column(column_types.BIGINT, column_types.COMPUTED)]
    block_number: Annotated[int, column_types.Column(column_types.BIGINT, column_types.COMPUTED)]
    transaction_index: Annotated[
        int, column_types.Column(column_types.INTEGER, column_types.PROVEN)
    ]
    # Of its UserOperationEvent, the last of its logs.
    log_index: Annotated[int, column_types.Column(column_types.INTEGER, column_types.PROVEN)]
    first_log_index: Annotated[
        int | None, column_types.Column(column_types.INTEGER, column_types.COMPUTED)
    ]  # of its execution
    # Unique only as far as the entry point makes it so.
    hash: Annotated[bytes, column_types.Column(column_types.HASH, column_types.PROVEN)]
    entry_point: Annotated[bytes, column_types.Column(column_types.ADDRESS, column_types.PROVEN)]
    sender: Annotated[bytes, column_types.Column(column_types.ADDRESS, column_types.PROVEN)]
    paymaster: Annotated[
        bytes | None, column_types.Column(column_types.ADDRESS, column_types.PROVEN)
    ]
    bundler: Annotated[
        bytes, column_types.Column(column_types.ADDRESS, column_types.COMPUTED)
    ]  # the transaction's sender
    nonce: Annotated[int, column_types.Column(column_types.UINT256, column_types.PROVEN)]
    success: Annotated[bool, column_types.Column(column_types.BOOLEAN, column_types.PROVEN)]
    fee: Annotated[
        int, column_types.Column(column_types.UINT256, column_types.PROVEN)
    ]  # actualGasCost, in wei
    gas_used: Annotated[int, column_types.Column(column_types.UINT256, column_types.PROVEN)]
    # Of an account that was deployed for it.
    factory: Annotated[bytes | None, column_types.Column(column_types.ADDRESS, column_types.PROVEN)]
    revert_data: Annotated[
        bytes | None, column_types.Column(column_types.BYTES, column_types.PROVEN)
    ]


class _Bundle:
    """Values that an entry point has emitted in a transaction for operations whose own event is
    still to come."""

    def __init__(self) -> None:
        self.first_log_index: int | None = None
        self.factories: dict[bytes, bytes] = {}
        self.revert_data: dict[bytes, bytes] = {}


def user_operations(block: blocks.DecodedBlock) -> Iterator[UserOperation]:
    """Yield the operations of a block in the order of their events, as many as have ordinals."""
    return islice(_operations(block), 1 << PLACE_BITS)


def _operations(block: blocks.DecodedBlock) -> Iterator[UserOperation]:
    bundles: dict[tuple[int, bytes], _Bundle] = {}
    ordinal = block.number << PLACE_BITS
    for log in block.logs:
        if log.address not in ENTRY_POINTS or not log.topics:
            continue
        bundle = bundles.setdefault((log.transaction_index, log.address), _Bundle())
        if log.topics[0] in _BEFORE_OPERATIONS:
            bundle.first_log_index = log.log_index + 1
        elif len(log.topics) == 3 and len(log.data) >= 64:
            if log.topics[0] == _DEPLOYED and log.data.startswith(_ADDRESS_PADDING):
                bundle.factories[log.topics[1]] = log.data[12:32]
            elif log.topics[0] in _REVERTS:
                bundle.revert_data.setdefault(log.topics[1], _revert_data(log.data))
        elif _is_operation(log):
            bundler = block.transactions[log.transaction_index].from_address
            yield _operation(log, bundle, ordinal, block.number, bundler)
            bundle.first_log_index = log.log_index + 1
            ordinal += 1


def _is_operation(log: blocks.EventLog) -> bool:
    return (
        len(log.topics) == 4
        and log.topics[0] == _OPERATION
        and len(log.data) >= 128
        and all(topic.startswith(_ADDRESS_PADDING) for topic in log.topics[2:])
    )


def _operation(
    log: blocks.EventLog, bundle: _Bundle, ordinal: int, block_number: int, bundler: bytes
) -> UserOperation:
    _, hash_, sender, paymaster = log.topics
    nonce, success, fee, gas_used = (
        int.from_bytes(log.data[at : at + 32]) for at in range(0, 128, 32)
    )
    return UserOperation(
        ordinal=ordinal,
        block_number=block_number,
        transaction_index=log.transaction_index,
        log_index=log.log_index,
        first_log_index=bundle.first_log_index,
        hash=hash_,
        entry_point=log.address,
        sender=sender[12:],
        paymaster=paymaster[12:] if any(paymaster) else None,
        bundler=bundler,
        nonce=nonce,
        success=success != 0,
        fee=fee,
        gas_used=gas_used,
        factory=bundle.factories.pop(hash_, None),
        revert_data=bundle.revert_data.pop(hash_, None),
    )


def _revert_data(data: bytes) -> bytes:
    """Return the revert data in an event's data, after the nonce, as far as it is there."""
    start = int.from_bytes(data[32:64])
    length = int.from_bytes(data[start : start + 32])
    return data[start + 32 : start + 32 + min(length, MAX_REVERT_BYTES)]


HOOKS = Rows(
    tables={
        "user_operations": sparse_tables.SparseTable(
            UserOperation, lambda block, _: user_operations(block), emitters=ENTRY_POINTS
        )
    }
)
