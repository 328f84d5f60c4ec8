"""Token transfers and trades in logs: shapes of events, and their meaning by token type. Pure.

Sources: ERC-20, 721, 1155, 2309, 6909, 404; WETH9; Uniswap 2 to 4, PancakeSwap 3, Velodrome 2."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from scan.ethereum.blocks import DecodedTransaction, EventLog
from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.sparse_tables import InternalTransfer
from scan.ethereum.token_metadata import ItemClaim, TokenMetadata, word

ZERO_ADDRESS = bytes(20)
_DIRTY = bytes(12)


def _topic(signature: str) -> bytes:
    return keccak256(signature.encode())


TRANSFER = _topic("Transfer(address,address,uint256)")
TRANSFER_SINGLE = _topic("TransferSingle(address,address,address,uint256,uint256)")
TRANSFER_BATCH = _topic("TransferBatch(address,address,address,uint256[],uint256[])")
TRANSFER_OF_ID = _topic("Transfer(address,address,address,uint256,uint256)")  # ERC-6909
CONSECUTIVE_TRANSFER = _topic("ConsecutiveTransfer(uint256,uint256,address,address)")  # ERC-2309
DEPOSIT = _topic("Deposit(address,uint256)")
WITHDRAWAL = _topic("Withdrawal(address,uint256)")
ERC20_TRANSFER = _topic("ERC20Transfer(address,address,uint256)")  # ERC-404
ERC721_TRANSFER = _topic("ERC721Transfer(address,address,uint256)")  # ERC-404
SWAP_V2 = _topic("Swap(address,uint256,uint256,uint256,uint256,address)")
SWAP_V3 = _topic("Swap(address,address,int256,int256,uint160,uint128,int24)")
SWAP_PANCAKE_V3 = _topic(
    "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)"
)
SWAP_VELODROME = _topic("Swap(address,address,uint256,uint256,uint256,uint256)")
SWAP_V4 = _topic("Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)")
_TRANSFERS = {TRANSFER, TRANSFER_SINGLE, TRANSFER_BATCH, TRANSFER_OF_ID, CONSECUTIVE_TRANSFER}
_TRANSFERS |= {DEPOSIT, WITHDRAWAL, ERC20_TRANSFER, ERC721_TRANSFER}
_SWAPS = frozenset((SWAP_V2, SWAP_V3, SWAP_PANCAKE_V3, SWAP_VELODROME, SWAP_V4))
INITIALIZE_V4 = _topic("Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)")
# A block's ConsecutiveTransfers are read item by item up to so many items. The ids of a range are
# free for who emits it: a block could have 140 million.
MAX_CONSECUTIVE = 50_000
# After these the code that answers for their contract may be another, or what it answers:
# EIP-1967, EIP-2535, OpenZeppelin's Initializable.
UPGRADED = _topic("Upgraded(address)")
BEACON_UPGRADED = _topic("BeaconUpgraded(address)")
_CHANGES = """
    Upgraded(address) BeaconUpgraded(address) AdminChanged(address,address)
    DiamondCut((address,uint8,bytes4[])[],address,bytes) Initialized(uint8) Initialized(uint64)
