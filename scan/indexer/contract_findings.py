"""What the inspection of contracts finds, as the writer takes it, and what it knows of a contract.

A token has lives: its contract or delegation may end and begin anew, and be of another type.
"""

from collections.abc import Mapping
from typing import NamedTuple

from scan.ethereum.events import Trade
from scan.indexer.contract_state import is_reading_due


class ContractCode(NamedTuple):
    """The code of an address since a block; none where its contract destroyed itself."""

    address: bytes
    block_number: int
    code_hash: bytes | None
    code: bytes


class FoundToken(NamedTuple):
    address: bytes
    block_number: int
    log_index: int
    type: str
    name: str
    symbol: str
    decimals: int
    total_supply: int | None
    has_items: bool
    is_first: bool  # whether the token had no life before


class TokenEnd(NamedTuple):
    """The end of a token's life: its contract or delegation ended in a block, or has another type
    from it on. Name and numbers are those before that block."""

    address: bytes
    block_number: int
    end_block: int  # the first one whose events are not of that life
    name: str
    symbol: str
    decimals: int
    total_supply: int | None


class FoundWrapper(NamedTuple):
    """A token whose Deposits and Withdrawals mint and burn, from a block on."""

    address: bytes
    block_number: int


class ContractChange(NamedTuple):
    """A block after a token's first event in which what it answers may have changed."""

    address: bytes
    block_number: int


class FoundPool(NamedTuple):
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
    tokens: list[FoundToken]
    wrappers: list[FoundWrapper]
    pools: list[FoundPool]
    rejections: list[RejectedEmitter]
    transfers: list[tuple[int, str]]  # block number, and the row as COPY text
    trades: list[PoolTrade]
    changes: list[ContractChange]
    ends: list[TokenEnd]


class TokenLife(NamedTuple):
    """What a token's events mean, from a log on: block number and log index."""

    type: str
    since: tuple[int, int]
    has_items: bool
    wraps_since: int | None  # block number


class KnownContract:
    """A contract's stored state, as far as it is needed to read logs."""

    __slots__ = (
        *"code_hash ended_lives has_items may_begin_at pool rejected".split(),
        *"token_since token_type wraps_since".split(),
    )

    def __init__(self) -> None:
        self.token_type: str | None = None
        self.token_since = (-1, -1)  # block number and log index from which it counts as a token
        self.has_items = False
        self.wraps_since: int | None = None  # block number
        self.may_begin_at: int | None = None  # the first block after a token's last life
        self.ended_lives: list[tuple[int, TokenLife]] = []  # of blocks since it is known
        self.pool: FoundPool | None = None
        self.rejected: dict[str, tuple[int, int]] = {}  # first and last block of each claim
        self.code_hash: bytes | None = None

    def end_life(self, end_block: int) -> None:
        assert self.token_type is not None
        life = TokenLife(self.token_type, self.token_since, self.has_items, self.wraps_since)
        self.ended_lives.append((end_block, life))
        self.token_type, self.has_items, self.wraps_since = None, False, None
        self.may_begin_at = end_block

    def life_at(self, number: int, log_index: int) -> TokenLife | None:
        """Return the life that an event is of, None where it is none of a token."""
        for end_block, life in self.ended_lives:
            if life.since <= (number, log_index) and number < end_block:
                return life
        if self.token_type is None or (number, log_index) < self.token_since:
            return None
        return TokenLife(self.token_type, self.token_since, self.has_items, self.wraps_since)

    def reject(self, claim: str, number: int) -> None:
        first, _ = self.rejected.get(claim, (number, number))
        self.rejected[claim] = first, number


class Tries:
    """The blocks of a batch in which contracts are tried as tokens or pools, all but the first on
    the condition that they were refused before."""

    def __init__(self, claim: str, contracts: Mapping[bytes, KnownContract]) -> None:
        self._claim = claim
        self._contracts = contracts
        self._spans: dict[bytes, tuple[int, int]] = {}  # first and last block

    def is_next(self, address: bytes, number: int) -> bool:
        """Return whether the contract is to be tried in the block, and note it."""
        known = self._contracts[address].rejected.get(self._claim)
        first, last = self._spans.get(address, known) or (number, number - 1)
        if not is_reading_due(number, first, last):
            return False
        self._spans[address] = first, number
        return True
