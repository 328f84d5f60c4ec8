"""Transfers of tokens as logs say them, before the token's type has its say."""

from collections import defaultdict, namedtuple

from eth_abi import decode
from eth_abi.exceptions import DecodingError

from tests.support.truth.reading import ZERO, topic_of

TRANSFER = topic_of("Transfer(address,address,uint256)")
SINGLE = topic_of("TransferSingle(address,address,address,uint256,uint256)")
BATCHED = topic_of("TransferBatch(address,address,address,uint256[],uint256[])")
DEPOSIT = topic_of("Deposit(address,uint256)")
WITHDRAWAL = topic_of("Withdrawal(address,uint256)")

WRAPPING = ("deposit", "withdrawal")


class Move(namedtuple("Move", "log shape sender recipient parts")):
    """A transfer as its log says it, before the token's type has its say. `parts`: (id or third
    word, value) pairs; a shape without ids repeats its one word."""


def moves_in(chain, logs):
    """The movements that logs say, whether or not their contracts are tokens."""
    return [m for log in logs if not chain.is_coin(log) and (m := read_move(log))]


def wrappers_in(chain):
    """The contracts whose deposits and withdrawals move balances, with the first block of one."""
    by_transaction = defaultdict(list)
    for log in chain.logs:
        by_transaction[log.transaction_hash].append(log)
    since = {}
    for logs in by_transaction.values():
        moves = moves_in(chain, logs)
        for move in moves:
            token = move.log.address
            if move.shape in WRAPPING and token not in since and is_wrapper(chain, move, moves):
                since[token] = move.log.block
    return since


def is_wrapper(chain, move, moves):
    """Whether a balance moved that no other event of the transaction, the block's only one of the
    party, accounts for."""
    token, party = move.log.address, move.sender if move.recipient == ZERO else move.recipient

    def answer(signature, *args, block=move.log.block):
        output = chain.call(token, signature, args, block)
        return None if output is None or len(output) < 32 else int.from_bytes(output[:32], "big")

    if None in (answer("totalSupply()"), answer("decimals()"), answer("balanceOf(address)", ZERO)):
        return False
    after = answer("balanceOf(address)", party) or 0
    before = answer("balanceOf(address)", party, block=move.log.block - 1) or 0
    announced = sum(
        m.parts[0][1] * ((m.recipient == party) - (m.sender == party))
        for m in moves
        if m.log.address == token and m.shape == "erc20"
    )
    return after - before != announced


def read_move(log):
    """The transfer that a log is by its shape, if every address in it is one."""
    readers = {
        TRANSFER: read_transfer,
        SINGLE: read_single,
        BATCHED: read_batch,
        DEPOSIT: read_wrapping,
        WITHDRAWAL: read_wrapping,
    }
    reader = readers.get(log.event)
    return reader(log) if reader else None


def read_transfer(log):
    count, length, words = len(log.topics), len(log.data), log.words()
    if count == 3 and length >= 32:
        return move_of(log, "erc20", log.topics[1:3], [(words[0], words[0])])
    if count == 4 and length == 0:
        third = int.from_bytes(log.topics[3], "big")
        return move_of(log, "erc721", log.topics[1:3], [(third, third)])
    if count == 1 and length == 96:
        return move_of(log, "unindexed", [log.data[:32], log.data[32:64]], [(words[2], words[2])])
    return None


def read_single(log):
    if len(log.topics) != 4 or len(log.data) < 64:
        return None
    token_id, value = log.words()[:2]
    return move_of(log, "erc1155", log.topics[2:4], [(token_id, value)])


def read_batch(log):
    if len(log.topics) != 4:
        return None
    try:
        ids, values = decode(["uint256[]", "uint256[]"], log.data)
    except (DecodingError, OverflowError):
        return None
    if not ids or len(ids) != len(values):
        return None
    return move_of(log, "erc1155", log.topics[2:4], list(zip(ids, values, strict=True)))


def read_wrapping(log):
    if len(log.topics) != 2 or len(log.data) != 32:
        return None
    value, zero = log.words()[0], bytes(32)
    if log.event == DEPOSIT:
        return move_of(log, "deposit", [zero, log.topics[1]], [(value, value)])
    return move_of(log, "withdrawal", [log.topics[1], zero], [(value, value)])


def move_of(log, shape, parties, parts):
    if any(any(party[:12]) for party in parties):
        return None
    sender, recipient = ("0x" + party[12:].hex() for party in parties)
    return Move(log, shape, sender, recipient, parts)
