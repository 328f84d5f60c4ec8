"""What the inspection of contracts finds, as the writer takes it, and what it knows of a contract.

A token has lives: its contract or delegation may end and begin anew, and be of another type.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scan.ethereum.events import Trade
from scan.hex import to_hex
from scan.indexer import block_rows, contract_state


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
    decimals: int | None
    total_supply: int | None
    item_type: str | None
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
    item_type: str | None
    wraps_since: int | None  # block number


class KnownContract:
    """A contract's stored state, as far as it is needed to read logs."""

    __slots__ = (
        *"code_hash ended_lives item_type may_begin_at pool rejected".split(),
        *"token_since token_type wraps_since".split(),
    )

    def __init__(self) -> None:
        self.token_type: str | None = None
        self.token_since = (-1, -1)  # block number and log index from which it counts as a token
        self.item_type: str | None = None  # of a BEP20 that has items
        self.wraps_since: int | None = None  # block number
        self.may_begin_at: int | None = None  # the first block after a token's last life
        self.ended_lives: list[tuple[int, TokenLife]] = []  # of blocks since it is known
        self.pool: FoundPool | None = None
        self.rejected: dict[str, tuple[int, int]] = {}  # first and last block of each claim
        self.code_hash: bytes | None = None

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

    def reject(self, claim: str, number: int) -> None:
        first, _ = self.rejected.get(claim, (number, number))
        self.rejected[claim] = first, number


def initialized_pools(
    batch: Sequence[block_rows.BlockContracts],
    contracts: Mapping[bytes, KnownContract],
    managers: Mapping[bytes, str],
) -> list[FoundPool]:
    """Return the pools that their managers begin."""
    pools = []
    for block in batch:
        for address, token0, token1 in block.pool_events:
            manager, contract = address[:20], contracts[address]
            if contract.pool is None:
                dex = managers.get(manager) or f"v4-{to_hex(manager)}"
                contract.pool = FoundPool(address, block.number, dex, token0, token1)
                pools.append(contract.pool)
    return pools


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
        if not contract_state.is_reading_due(number, first, last):
            return False
        self._spans[address] = first, number
        return True
