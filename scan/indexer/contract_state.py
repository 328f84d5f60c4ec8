"""Contracts as the indexer knows them: what they are asked at a block, and what their inspection
finds, as the writer takes it.

A token has lives: its contract or delegation may end and begin anew, and be of another type.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from scan.ethereum import token_metadata
from scan.ethereum.events import Trade
from scan.ethereum.served_chain import BlockId as BlockId
from scan.hex import data
from scan.indexer.block_rows import BlockContracts, Claim
from scan.indexer.state_reader import MOST_CALL_GAS as MOST_CALL_GAS
from scan.indexer.state_reader import StateQuery as StateQuery
from scan.indexer.state_reader import StateReader as StateReader


class Tries(NamedTuple):
    """The blocks in which a contract was tried, or was to be: the first, the last, and how many."""

    first: int
    last: int
    times: int


def is_reading_due(number: int, first: int, last: int) -> bool:
    """Return whether a contract that emits in a block is to be read again, after the first and the
    last block in which it was: 1, 8, 64, 512 … blocks after the first."""
    return number > last and number - first >= 8 * (last - first)


MOST_CHANGES, CHANGES_APART = 8, 512


def is_change_due(number: int, tries: Tries | None) -> bool:
    """Return whether a token that emits an event of a change is read before its block is written:
    the first MOST_CHANGES times, and later ones so many blocks apart. Its labels are read at each.
    """
    return tries is None or tries.times < MOST_CHANGES or number - tries.last >= CHANGES_APART


# The gas that all calls together have which a block's contracts may cause before it is written, to
# find out about tokens, about changes of tokens and of types, and about pools: a node takes a tenth
# to a quarter of a second for it. They share it, so that the contracts that take all that they get
# leave enough for others: name() of a proxy takes 35,000 of it.
BLOCK_GAS = 100_000_000
LEAST_CALL_GAS = 60_000
TOKEN_CALLS = len(token_metadata.TOKEN_CALLS)
CLAIM_CALLS, POOL_CALLS = 4, 5
# The codes of a block that are read because of events: the node takes as long for them.
MOST_CODES = 400
# Contracts that share nothing, though refused calls are made again, see state_reader.
CROWD = BLOCK_GAS // (2 * MOST_CALL_GAS) // (TOKEN_CALLS + CLAIM_CALLS)


def shared_gas(calls: Sequence[int]) -> tuple[int, int]:
    """Return the gas of each call of a block's contracts, of which each takes so many, and how many
    contracts are called, from the first on."""
    total = sum(calls)
    if 2 * total * MOST_CALL_GAS <= BLOCK_GAS:
        return MOST_CALL_GAS, len(calls)
    if total * LEAST_CALL_GAS <= BLOCK_GAS:
        return min(MOST_CALL_GAS - 1, BLOCK_GAS // total), len(calls)
    sums = accumulate(calls)
    return LEAST_CALL_GAS, sum(1 for so_far in sums if so_far * LEAST_CALL_GAS <= BLOCK_GAS)


Factories = dict[bytes, str]  # names of well-known exchanges


def load_factories(chain_id: int) -> Factories:
    """Return well-known exchange factories of a chain, by address."""
    text = Path(__file__).with_name("dex_factories.json").read_text(encoding="utf-8")
    by_chain = json.loads(text)
    return {data(address): name for address, name in by_chain.get(str(chain_id), {}).items()}


def token_queries(address: bytes, block: BlockId, gas: int = MOST_CALL_GAS) -> list[StateQuery]:
    """Return the queries of TOKEN_CALLS."""
    return [StateQuery(address, data, block, gas=gas) for data in token_metadata.TOKEN_CALLS]


def is_unread(answers: Sequence[bytes | None], gas: int) -> bool:
    """Return whether a contract answered nothing that was given little gas."""
    return gas < MOST_CALL_GAS and not any(answers)


# Of a token that is not read yet: what its events say is all that is known of it.
UNREAD = token_metadata.decode_token_metadata([None] * TOKEN_CALLS)._replace(decimals=None)


def block_id(block: BlockContracts) -> BlockId:
    return BlockId(block.number, block.hash)


def item_queries(
    token: bytes, claim: token_metadata.ItemClaim, at: BlockId, gas: int = MOST_CALL_GAS
) -> list[StateQuery]:
    """Return the queries of a claim's calls, before them the first one of the block only."""
    queries = [StateQuery(token, data, at, gas=gas) for data in claim.calls]
    return [queries[0]._replace(is_of_block_only=True), *queries]


