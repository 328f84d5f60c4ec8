"""What a batch of blocks says of contracts: code, tokens, pools; the node is asked what is new."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from eth_hash.auto import keccak

from scan import metadata
from scan.db import Database
from scan.decode import DELEGATION
from scan.events import (
    WRAPPING,
    ZERO_ADDRESS,
    Shape,
    SwapEvent,
    Trade,
    Transfer,
    TransferEvent,
    swap_event,
    told_twice,
    trade,
    transfer_event,
    transfers,
)
from scan.indexer.fetch import Fetched
from scan.indexer.state import At, Question, StateReader
from scan.quantity import to_hex
from scan.rpc import Node

MAX_KNOWN = 200_000

Factories = dict[bytes, str]
Answers = dict[Question, bytes | None]


class Code(NamedTuple):
    address: bytes
    block_number: int
    code_hash: bytes
    code: bytes


class Token(NamedTuple):
    address: bytes
    block_number: int
    type: str
    name: str
    symbol: str
    decimals: int
    total_supply: int
    wraps: bool


class Supply(NamedTuple):
    """A token's totalSupply after a block."""

    token: bytes
    total_supply: int
    block_number: int


class Pool(NamedTuple):
    address: bytes
    block_number: int
    dex: str
    token0: bytes
    token1: bytes


class Rejection(NamedTuple):
    address: bytes
    claim: str
    block_number: int


class PoolTrade(NamedTuple):
    block_number: int
    swap: SwapEvent
    dex: str
    trade: Trade


class Findings(NamedTuple):
    """Everything that a batch of blocks adds beside its blocks and transactions."""

    codes: list[Code]
    tokens: list[Token]
    pools: list[Pool]
    rejections: list[Rejection]
    transfers: list[tuple[int, Transfer]]  # with the block number
    trades: list[PoolTrade]
    supplies: list[Supply]  # of tokens minted or burnt, after their last transfer


class Known:
    """What the database knows of a contract, as far as reading logs needs it."""

    __slots__ = ("code_hash", "pool", "rejected", "token_since", "token_type", "wraps")

    def __init__(self) -> None:
        self.token_type: str | None = None
        self.token_since = (-1, -1)  # block number and log index, where this batch found it
        self.wraps = False
        self.pool: Pool | None = None
        self.rejected: set[str] = set()
        self.code_hash: bytes | None = None


