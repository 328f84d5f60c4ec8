"""What a batch of blocks says of contracts: code, tokens, pools; the node is asked what is new."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from eth_hash.auto import keccak

from scan.database.connection import Database
from scan.ethereum import token_metadata
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.client import Node
from scan.ethereum.events import WRAPPING, ZERO_ADDRESS, Shape, SwapEvent, Trade, amounts, trade
from scan.hex import to_hex
from scan.indexer.block_rows import Claim, Extract, Swap, transfer_line
from scan.indexer.contract_state import At, Question, StateReader

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
    row: str  # as Swap has it
    dex: str
    trade: Trade


class Findings(NamedTuple):
    """Everything that a batch of blocks adds beside its blocks and transactions."""

    codes: list[Code]
    tokens: list[Token]
    pools: list[Pool]
    rejections: list[Rejection]
    transfers: list[tuple[int, str]]  # block number, and the row as COPY text
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


class _Moved:
    """Rows of transfers, and whose supply they may have changed."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, str]] = []
        self.last: dict[bytes, int] = {}  # the block of each token's last transfer
        self.minted: set[bytes] = set()  # or burnt

    def add(self, number: int, claim: Claim, token_type: str) -> None:
        moves = amounts(claim.shape, claim.words, token_type)
        for batch_index, (value, token_id) in enumerate(moves):
            self.rows.append((number, transfer_line(claim.row, batch_index, value, token_id)))
        if moves:
            self.last[claim.token] = number
            if claim.is_mint_or_burn:
                self.minted.add(claim.token)


