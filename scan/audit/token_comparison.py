"""The comparison of what the index has of tokens with what they answer at the node.

A reading is of a block: the node is asked at that block, and a token is passed over where the node
has pruned the block's state.
"""

import secrets
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from scan.database.connection import Database
from scan.ethereum import client, events, token_metadata
from scan.hex import to_hex
from scan.indexer import contract_state
from scan.indexer.contract_state import BlockId, StateQuery, StateReader

PAGE_TOKENS = 100


class Reading(NamedTuple):
    """What the index has of a token, the blocks that its type, its labels and its supply are of,
    what its first Transfer claims if its word is an id, and, unless it is marked, what one holder
    has by its events at the head."""

    address: bytes
    type_block: BlockId
    block: BlockId
    supply_block: BlockId
    claim: token_metadata.ItemClaim | None
    type: str
    name: str
    symbol: str
    decimals: int | None
    total_supply: int
    head: BlockId
    holder: bytes | None
    balance: int | None

    def calls(self) -> list[StateQuery]:
        """Return the queries of the labels, that of the supply, and those for the type: of
        TOKEN_CALLS and of the claim."""
        of_type = contract_state.token_queries(self.address, self.type_block)
        if self.claim is not None:
            of_type += contract_state.item_queries(self.address, self.claim, self.type_block)
        labels = token_metadata.NAME, token_metadata.SYMBOL, token_metadata.DECIMALS
        supply = StateQuery(self.address, token_metadata.TOTAL_SUPPLY, self.supply_block)
        return [*(StateQuery(self.address, data, self.block) for data in labels), supply, *of_type]

    def codes(self) -> list[StateQuery]:
        """Return the queries of its code, which is None where the state is pruned."""
        blocks = dict.fromkeys((self.type_block, self.block, self.supply_block, self.head))
        return [StateQuery(self.address, None, block, is_of_block_only=True) for block in blocks]

    def calls_at_head(self) -> list[StateQuery]:
        """Return the queries of the supply and of the holder's balance at the head."""
        if self.holder is None:
            return []
        views = token_metadata.TOTAL_SUPPLY, token_metadata.balance_of(self.holder)
        return [StateQuery(self.address, data, self.head) for data in views]

    def unmarked(self, results: Mapping[StateQuery, bytes | None]) -> Iterator[str]:
        """Yield how the index differs from the token's answers at the head, where its readings do
        not say so: what changed without a sign since they were made."""
        expected = self.total_supply, self.balance
        names = "total_supply", f"the balance of {to_hex(self.holder or b'')} by its events"
        for query, value, name in zip(self.calls_at_head(), expected, names, strict=False):
            answer = token_metadata.word(results[query])
            if answer is not None and answer != value:
                yield f"{name} is {value}, the node has {answer} at block {self.head.number}"


class TokenComparison:
    """Compares readings of tokens. Raises NodeError where the node fails."""

    def __init__(self, database: Database, node: client.Node) -> None:
        self._database = database
        self._state = StateReader(node, patience_s=0)
        self.compared = 0
        self.without_state = 0  # tokens of whose blocks the node has pruned the state

    def differences(self, most: int) -> Iterator[tuple[bytes, str]]:
        """Yield the address of each token that differs with a line that says how: of about `most`
        tokens from a random address on, or of all for 0."""
        after = secrets.token_bytes(20) if most else b""
        turns = 1 if most else 0
        while not most or self.compared + self.without_state < most:
            rows = self._database.rows("audit/tokens_list_readings", after=after, most=PAGE_TOKENS)
            page = [
                Reading._make(
                    (
                        bytes(row[0]),
                        *(BlockId(row[at], bytes(row[at + 1])) for at in (1, 3, 5)),
                        row[7]
                        and token_metadata.ItemClaim(bytes(row[7]), int(row[8]), is_after=True),
                        *row[9:14],
                        BlockId(row[14], bytes(row[15])),
                        row[16] and bytes(row[16]),
                        row[17],
                    )
                )
                for row in rows
            ]
            yield from self._compare(page)
            if page:
                after = page[-1].address
            elif turns:
                after, turns = b"", turns - 1
            else:
                return

    def _compare(self, page: list[Reading]) -> Iterator[tuple[bytes, str]]:
        codes = [query for reading in page for query in reading.codes()]
        calls = [q for reading in page for q in (*reading.calls(), *reading.calls_at_head())]
        results = self._state.read([*codes, *calls])
        pruned = {query.address for query in codes if results[query] is None}
        pruned |= self._state.unreadable.intersection(reading.address for reading in page)
        self.without_state += len(pruned)
        self.compared += len(page) - len(pruned)
        for reading in page:
            if reading.address in pruned:
                continue
            name, symbol, decimals, supply, *of_type = (results[q] for q in reading.calls())
            count = len(token_metadata.TOKEN_CALLS)
            metadata = token_metadata.decode_token_metadata(
                of_type[:count], reading.claim, of_type[count:]
            )
            answers = {
                "type": events.token_type(events.SHAPES[reading.type], metadata),
                "name": token_metadata.text(name, token_metadata.MAX_NAME),
                "symbol": token_metadata.text(symbol, token_metadata.MAX_SYMBOL),
                "decimals": token_metadata.decimal_places(decimals),
                "total_supply": token_metadata.word(supply) or 0,
            }
            fields = [
                f"{name} is {getattr(reading, name)!s}, the node has {answer!s}"
                for name, answer in answers.items()
                if getattr(reading, name) != answer
            ]
            fields += reading.unmarked(results)
            if fields:
                yield reading.address, f"token {to_hex(reading.address)}: {'; '.join(fields)}"
