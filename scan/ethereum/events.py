"""Token transfers and trades in logs: shapes of events, and their meaning by token type. Pure.

Sources: EIP-20, EIP-721, EIP-1155; WETH9; Swap of Uniswap V2 and V3 and of PancakeSwap V3.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from eth_hash.auto import keccak

from scan.ethereum.blocks import EventLog

ZERO_ADDRESS = bytes(20)
_DIRTY = bytes(12)


def _topic(signature: str) -> bytes:
    return keccak(signature.encode())


TRANSFER = _topic("Transfer(address,address,uint256)")
TRANSFER_SINGLE = _topic("TransferSingle(address,address,address,uint256,uint256)")
TRANSFER_BATCH = _topic("TransferBatch(address,address,address,uint256[],uint256[])")
DEPOSIT = _topic("Deposit(address,uint256)")
WITHDRAWAL = _topic("Withdrawal(address,uint256)")
SWAP_V2 = _topic("Swap(address,uint256,uint256,uint256,uint256,address)")
SWAP_V3 = _topic("Swap(address,address,int256,int256,uint160,uint128,int24)")
SWAP_PANCAKE_V3 = _topic(
    "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)"
)
# After these the code that answers for their contract may be another, or what it answers:
# EIP-1967, EIP-2535, OpenZeppelin's Initializable.
CHANGES = frozenset(
    map(
        _topic,
        (
            "Upgraded(address)",
            "BeaconUpgraded(address)",
            "AdminChanged(address,address)",
            "DiamondCut((address,uint8,bytes4[])[],address,bytes)",
            "Initialized(uint8)",
            "Initialized(uint64)",
        ),
    )
)


class TransferShape(Enum):
    """The form of a transfer event: which words are in topics and which in data."""

    AMOUNT = "amount"  # Transfer with three topics
    ID = "id"  # Transfer with four topics
    PACKED = "packed"  # Transfer with everything in data
    MULTI = "multi"  # TransferSingle, TransferBatch
    WRAP = "wrap"  # Deposit
    UNWRAP = "unwrap"  # Withdrawal


WRAPPING = (TransferShape.WRAP, TransferShape.UNWRAP)


class TransferEvent(NamedTuple):
    shape: TransferShape
    transaction_index: int
    log_index: int
    token: bytes
    from_address: bytes
    to_address: bytes
    words: tuple[tuple[int, int], ...]  # (id, value) pairs; a Transfer's third word is both


class Transfer(NamedTuple):
    transaction_index: int
    log_index: int
    batch_index: int
    token: bytes
    from_address: bytes
    to_address: bytes
    value: int
    token_id: int | None


class SwapEvent(NamedTuple):
    """A swap of a pool. A positive amount came into the pool, a negative one went out."""

    family: str
    transaction_index: int
    log_index: int
    pool: bytes
    amount0: int
    amount1: int


def transfer_event(log: EventLog) -> TransferEvent | None:
    """Return the transfer that a log has the form of, or None. Whether the emitter is a token is
    not known here."""
    if not log.topics:
        return None
    reader = _READERS.get(log.topics[0])
    movement = reader(log.topics, log.data) if reader else None
    if movement is None:
        return None
    shape, from_address, to_address, words = movement
    return TransferEvent(
        shape, log.transaction_index, log.log_index, log.address, from_address, to_address, words
    )


_Movement = tuple[TransferShape, bytes, bytes, tuple[tuple[int, int], ...]] | None


def _read_transfer(topics: Sequence[bytes], data: bytes) -> _Movement:
    if len(topics) == 3 and len(data) >= 32:
        shape, parties, word = TransferShape.AMOUNT, topics[1:], data[:32]
    elif len(topics) == 4 and not data:
        shape, parties, word = TransferShape.ID, topics[1:3], topics[3]
    elif len(topics) == 1 and len(data) == 96:
        shape, parties, word = TransferShape.PACKED, (data[:32], data[32:64]), data[64:]
    else:
        return None
    value = int.from_bytes(word)
    return _between(shape, parties[0], parties[1], ((value, value),))


def _read_transfer_single(topics: Sequence[bytes], data: bytes) -> _Movement:
    if len(topics) != 4 or len(data) < 64:
        return None
    entry = (int.from_bytes(data[:32]), int.from_bytes(data[32:64]))
    return _between(TransferShape.MULTI, topics[2], topics[3], (entry,))


def _read_transfer_batch(topics: Sequence[bytes], data: bytes) -> _Movement:
    if len(topics) != 4:
        return None
    ids, values = _uint256_array(data, 0), _uint256_array(data, 32)
    if ids is None or values is None or len(ids) != len(values):
        return None
    return _between(TransferShape.MULTI, topics[2], topics[3], tuple(zip(ids, values, strict=True)))


def _uint256_array(data: bytes, head: int) -> list[int] | None:
    """Return the dynamic array whose offset stands at `head`; None where the data does not hold
    it."""
    start = int.from_bytes(data[head : head + 32])
    if len(data) < head + 32 or start + 32 > len(data):
        return None
    count = int.from_bytes(data[start : start + 32])
    if count > (len(data) - start - 32) // 32:
        return None
    first = start + 32
    return [int.from_bytes(data[at : at + 32]) for at in range(first, first + 32 * count, 32)]


def _read_deposit(topics: Sequence[bytes], data: bytes) -> _Movement:
    if len(topics) != 2 or len(data) != 32:
        return None
    value = int.from_bytes(data)
    return _between(TransferShape.WRAP, bytes(32), topics[1], ((value, value),))


def _read_withdrawal(topics: Sequence[bytes], data: bytes) -> _Movement:
    if len(topics) != 2 or len(data) != 32:
        return None
    value = int.from_bytes(data)
    return _between(TransferShape.UNWRAP, topics[1], bytes(32), ((value, value),))


def _between(
    shape: TransferShape, sender: bytes, recipient: bytes, words: tuple[tuple[int, int], ...]
) -> _Movement:
    """Return the movement; None where sender or recipient is no address, padded with 12 zeros."""
    if not sender.startswith(_DIRTY) or not recipient.startswith(_DIRTY):
        return None
    return shape, sender[12:], recipient[12:], words


_READERS = {
    TRANSFER: _read_transfer,
    TRANSFER_SINGLE: _read_transfer_single,
    TRANSFER_BATCH: _read_transfer_batch,
    DEPOSIT: _read_deposit,
    WITHDRAWAL: _read_withdrawal,
}


def amounts(
    shape: TransferShape, words: Sequence[tuple[int, int]], token_type: str
) -> Sequence[tuple[int, int | None]]:
    """Return (value, token id) for each moved id. The token's type decides whether the third word
    is an amount or an id."""
    if token_type == "BEP721" or (token_type == "BEP1155" and shape is TransferShape.ID):
        return [(1, word) for word, _ in words]
    if token_type == "BEP1155" and shape is TransferShape.MULTI:
        return [(amount, word) for word, amount in words]
    return [(amount, None) for _, amount in words]


def transfers(event: TransferEvent, token_type: str) -> Iterator[Transfer]:
    """Yield one record per moved id."""
    moved = amounts(event.shape, event.words, token_type)
    for batch_index, (value, token_id) in enumerate(moved):
        yield Transfer(
            event.transaction_index,
            event.log_index,
            batch_index,
            event.token,
            event.from_address,
            event.to_address,
            value,
            token_id,
        )


def duplicate_wraps(events: Sequence[TransferEvent]) -> set[int]:
    """Return the log indexes of a block's Deposits and Withdrawals that repeat the mint or burn of
    a Transfer.

    Each Transfer matches at most one of them: a transaction may mint the same value twice.
    """
    unmatched = Counter(_movement(event) for event in events if event.shape not in WRAPPING)
    duplicates = set()
    for event in events:
        if event.shape in WRAPPING and unmatched[_movement(event)] > 0:
            unmatched[_movement(event)] -= 1
            duplicates.add(event.log_index)
    return duplicates


def _movement(event: TransferEvent) -> tuple[object, ...]:
    parties = (event.from_address, event.to_address)
    return event.transaction_index, event.token, *parties, event.words


def swap_event(log: EventLog) -> SwapEvent | None:
    """Return the swap that a log has the form of, or None."""
    if len(log.topics) != 3:
        return None
    topic, data = log.topics[0], log.data
    if topic == SWAP_V2 and len(data) == 128:
        in0, in1, out0, out1 = (int.from_bytes(data[at : at + 32]) for at in range(0, 128, 32))
        family, amount0, amount1 = "v2", in0 - out0, in1 - out1
    elif (topic == SWAP_V3 and len(data) == 160) or (topic == SWAP_PANCAKE_V3 and len(data) == 224):
        family = "v3"
        amount0 = int.from_bytes(data[:32], signed=True)
        amount1 = int.from_bytes(data[32:64], signed=True)
    else:
        return None
    return SwapEvent(family, log.transaction_index, log.log_index, log.address, amount0, amount1)


class Trade(NamedTuple):
    token_in: bytes
    token_out: bytes
    amount_in: int
    amount_out: int


def trade(swap: SwapEvent, token0: bytes, token1: bytes) -> Trade:
    """Return the token that went into the pool and the token that came out, with net amounts that
    are never negative."""
    if swap.amount0 > 0 or (swap.amount0 == 0 and swap.amount1 <= 0):
        return Trade(token0, token1, max(swap.amount0, 0), max(-swap.amount1, 0))
    return Trade(token1, token0, max(swap.amount1, 0), max(-swap.amount0, 0))