class Inspector:
    """Finds what logs mean. Knows what was asked before, so that each contract is asked once.

    After a reorganisation or a failed write a new one is needed: what was learnt may be gone.
    """

    def __init__(self, node: Node, database: Database, factories: Factories) -> None:
        self._state = StateReader(node)
        self._database = database
        self._factories = factories
        self._known: dict[bytes, Known] = {}
        self._of_last_batch: set[bytes] = set()

    def inspect(self, batch: Sequence[Extract]) -> Findings:
        """Raises NodeError; asks only for contracts not seen before, each at its block.

        The batch before this one may still be on its way into the database.
        """
        claims = {e.number: e.claims for e in batch}
        swaps = {e.number: e.swaps for e in batch}
        at = {e.number: At(e.number, e.hash) for e in batch}
        self._recall(set().union(*(e.candidates for e in batch)))
        codes = self._new_codes(batch, at)
        tokens, token_rejections = self._new_tokens(claims, at)
        pools, pool_rejections = self._new_pools(swaps, at)
        moved = _Moved()
        self._move(claims, moved)
        return Findings(
            codes,
            tokens,
            pools,
            token_rejections + pool_rejections,
            moved.rows,
            list(self._trades(swaps)),
            self._supplies(moved, at),
        )

    def _recall(self, wanted: set[bytes]) -> None:
        """What the database knows of contracts; those that emit are among the wanted."""
        if len(self._known) > MAX_KNOWN:
            # What the last batch found may not be in the database yet.
            self._known = {address: self._known[address] for address in self._of_last_batch}
        self._of_last_batch = wanted
        missing = [address for address in wanted if address not in self._known]
        if not missing:
            return
        for row in self._database.rows("indexer/emitters_list_known", addresses=missing):
            known = self._known[bytes(row[0])] = Known()
            known.token_type, known.wraps = row[1], bool(row[2])
            if row[3] is not None:
                known.pool = Pool(bytes(row[0]), 0, row[3], bytes(row[4]), bytes(row[5]))
            known.rejected = set(row[6])
            known.code_hash = None if row[7] is None else bytes(row[7])

    # Code

    def _new_codes(self, batch: Sequence[Extract], at: dict[int, At]) -> list[Code]:
        created = {e.number: e.created for e in batch}
        asked = [
            (e.number, Question(address, None, at[e.number]))
            for e in batch
            for address in e.candidates
            if self._known[address].code_hash is None or address in e.created
        ]
        answers = self._state.read(question for _, question in asked)
        codes = []
        for number, question in asked:
            address, code = question.address, answers[question]
            known = self._known[address]
            if not code or code.startswith(DELEGATION):
                continue
            if known.code_hash is not None and address not in created[number]:
                continue
            code_hash = keccak(code)
            if code_hash != known.code_hash:
                known.code_hash = code_hash
                codes.append(Code(address, number, code_hash, code))
        return codes

    # Tokens

    def _new_tokens(
        self, claims: Mapping[int, Sequence[Claim]], at: dict[int, At]
    ) -> tuple[list[Token], list[Rejection]]:
        firsts = self._first_claims(claims)
        questions = [
            [Question(claim.token, data, at[number]) for data in token_metadata.TOKEN_QUESTIONS]
            for number, claim in firsts
        ]
        answers = self._state.read(question for of_token in questions for question in of_token)
        tokens: list[Token] = []
        rejections: list[Rejection] = []
        for (number, claim), of_token in zip(firsts, questions, strict=True):
            known = self._known[claim.token]
            said = token_metadata.token_answers([answers[question] for question in of_token])
            if known.token_type is not None:
                continue
            if claim.shape in WRAPPING and not said.wraps:
                if "token" not in known.rejected:
                    known.rejected.add("token")
                    rejections.append(Rejection(claim.token, "token", number))
                continue
            known.token_type = _token_type(claim.shape, said)
            known.token_since = (number, claim.log_index)
            known.wraps = said.wraps and known.token_type == "BEP20"
            tokens.append(
                Token(
                    claim.token,
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

    def _first_claims(self, claims: Mapping[int, Sequence[Claim]]) -> list[tuple[int, Claim]]:
        """For each contract not known as a token: its first Transfer, and a Deposit before that."""
        firsts: dict[tuple[bytes, bool], tuple[int, Claim]] = {}
        for number, in_block in claims.items():
            for claim in in_block:
                known = self._known[claim.token]
                if known.token_type:
                    continue
                is_wrap = claim.shape in WRAPPING
                if not (is_wrap and "token" in known.rejected):
                    firsts.setdefault((claim.token, is_wrap), (number, claim))
        return sorted(firsts.values(), key=lambda first: (first[0], first[1].log_index))

    def _move(self, claims: Mapping[int, Sequence[Claim]], moved: "_Moved") -> None:
        for number, in_block in claims.items():
            for claim in in_block:
                known = self._known[claim.token]
                if known.token_type is None or (number, claim.log_index) < known.token_since:
                    continue
                if claim.is_told_twice or (claim.shape in WRAPPING and not known.wraps):
                    continue
                moved.add(number, claim, known.token_type)

    def _supplies(self, moved: "_Moved", at: dict[int, At]) -> list[Supply]:
        """After each token's last transfer: the same however blocks are put into batches."""
        questions = [
            Question(token, token_metadata.TOTAL_SUPPLY, at[moved.last[token]])
            for token in sorted(moved.minted)
        ]
        answers = self._state.read(questions)
        return [
            Supply(q.address, token_metadata.word(answers[q]) or 0, q.at.number) for q in questions
        ]

    # Pools

    def _new_pools(
        self, swaps: Mapping[int, Sequence[Swap]], at: dict[int, At]
    ) -> tuple[list[Pool], list[Rejection]]:
        firsts: dict[bytes, tuple[int, SwapEvent]] = {}
        for number, in_block in swaps.items():
            for swap, _ in in_block:
                known = self._known[swap.pool]
                if known.pool is None and "pool" not in known.rejected:
                    firsts.setdefault(swap.pool, (number, swap))
        answers = self._state.read(
            Question(pool, data, at[number])
            for pool, (number, _) in firsts.items()
            for data in token_metadata.POOL_QUESTIONS
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
            question = Question(factory, token_metadata.pool_of(family, *tokens, fee), at)
            if token_metadata.address(self._state.read([question])[question]) == pool:
                return name
        return f"{family}-{to_hex(factory)}"

    def _trades(self, swaps: Mapping[int, Sequence[Swap]]) -> Iterable[PoolTrade]:
        for number, in_block in swaps.items():
            for swap, row in in_block:
                pool = self._known[swap.pool].pool
                if pool is not None:
                    made = trade(swap, pool.token0, pool.token1)
                    yield PoolTrade(number, row, pool.dex, made)


def _token_type(shape: Shape, said: token_metadata.TokenAnswers) -> str:
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
        token_metadata.address(answers[Question(pool, data, at)])
        for data in (token_metadata.TOKEN0, token_metadata.TOKEN1, token_metadata.FACTORY)
    )
    fee = token_metadata.word(answers[Question(pool, token_metadata.FEE, at)]) or 0
    tokens = None if token0 is None or token1 is None else (token0, token1)
    return tokens, factory or ZERO_ADDRESS, fee