def claim_queries(
    block: BlockContracts, token: bytes, claim: Claim | None, gas: int
) -> list[StateQuery]:
    """Return the queries of an item's claim, or of the balance of a wrap's party before and after
    the block."""
    if claim is None:
        return []
    before = BlockId(block.number - 1, block.parent_hash)
    if isinstance(claim, token_metadata.ItemClaim):
        return item_queries(token, claim, block_id(block) if claim.is_after else before, gas)
    data = token_metadata.balance_of(claim.party)
    ends = before, block_id(block)
    return [StateQuery(token, data, at, is_of_block_only=True, gas=gas) for at in ends]


class ContractCode(NamedTuple):
    """The code of an address since a block; none where its contract destroyed itself."""

    address: bytes
    block_number: int
    code_hash: bytes | None
    code: bytes
    delegation: str  # as delegation_text() has it


class NewToken(NamedTuple):
    address: bytes
    block_number: int
    log_index: int
    type: str
    name: str
    symbol: str
    decimals: int | None
    total_supply: int | None
    item_type: str | None
    has_holdings: bool
    read_block: int | None  # that name, symbol and decimals are of; None if they are unread
    is_first: bool  # whether the token had no life before


class TokenEnd(NamedTuple):
    """The end of a token's life: its contract or delegation ended in a block, or has another type
    from it on. Name and numbers are those before that block."""

    address: bytes
    block_number: int
    end_block: int  # the first one whose events are not of that life
    name: str
    symbol: str
    decimals: int | None
    total_supply: int | None


class NewWrapper(NamedTuple):
    """A token whose Deposits and Withdrawals mint and burn, from a block on."""

    address: bytes
    block_number: int


class ContractChange(NamedTuple):
    """A block after a token's first event in which what it answers may have changed."""

    address: bytes
    block_number: int


class NewPool(NamedTuple):
    address: bytes
    block_number: int
    dex: str
    token0: bytes
    token1: bytes


class RejectedEmitter(NamedTuple):
    address: bytes
    claim: str
    block_number: int


class PoolTrade(NamedTuple):
    block_number: int
    row: str  # as SwapLog has it
    dex: str
    trade: Trade


class ContractFindings(NamedTuple):
    """The rows of a batch of blocks besides blocks and transactions."""

    codes: list[ContractCode]
    tokens: list[NewToken]
    wrappers: list[NewWrapper]
    pools: list[NewPool]
    rejections: list[RejectedEmitter]
    transfers: list[tuple[int, str]]  # block number, and the row as COPY text
    trades: list[PoolTrade]
    changes: list[ContractChange]
    ends: list[TokenEnd]


class TokenLife(NamedTuple):
    """What a token's events mean, from a log on: block number and log index."""

    type: str
    since: tuple[int, int]
    item_type: str | None
    wraps_since: int | None  # block number


@dataclass(slots=True)
class InspectedContract:
    """A contract's stored state, as far as it is needed to read logs."""

    token_type: str | None = None
    item_type: str | None = None  # of a BEP20 that has items
    wraps_since: int | None = None  # block number
    may_begin_at: int | None = None  # the first block after a token's last life
    has_holdings: bool = True
    token_since: tuple[int, int] = (-1, -1)  # block number and log index that make it a token
    ended_lives: list[tuple[int, TokenLife]] = field(default_factory=list)  # since it is known
    pool: NewPool | None = None
    rejected: dict[str, Tries] = field(default_factory=dict)  # by claim
    code_hash: bytes | None = None

    def end_life(self, end_block: int) -> None:
        assert self.token_type is not None
        life = TokenLife(self.token_type, self.token_since, self.item_type, self.wraps_since)
        self.ended_lives.append((end_block, life))
        self.token_type = self.item_type = self.wraps_since = None
        self.may_begin_at = end_block

    def life_at(self, number: int, log_index: int) -> TokenLife | None:
        """Return the life that an event is of, None where it is none of a token."""
        for end_block, life in self.ended_lives:
            if life.since <= (number, log_index) and number < end_block:
                return life
        if self.token_type is None or (number, log_index) < self.token_since:
            return None
        return TokenLife(self.token_type, self.token_since, self.item_type, self.wraps_since)