"""
CHANGES = frozenset(map(_topic, _CHANGES.split()))


class TransferShape(Enum):
    """The form of a transfer event: which words are in topics and which in data."""

    __hash__ = object.__hash__  # Enum's own is a call of Python

    AMOUNT = "amount"  # Transfer with three topics
    ID = "id"  # Transfer with four topics
    PACKED = "packed"  # Transfer with everything in data, or all but the sender
    MULTI = "multi"  # TransferSingle, TransferBatch
    OF_ID = "of id"  # Transfer of ERC-6909
    ITEMS = "items"  # ConsecutiveTransfer
    RANGE = "range"  # ConsecutiveTransfer with more than MAX_CONSECUTIVE: (first id, number of ids)
    WRAP = "wrap"  # Deposit
    UNWRAP = "unwrap"  # Withdrawal
    FACE_AMOUNT = "face amount"  # ERC20Transfer
    FACE_ID = "face id"  # ERC721Transfer


WRAPPING = (TransferShape.WRAP, TransferShape.UNWRAP)
# Events of a face, which other contracts have, too, and the Transfer that may repeat them.
_FACES = TransferShape.FACE_AMOUNT, TransferShape.FACE_ID
OF_FACES = dict(zip(_FACES, (TransferShape.AMOUNT, TransferShape.ID), strict=True))
CLAIMS = (*WRAPPING, *_FACES)  # of tokens where what the contract answers confirms them
WITH_AMOUNTS = {TransferShape.MULTI: "BEP1155", TransferShape.OF_ID: "BEP6909"}  # of ids
OF_A_WORD = TransferShape.AMOUNT, TransferShape.ID, TransferShape.PACKED  # amount or id
OF_ITEMS = (TransferShape.ID, TransferShape.FACE_ID, TransferShape.ITEMS, TransferShape.RANGE)
# The events of tokens of each type, by which a token that does not say its type stays of it.
SHAPES = {
    "BEP20": TransferShape.AMOUNT,
    "BEP721": TransferShape.ID,
    "BEP1155": TransferShape.MULTI,
    "BEP6909": TransferShape.OF_ID,
}


Words = tuple[tuple[int, int], ...]  # (id, value) pairs; a Transfer's third word is both


class TransferEvent(NamedTuple):
    shape: TransferShape
    transaction_index: int
    log_index: int
    token: bytes
    from_address: bytes
    to_address: bytes
    words: Words


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
    """A swap of a pool. A positive amount came into the pool, a negative one went out. A pool that
    is no contract (v4) is named by the address of its manager and its id."""

    family: str
    transaction_index: int
    log_index: int
    pool: bytes
    amount0: int
    amount1: int


class PoolEvent(NamedTuple):
    """The beginning of a pool, named as in SwapEvent, by its manager."""

    pool: bytes
    token0: bytes  # zero: the coin
    token1: bytes

    @property
    def manager(self) -> bytes:
        return self.pool[:20]


def pool_event(log: EventLog) -> PoolEvent | None:
    """Return the pool that a log begins, or None. Its id is the hash of what defines it."""
    topics, data = log.topics, log.data
    if len(topics) != 4 or topics[0] != INITIALIZE_V4 or len(data) != 160:
        return None
    has_addresses = topics[2].startswith(_DIRTY) and topics[3].startswith(_DIRTY)
    if not has_addresses or keccak256(topics[2] + topics[3] + data[:96]) != topics[1]:
        return None
    return PoolEvent(log.address + topics[1], topics[2][12:], topics[3][12:])


def transfer_event(log: EventLog) -> TransferEvent | None:
    """Return the transfer that a log has the form of, or None: also where sender or recipient is no
    address, padded with 12 zeros, or nothing moves, as in a batch of no ids. Whether the emitter is
    a token is not known here."""
    topics, data = log.topics, log.data
    if not topics or topics[0] not in _TRANSFERS:
        return None
    topic, form = topics[0], (len(topics), len(data))
    parties: Sequence[bytes]
    words: Words
    if topic == TRANSFER:
        if form[0] == 3 and form[1] >= 32:
            shape, parties, value = TransferShape.AMOUNT, topics[1:], data[:32]
        elif form == (4, 0):
            shape, parties, value = TransferShape.ID, topics[1:3], topics[3]
        elif form in ((1, 96), (2, 64)):
            shape = TransferShape.PACKED
            *parties, value = (*topics[1:], data[:32], data[32:64], data[64:])[:3]
        else:
            return None
        words = ((int.from_bytes(value), int.from_bytes(value)),)
    elif (topic, *form) in ((ERC20_TRANSFER, 3, 32), (ERC721_TRANSFER, 4, 0)):
        shape = TransferShape.FACE_ID if topic == ERC721_TRANSFER else TransferShape.FACE_AMOUNT
        parties, word_ = topics[1:3], int.from_bytes((*topics[3:], data)[0])
        words = ((word_, word_),)
    elif topic == TRANSFER_SINGLE and form[0] == 4 and form[1] >= 64:
        shape, parties = TransferShape.MULTI, topics[2:]
        words = ((int.from_bytes(data[:32]), int.from_bytes(data[32:64])),)
    elif topic == TRANSFER_BATCH and form[0] == 4:
        shape, parties = TransferShape.MULTI, topics[2:]
        ids, values = _uint256_array(data, 0), _uint256_array(data, 32)
        if not ids or values is None or len(ids) != len(values):
            return None
        words = tuple(zip(ids, values, strict=True))
    elif topic == TRANSFER_OF_ID and form == (4, 64) and data.startswith(_DIRTY):
        shape, parties = TransferShape.OF_ID, topics[1:3]
        words = ((int.from_bytes(topics[3]), int.from_bytes(data[32:])),)
    elif topic == CONSECUTIVE_TRANSFER and form == (4, 32):
        shape, parties = TransferShape.RANGE, topics[2:]
        first, last = int.from_bytes(topics[1]), int.from_bytes(data)
        words = ((first, last - first + 1),)
        if not 0 < last - first + 1 < 2**256:  # of which no balance could tell
            return None
    elif topic in (DEPOSIT, WITHDRAWAL) and form == (2, 32):
        shape = TransferShape.WRAP if topic == DEPOSIT else TransferShape.UNWRAP
        parties = (bytes(32), topics[1]) if topic == DEPOSIT else (topics[1], bytes(32))
        words = ((int.from_bytes(data), int.from_bytes(data)),)
    else:
        return None
    sender, recipient = parties
    if not sender.startswith(_DIRTY) or not recipient.startswith(_DIRTY):
        return None
    return TransferEvent(
        shape, log.transaction_index, log.log_index, log.address, sender[12:], recipient[12:], words
    )


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


def item_by_item(events: Sequence[TransferEvent]) -> list[TransferEvent]:
    """Return a block's events without those of a face that repeat a Transfer of their transaction,
    ConsecutiveTransfers with an entry for each item as long as these are at most MAX_CONSECUTIVE
    together, from the smallest: a large one takes no other's place."""
    read, remaining = list(events), MAX_CONSECUTIVE
    if any(event.shape in _FACES for event in events):
        moves = {(event.shape, event.transaction_index, *event[3:]) for event in events}
        read = [e for e in read if (OF_FACES.get(e.shape), e[1], *e[3:]) not in moves]
    ranges = [n for n, event in enumerate(read) if event.shape is TransferShape.RANGE]
    for number in sorted(ranges, key=lambda n: read[n].words[0][1]):
        [(first, count)] = read[number].words
        remaining -= count
        if remaining >= 0:
            ids = tuple((id_, id_) for id_ in range(first, first + count))
            read[number] = read[number]._replace(shape=TransferShape.ITEMS, words=ids)
    return read


