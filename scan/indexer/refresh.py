"""What the node alone knows and changes: balances and supplies, read at the head when idle."""

from typing import Any

from scan.db import Database
from scan.indexer.write import Head
from scan.metadata import TOTAL_SUPPLY
from scan.quantity import UINT256_MAX, BadHex, data, quantity, to_hex
from scan.rpc import Call, Node, NodeError, RpcError

AT_ONCE = 500


class Refresher:
    """Reads what the database marks as stale, pinned to the head, a bounded number at a time."""

    def __init__(self, node: Node, database: Database) -> None:
        self._node = node
        self._database = database

    def refresh(self, head: Head | None) -> bool:
        """Whether there was anything to read."""
        if head is None:
            return False
        return self._supplies(head.number) or self._balances(head.number)

    def _supplies(self, block_number: int) -> bool:
        tokens = self._stale("tokens_stale")
        calls = [
            Call("eth_call", ({"to": to_hex(token), "data": TOTAL_SUPPLY}, hex(block_number)))
            for token in tokens
        ]
        supplies = [_supply(answer) for answer in self._node.batch(calls)]
        if tokens:
            self._store(
                "tokens_refresh", addresses=tokens, supplies=supplies, block_number=block_number
            )
        return bool(tokens)

    def _balances(self, block_number: int) -> bool:
        addresses = self._stale("addresses_stale")
        calls = [
            Call("eth_getBalance", (to_hex(address), hex(block_number))) for address in addresses
        ]
        balances = [_balance(answer) for answer in self._node.batch(calls)]
        if addresses:
            self._store(
                "addresses_refresh",
                addresses=addresses,
                balances=balances,
                block_number=block_number,
            )
        return bool(addresses)

    def _store(self, statement: str, **params: object) -> None:
        with self._database.transaction() as tx:
            tx.execute(statement, **params)
            tx.execute("chain_announce")

    def _stale(self, statement: str) -> list[bytes]:
        return [bytes(row[0]) for row in self._database.rows(statement, limit=AT_ONCE)]


def _supply(answer: Any) -> int:
    """0 where totalSupply() reverts or is missing."""
    if isinstance(answer, RpcError):
        return 0
    try:
        return int.from_bytes(data(answer)[:32])
    except BadHex as error:
        raise NodeError(f"the node's answer to eth_call is malformed: {error}") from error


def _balance(answer: Any) -> int:
    if isinstance(answer, RpcError):
        raise NodeError(f"the node refuses a balance: {answer}")
    try:
        return min(quantity(answer), UINT256_MAX)
    except BadHex as error:
        raise NodeError(f"the node's answer to eth_getBalance is malformed: {error}") from error
