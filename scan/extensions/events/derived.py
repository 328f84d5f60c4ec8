"""Logs of followed contracts in blocks that the indexer writes: decoded with them; and the blocks
from which on they are followed, once others are removed."""

from scan.database import transaction
from scan.extensions.events import event_decoding
from scan.indexer.hooks import BlockRange, Derived


def _derive(tx: transaction.Transaction, written: BlockRange) -> list[transaction.Row]:
    block_from, block_to, *_ = written.span
    event_decoding.decode_new(tx, block_from, block_to)
    return []


def _unwind(tx: transaction.Transaction, orphaned: BlockRange) -> None:
    tx.execute("indexer/followed_contracts_unwind", last_kept=orphaned.span[0] - 1)


HOOKS = Derived(tables={}, derive=_derive, unwind=_unwind)
