"""What the node alone knows and changes: balances and supplies, read when there is time."""

from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.ethereum.token_metadata import TOTAL_SUPPLY, word
from scan.indexer.contract_inspection import Supply
from scan.indexer.contract_state import At, Question, StateReader
from scan.indexer.writer import Head, Writer

AT_ONCE = 500


class Refresher:
    """Reads what the database marks as stale, a bounded number at a time."""

    def __init__(self, node: Node, database: Database, writer: Writer) -> None:
        self._state = StateReader(node)
        self._database = database
        self._writer = writer

    def refresh(self, head: Head) -> bool:
        """Whether there was anything to read."""
        return self._supplies(head) or self._balances(head)

    def _supplies(self, head: Head) -> bool:
        """After each token's last transfer, so that the way to the head makes no difference."""
        questions = [
            Question(bytes(token), TOTAL_SUPPLY, At(number, bytes(block_hash)))
            for token, number, block_hash in self._database.rows(
                "indexer/tokens_list_stale", limit=AT_ONCE
            )
        ]
        answers = self._state.read(questions)
        supplies = [Supply(q.address, word(answers[q]) or 0, q.at.number) for q in questions]
        if supplies:
            self._writer.store_supplies(head, supplies)
        return bool(supplies)

    def _balances(self, head: Head) -> bool:
        rows = self._database.rows("indexer/addresses_list_stale", limit=AT_ONCE)
        addresses = [bytes(row[0]) for row in rows]
        balances = self._state.balances(addresses, At(head.number, head.hash))
        if addresses:
            self._writer.store_balances(head, addresses, balances)
        return bool(addresses)