def amounts(
    shape: TransferShape, to: bytes, words: Words, token_type: str, item_type: str | None
) -> tuple[bytes, Sequence[tuple[int, int | None]]]:
    """Return the recipient and (value, token id) for each moved id, and the number of items of a
    range that is not read item by item. An event that is not of the token's standard moves nothing:
    beside one that is, it would count twice. A BEP20 with items has both amounts and ids, which the
    shape tells apart; a BEP721 with items is one whose Transfers with three topics have the id in
    the last of these and the recipient in data."""
    faces = (token_type, item_type)
    if shape is TransferShape.AMOUNT and words and faces == ("BEP721", "BEP721"):
        recipient, item = words[0][0], int.from_bytes(to)
        return recipient.to_bytes(32)[12:], [(1, item)] if recipient < 2**160 else ()
    if shape in _FACES and faces != ("BEP20", "BEP721"):
        return to, ()
    if shape in WITH_AMOUNTS:
        return to, [(value, id_) for id_, value in words] if WITH_AMOUNTS[shape] in faces else ()
    if shape is TransferShape.RANGE:
        return to, [(amount, None) for _, amount in words] if token_type == "BEP721" else ()
    if token_type == "BEP721" or (item_type == "BEP721" and shape in OF_ITEMS):
        return to, [(1, word) for word, _ in words]
    if token_type != "BEP20" or shape is TransferShape.ITEMS:
        return to, ()
    return to, [(amount, None) for _, amount in words]


def transfers(event: TransferEvent, token_type: str, item_type: str | None) -> Iterator[Transfer]:
    """Yield one record per moved id."""
    to, moved = amounts(event.shape, event.to_address, event.words, token_type, item_type)
    for batch_index, (value, token_id) in enumerate(moved):
        yield Transfer(*(*event[1:3], batch_index, *event[3:5], to, value, token_id))


class WrapClaim(NamedTuple):
    """What a Deposit or Withdrawal claims, if it is itself a mint or burn: that its party's balance
    changed in the block by what Transfers moved and what such events wrapped together."""

    party: bytes
    moved: int
    wrapped: int
    is_paid: bool  # that much coin moved with it in its transaction, and no other of the party's