class Inspector:
    """Finds what logs mean. Knows what was asked before, so that each contract is asked once.

    After a reorganisation or a failed write a new one is needed: what was learnt may be gone.
    """

    def __init__(self, node: Node, database: Database, factories: Factories) -> None:
        self._state = StateReader(node)
        self._database = database
        self._factories = factories
        self._known: dict[bytes, Known] = {}

    def inspect(self, batch: Sequence[Fetched]) -> Findings:
        """Raises NodeError; asks only for contracts not seen before, each at its block."""
        events, swaps = _events(batch)
        at = {f.block.number: At(f.block.number, f.block.hash) for f in batch}
        self._recall(batch, events, swaps)
        codes = self._new_codes(batch, at)
        tokens, token_rejections = self._new_tokens(events, at)
        pools, pool_rejections = self._new_pools(swaps, at)
        moved = list(self._transfers(events))
        return Findings(
            codes,
            tokens,
            pools,
            token_rejections + pool_rejections,
            moved,
            list(self._trades(swaps)),
            self._supplies(moved, at),
        )

    def _recall(
        self,
        batch: Sequence[Fetched],
        events: dict[int, list[TransferEvent]],
        swaps: dict[int, list[SwapEvent]],
    ) -> None:
        if len(self._known) > MAX_KNOWN:
            self._known.clear()
        wanted = {address for _, address in _code_candidates(batch)}
        wanted.update(event.token for in_block in events.values() for event in in_block)
        wanted.update(swap.pool for in_block in swaps.values() for swap in in_block)
        missing = [address for address in wanted if address not in self._known]
        if not missing:
            return
        for row in self._database.rows("emitters_known", addresses=missing):
            known = self._known[bytes(row[0])] = Known()
            known.token_type, known.wraps = row[1], bool(row[2])
            if row[3] is not None:
                known.pool = Pool(bytes(row[0]), 0, row[3], bytes(row[4]), bytes(row[5]))
            known.rejected = set(row[6])
            known.code_hash = None if row[7] is None else bytes(row[7])

    # Code

    def _new_codes(self, batch: Sequence[Fetched], at: dict[int, At]) -> list[Code]:
        created = {(f.block.number, address) for f in batch for address in _created_addresses(f)}
        asked = [
            (number, Question(address, None, at[number]))
            for number, address in _code_candidates(batch)
            if (number, address) in created or self._known[address].code_hash is None
        ]
        answers = self._state.read(question for _, question in asked)
        codes = []
        for number, question in asked:
            address, code = question.address, answers[question]
            known = self._known[address]
            if not code or code.startswith(DELEGATION):
                continue
            if known.code_hash is not None and (number, address) not in created:
                continue
            code_hash = keccak(code)
            if code_hash != known.code_hash:
                known.code_hash = code_hash
                codes.append(Code(address, number, code_hash, code))
        return codes

    # Tokens

    def _new_tokens(
        self, events: dict[int, list[TransferEvent]], at: dict[int, At]
    ) -> tuple[list[Token], list[Rejection]]:
        firsts = self._first_claims(events)
        questions = [
            [Question(event.token, data, at[number]) for data in metadata.TOKEN_QUESTIONS]
            for number, event in firsts
        ]
        answers = self._state.read(question for of_token in questions for question in of_token)
        tokens: list[Token] = []
        rejections: list[Rejection] = []
        for (number, event), of_token in zip(firsts, questions, strict=True):
            known = self._known[event.token]
            said = metadata.token_answers([answers[question] for question in of_token])
            if known.token_type is not None:
                continue
            if event.shape in WRAPPING and not said.wraps:
                if "token" not in known.rejected:
                    known.rejected.add("token")
                    rejections.append(Rejection(event.token, "token", number))
                continue
            known.token_type = _token_type(event.shape, said)
            known.token_since = (number, event.log_index)
            known.wraps = said.wraps and known.token_type == "BEP20"
            tokens.append(
                Token(
                    event.token,
                    number,
                    known.token_type,
                    said.name,
                    said.symbol,
                    said.decimals,
                    said.total_supply,
                    known.wraps,
                )
            )
        return tokens, rejections

    def _first_claims(
        self, events: dict[int, list[TransferEvent]]
    ) -> list[tuple[int, TransferEvent]]:
        """For each contract not known as a token: its first Transfer, and a Deposit before that."""
        firsts: dict[tuple[bytes, bool], tuple[int, TransferEvent]] = {}
        for number, in_block in events.items():
            for event in in_block:
                known = self._known[event.token]
                is_wrap = event.shape in WRAPPING
                if known.token_type or (is_wrap and "token" in known.rejected):
                    continue
                firsts.setdefault((event.token, is_wrap), (number, event))
        return sorted(firsts.values(), key=lambda first: (first[0], first[1].log_index))

    def _transfers(self, events: dict[int, list[TransferEvent]]) -> Iterable[tuple[int, Transfer]]:
        for number, in_block in events.items():
            twice = told_twice(in_block)
            for event in in_block:
                known = self._known[event.token]
                if known.token_type is None or (number, event.log_index) < known.token_since:
                    continue
                if event.log_index in twice or (event.shape in WRAPPING and not known.wraps):
                    continue
                for transfer in transfers(event, known.token_type):
                    yield number, transfer

    def _supplies(self, moved: list[tuple[int, Transfer]], at: dict[int, At]) -> list[Supply]:
        """After each token's last transfer: the same however blocks are put into batches."""
        last = {transfer.token: number for number, transfer in moved}
        minted = {t.token for _, t in moved if ZERO_ADDRESS in (t.from_address, t.to_address)}
        questions = [
            Question(token, metadata.TOTAL_SUPPLY, at[last[token]]) for token in sorted(minted)
        ]
        answers = self._state.read(questions)
        return [Supply(q.address, metadata.word(answers[q]) or 0, q.at.number) for q in questions]

    # Pools

    def _new_pools(
        self, swaps: dict[int, list[SwapEvent]], at: dict[int, At]
    ) -> tuple[list[Pool], list[Rejection]]:
        firsts: dict[bytes, tuple[int, SwapEvent]] = {}
        for number, in_block in swaps.items():
            for swap in in_block:
                known = self._known[swap.pool]
                if known.pool is None and "pool" not in known.rejected:
                    firsts.setdefault(swap.pool, (number, swap))
        answers = self._state.read(
            Question(pool, data, at[number])
            for pool, (number, _) in firsts.items()
            for data in metadata.POOL_QUESTIONS
        )
        pools, rejections = [], []
        for address, (number, swap) in firsts.items():
            tokens, factory, fee = _pool_answers(address, at[number], answers)
            known = self._known[address]
            if tokens is None:
                known.rejected.add("pool")
                rejections.append(Rejection(address, "pool", number))
            else:
                dex = self._dex_name(swap.family, factory, tokens, fee, address, at[number])
                known.pool = Pool(address, number, dex, *tokens)
                pools.append(known.pool)
        return pools, rejections

    def _dex_name(
        self,
        family: str,
        factory: bytes,
        tokens: tuple[bytes, bytes],
        fee: int,
        pool: bytes,
        at: At,
    ) -> str:
        """A well-known factory's name only where the factory itself knows the pool."""
        name = self._factories.get(factory)
        if name is not None:
            question = Question(factory, metadata.pool_of(family, *tokens, fee), at)
            if metadata.address(self._state.read([question])[question]) == pool:
                return name
        return f"{family}-{to_hex(factory)}"

    def _trades(self, swaps: dict[int, list[SwapEvent]]) -> Iterable[PoolTrade]:
        for number, in_block in swaps.items():
            for swap in in_block:
                pool = self._known[swap.pool].pool
                if pool is not None:
                    made = trade(swap, pool.token0, pool.token1)
                    yield PoolTrade(number, swap, pool.dex, made)


