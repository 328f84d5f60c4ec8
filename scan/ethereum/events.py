"""Token transfers and trades in logs: shapes of events, and their meaning by token type. Pure.

Sources: EIP-20, EIP-721, EIP-1155; WETH9; Swap of Uniswap V2 and V3 and of PancakeSwap V3.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from eth_hash.auto import keccak

from scan.ethereum.blocks import DecodedTransaction, EventLog
from scan.ethereum.token_metadata import TokenMetadata, word

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
# The events of tokens of each type, by which a token that does not say its type stays of it.
SHAPES = {"BEP20": TransferShape.AMOUNT, "BEP721": TransferShape.ID, "BEP1155": TransferShape.MULTI}


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
    shape: TransferShape, words: Sequence[tuple[int, int]], token_type: str, *, has_items: bool
) -> Sequence[tuple[int, int | None]]:
    """Return (value, token id) for each moved id. An event that is not of the token's standard
    moves nothing: beside one that is, it would count twice. A BEP20 with items (ERC-404) has both
    amounts and ids, which the shape tells apart."""
    if (token_type == "BEP1155") != (shape is TransferShape.MULTI):
        return ()
    if token_type == "BEP1155":
        return [(amount, word) for word, amount in words]
    if token_type == "BEP721" or (has_items and shape is TransferShape.ID):
        return [(1, word) for word, _ in words]
    return [(amount, None) for _, amount in words]


def transfers(event: TransferEvent, token_type: str, *, has_items: bool) -> Iterator[Transfer]:
    """Yield one record per moved id."""
    moved = amounts(event.shape, event.words, token_type, has_items=has_items)
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


class WrapClaim(NamedTuple):
    """What a Deposit or Withdrawal claims, if it is itself a mint or burn: that its party's balance
    changed in the block by what Transfers moved and what such events wrapped together."""

    party: bytes
    moved: int
    wrapped: int
    is_paid: bool  # its transaction brought the contract that much coin, and nothing else moved


def wrap_claims(
    events: Sequence[TransferEvent], transactions: Sequence[DecodedTransaction]
) -> dict[int, WrapClaim]:
    """Return what the Deposits and Withdrawals of a block claim, by log index."""
    wraps = [event for event in events if event.shape in WRAPPING]
    tokens = {event.token for event in wraps}
    sums: dict[tuple[bytes, bytes], list[int]] = defaultdict(lambda: [0, 0])
    for event in events if tokens else ():
        if event.token in tokens and event.shape not in (TransferShape.ID, TransferShape.MULTI):
            is_wrap, (_, value) = event.shape in WRAPPING, event.words[0]
            sums[event.token, event.to_address][is_wrap] += value
            sums[event.token, event.from_address][is_wrap] -= value
    claims = {}
    for event in wraps:
        is_mint = event.shape is TransferShape.WRAP
        party = event.to_address if is_mint else event.from_address
        moved, wrapped = sums[event.token, party]
        paid = transactions[event.transaction_index]
        is_paid = is_mint and (paid.to_address, paid.value) == (event.token, event.words[0][1])
        claims[event.log_index] = WrapClaim(party, moved, wrapped, is_paid and not moved)
    return claims


def is_wrapped(claim: WrapClaim, balances: Sequence[bytes | None]) -> bool:
    """Return whether the claim is true by the balances before and after, or where a balance is not
    known by what its transaction paid."""
    before, after = balances
    if before is None or after is None:
        return claim.is_paid
    change = (word(after) or 0) - (word(before) or 0)
    return claim.wrapped != 0 and change == claim.moved + claim.wrapped


def token_type(shape: TransferShape, metadata: TokenMetadata) -> str:
    """Return the token's type by EIP-165 if that is unambiguous, or else by the functions that it
    has and its first event. Who counts whole units in decimals and has items, too, is a BEP20 that
    has items (ERC-404), whose supply tells it from items with decimals."""
    counts_units = metadata.is_fungible and metadata.decimals > 0
    is_large = (metadata.total_supply or 0) >= 10**metadata.decimals
    may_be_both = metadata.interface is None or (metadata.interface == "BEP721" and is_large)
    if counts_units and metadata.has_items and may_be_both:
        return "BEP20"
    if metadata.interface is not None:
        return metadata.interface
    if shape is TransferShape.MULTI or (metadata.has_amounts_of_ids and not metadata.is_fungible):
        return "BEP1155"
    if shape is TransferShape.ID and not (metadata.has_decimals and not metadata.has_items):
        return "BEP721"
    return "BEP721" if shape is TransferShape.PACKED and not metadata.has_decimals else "BEP20"


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