def wrap_claims(
    events: Sequence[TransferEvent],
    transactions: Sequence[DecodedTransaction],
    internal_transfers: Sequence[InternalTransfer],
) -> dict[int, WrapClaim]:
    """Return what the Deposits and Withdrawals of a block claim, by log index. Coin that contracts
    sent is in its internal transfers, where there are traces."""
    wraps = [event for event in events if event.shape in WRAPPING]
    if not wraps:
        return {}
    tokens = {event.token for event in wraps}
    sums: dict[tuple[bytes, bytes], list[int]] = defaultdict(lambda: [0, 0])
    for event in events:
        if event.token in tokens and event.shape not in (*OF_ITEMS, *WITH_AMOUNTS):
            is_wrap, (_, value) = event.shape in WRAPPING, event.words[0]
            sums[event.token, event.to_address][is_wrap] += value
            sums[event.token, event.from_address][is_wrap] -= value
    received = {(t.transaction_index, t.to_address, t.value) for t in transactions}
    received |= {(i.transaction_index, i.to_address, i.value) for i in internal_transfers}
    sent = {(i.transaction_index, i.from_address, i.value) for i in internal_transfers}
    claims = {}
    for event in wraps:
        is_mint = event.shape is TransferShape.WRAP
        party = event.to_address if is_mint else event.from_address
        moved, wrapped = sums[event.token, party]
        coin = event.transaction_index, event.token, event.words[0][1]
        is_paid = coin in (received if is_mint else sent)
        claims[event.log_index] = WrapClaim(party, moved, wrapped, is_paid and not moved)
    return claims


def item_claims(events: Sequence[TransferEvent]) -> dict[int, ItemClaim]:
    """Return what the Transfers of each contract in a block claim if their words are ids, by the
    log index of the first of its events: of the first id that is not burnt in the end, or that was
    there before. Where no other does, one that looks turned claims: its recipient has the form of a
    small number, and its word that of an address."""
    firsts = {e.token: e.log_index for e in reversed(events) if e.shape not in CLAIMS}
    moved: dict[tuple[bytes, bool], dict[int, tuple[bytes, bytes]]] = defaultdict(dict)
    # An event with an id tells more than an amount, which may stand before it (ERC-404).
    of_words = [event for event in events if event.shape in OF_A_WORD]
    for event in sorted(of_words, key=lambda event: event.shape is not TransferShape.ID):
        is_turned, item, to = _claimed(event)
        items = moved[event.token, is_turned]
        items[item] = items.get(item, (event.from_address,))[0], to
    claims = {}
    for (token, turned), items in sorted(moved.items(), key=lambda of: of[0][1], reverse=True):
        owned = (ItemClaim(to, item, True, turned) for item, (_, to) in items.items() if any(to))
        burnt = (ItemClaim(by, item, False, turned) for item, (by, _) in items.items() if any(by))
        if (claim := next(owned, None) or next(burnt, None)) is not None:
            claims[firsts[token]] = claim
    return claims


def _claimed(event: TransferEvent) -> tuple[bool, int, bytes]:
    """Return whether an event looks turned, the id and the recipient. A burn has an amount, and
    amounts are hardly as large as addresses. A large id does not tell; one of 2**160 and above is
    no recipient's form, so that transfer_event() has no such event."""
    to = event.words[0][0]
    if event.shape is TransferShape.AMOUNT and (not to or 2**96 <= to < 2**160):
        item = int.from_bytes(event.to_address)
        if item < 2**64 and (item > 0 or not any(event.from_address)):
            return True, item, to.to_bytes(20)
    return False, to, event.to_address


def is_of_token(
    shape: TransferShape,
    metadata: TokenMetadata,
    claim: WrapClaim | ItemClaim | None,
    balances: Sequence[bytes | None],
) -> bool:
    """Return whether what a contract answers confirms an event of CLAIMS; any other needs nothing.
    A wrap is true by its party's balances before and after, or where one is not known by what its
    transaction paid."""
    if shape not in WRAPPING:
        return shape not in OF_FACES or has_two_faces(shape, metadata)
    if not isinstance(claim, WrapClaim) or not metadata.is_fungible:
        return False
    before, after = balances
    if before is None or after is None:
        return claim.is_paid
    change = (word(after) or 0) - (word(before) or 0)
    return claim.wrapped != 0 and change == claim.moved + claim.wrapped