def _events(
    batch: Sequence[Fetched],
) -> tuple[dict[int, list[TransferEvent]], dict[int, list[SwapEvent]]]:
    events: dict[int, list[TransferEvent]] = defaultdict(list)
    swaps: dict[int, list[SwapEvent]] = defaultdict(list)
    for fetched in batch:
        for log in fetched.block.logs:
            event = transfer_event(log)
            if event is not None:
                events[fetched.block.number].append(event)
            else:
                swap = swap_event(log)
                if swap is not None:
                    swaps[fetched.block.number].append(swap)
    return events, swaps


def _created_addresses(fetched: Fetched) -> list[bytes]:
    direct = [t.contract_address for t in fetched.block.transactions if t.contract_address]
    return direct + fetched.created


def _code_candidates(batch: Sequence[Fetched]) -> list[tuple[int, bytes]]:
    """(block number, address) wherever code may stand: created, called, or emitting."""
    found: dict[tuple[int, bytes], None] = {}
    for fetched in batch:
        block = fetched.block
        addresses = _created_addresses(fetched)
        addresses += [t.to_address for t in block.transactions if t.to_address and t.ran_code]
        addresses += [log.address for log in block.logs]
        found.update(dict.fromkeys((block.number, address) for address in addresses))
    return list(found)


def _token_type(shape: Shape, said: metadata.TokenAnswers) -> str:
    """EIP-165 where it says one thing, else the shape of the first event."""
    if said.interface is not None:
        return said.interface
    if shape is Shape.MULTI:
        return "BEP1155"
    if shape is Shape.ID or (shape is Shape.PACKED and not said.has_decimals):
        return "BEP721"
    return "BEP20"


def _pool_answers(
    pool: bytes, at: At, answers: Answers
) -> tuple[tuple[bytes, bytes] | None, bytes, int]:
    token0, token1, factory = (
        metadata.address(answers[Question(pool, data, at)])
        for data in (metadata.TOKEN0, metadata.TOKEN1, metadata.FACTORY)
    )
    fee = metadata.word(answers[Question(pool, metadata.FEE, at)]) or 0
    tokens = None if token0 is None or token1 is None else (token0, token1)
    return tokens, factory or ZERO_ADDRESS, fee
