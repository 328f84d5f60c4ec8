"""The comparison of what the index has of tokens with what they answer at the node.

A reading is of a block: the node is asked at that block, and a token is passed over where the node
has pruned the block's state.
"""

import secrets
from collections.abc import Iterator
from typing import NamedTuple

from scan.database.connection import Database
from scan.ethereum import token_metadata
from scan.ethereum.client import Node
from scan.ethereum.events import SHAPES, token_type
from scan.hex import to_hex
from scan.indexer.contract_state import BlockId, StateQuery, StateReader

PAGE_TOKENS = 100


class Reading(NamedTuple):
    """What the index has of a token, and the blocks that it is of."""

    address: bytes
    block: BlockId
    supply_block: BlockId
    type: str
    name: str
    symbol: str
    decimals: int
    total_supply: int


class TokenComparison:
    """Compares readings of tokens. Raises NodeError where the node fails."""

    def __init__(self, database: Database, node: Node) -> None:
        self._database = database
        self._state = StateReader(node)
        self.compared = 0
        self.without_state = 0  # tokens of whose blocks the node has pruned the state

    def differences(self, most: int) -> Iterator[tuple[bytes, str]]:
        """Yield the address of each token that differs with a line that says how: of about `most`
        tokens from a random address on, or of all for 0."""
        after = secrets.token_bytes(20) if most else b""
        turns = 1 if most else 0
        while not most or self.compared + self.without_state < most:
            page = [
                Reading(bytes(address), BlockId(n, bytes(h)), BlockId(s, bytes(g)), *values)
                for address, n, h, s, g, *values in self._database.rows(
                    "audit/tokens_list_readings", after=after, most=PAGE_TOKENS
                )
            ]
            yield from self._compare(page)
            if page:
                after = page[-1].address
            elif turns:
                after, turns = b"", turns - 1
            else:
                return

    def _compare(self, page: list[Reading]) -> Iterator[tuple[bytes, str]]:
        queries = [
            query
            for reading in page
            for query in (
                StateQuery(reading.address, None, reading.block, is_of_block_only=True),
                StateQuery(reading.address, None, reading.supply_block, is_of_block_only=True),
                *_calls(reading),
                _supply(reading),
            )
        ]
        results = self._state.read(queries)
        codes = {query for query in queries if query.data is None}
        pruned = {query.address for query in codes if results[query] is None}
        self.without_state += len(pruned)
        self.compared += len(page) - len(pruned)
        for reading in page:
            if reading.address in pruned:
                continue
            found = [results[query] for query in _calls(reading)]
            metadata = token_metadata.decode_token_metadata(found)
            answers = {
                "name": metadata.name,
                "symbol": metadata.symbol,
                "decimals": metadata.decimals,
                "type": token_type(SHAPES[reading.type], metadata),
                "total_supply": token_metadata.word(results[_supply(reading)]) or 0,
            }
            fields = [
                f"{name} is {getattr(reading, name)!s}, the node has {answer!s}"
                for name, answer in answers.items()
                if getattr(reading, name) != answer
            ]
            if fields:
                yield reading.address, f"token {to_hex(reading.address)}: {'; '.join(fields)}"


def _calls(reading: Reading) -> list[StateQuery]:
    calls = token_metadata.TOKEN_CALLS
    return [StateQuery(reading.address, data, reading.block) for data in calls]


def _supply(reading: Reading) -> StateQuery:
    return StateQuery(reading.address, token_metadata.TOTAL_SUPPLY, reading.supply_block)