def item_type(shape: TransferShape, metadata: TokenMetadata) -> str | None:
    """Return the type of a BEP20's items; None if it has none. Vote-escrowed tokens have
    balanceOf(address,uint256), too, so that only an event tells an ERC-6909's face."""
    is_doubtful = metadata.item_type == "BEP6909" and shape is not TransferShape.OF_ID
    return None if is_doubtful else metadata.item_type


def items_beside(token_type: str, shape: TransferShape, metadata: TokenMetadata) -> str | None:
    """Return the type of a token's items as it is recorded: of a BEP20 that has items, and of a
    BEP721 whose Transfers are turned, as amounts() reads them."""
    return {"BEP20": item_type(shape, metadata), "BEP721": metadata.turned_type}.get(token_type)


def has_two_faces(shape: TransferShape, metadata: TokenMetadata) -> bool:
    """Return whether a contract counts whole units in decimals and has items, too. What an owner of
    an item has, or else its supply, tells it from a BEP721 with decimals, as vote-escrowed ones
    have (ERC-404); of ids with amounts, balanceOf(address) does."""
    items, units = item_type(shape, metadata), metadata.decimals if metadata.is_fungible else None
    if not units or not items or (shape in OF_FACES and items != "BEP721"):
        return False
    if metadata.owned_beside is not None:
        return metadata.owned_beside >= int(10**units)
    if shape in OF_ITEMS and shape is not TransferShape.FACE_ID:
        return False
    return metadata.interface != "BEP721" or (metadata.total_supply or 0) >= 10**units


def token_type(shape: TransferShape, metadata: TokenMetadata) -> str:
    """Return the token's type by EIP-165 if that is unambiguous, or else by its first event, as far
    as its functions allow it, and by who owns what its word would be the id of. One with two faces
    is a BEP20 that has items."""
    if has_two_faces(shape, metadata):
        return "BEP20"
    items, interface = item_type(shape, metadata), metadata.interface
    if interface is not None:
        return interface
    if shape in WITH_AMOUNTS and (metadata.item_type or not metadata.has_balances):
        return WITH_AMOUNTS[shape]
    if not metadata.has_balances and metadata.item_type in WITH_AMOUNTS.values():
        return str(metadata.item_type)
    is_of_items = shape in OF_ITEMS and (items is not None or metadata.decimals == 0)
    is_amount = shape is not TransferShape.PACKED or metadata.has_decimals or metadata.has_amount
    is_item = metadata.owned_beside is not None or is_of_items or not is_amount
    return "BEP721" if is_item else "BEP20"


def may_be_of_another_type(shape: TransferShape, token_type: str, item_type: str | None) -> bool:
    """Return whether an event has not the form that those of a token have by its standard."""
    if shape is TransferShape.AMOUNT:
        return token_type != "BEP20"
    if shape is TransferShape.PACKED or shape in CLAIMS:
        return shape is TransferShape.PACKED
    return WITH_AMOUNTS.get(shape, "BEP721") not in (token_type, item_type)


def swap_event(log: EventLog) -> SwapEvent | None:
    """Return the swap that a log has the form of, or None; one of 0 for 0 is none."""
    if len(log.topics) != 3 or log.topics[0] not in _SWAPS:
        return None
    topic, data, pool = log.topics[0], log.data, log.address
    signed = [int.from_bytes(data[at : at + 32], signed=True) for at in (0, 32)]
    if topic in (SWAP_V2, SWAP_VELODROME) and len(data) == 128:
        in0, in1, out0, out1 = (int.from_bytes(data[at : at + 32]) for at in range(0, 128, 32))
        family = "v2" if topic == SWAP_V2 else "velodrome"
        amount0, amount1 = in0 - out0, in1 - out1
    elif (topic == SWAP_V3 and len(data) == 160) or (topic == SWAP_PANCAKE_V3 and len(data) == 224):
        family, (amount0, amount1) = "v3", signed
    elif topic == SWAP_V4 and len(data) == 192:
        family, pool = "v4", pool + log.topics[1]
        amount0, amount1 = (-amount for amount in signed)  # they are the swapper's
    else:
        return None
    swap = SwapEvent(family, log.transaction_index, log.log_index, pool, amount0, amount1)
    return swap if amount0 or amount1 else None


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
