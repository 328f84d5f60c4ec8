"""Derives items and their owners from the transfers of blocks."""

from scan.database.transaction import Row, Transaction
from scan.indexer.block_range import BlockRange


def derive(tx: Transaction, written: BlockRange) -> list[Row]:
    """Returns the lists that passed a checkpoint: list, key, entries they had before."""
    return _derive(tx, written, sign=1)


def unwind(tx: Transaction, orphaned: BlockRange) -> None:
    """To be called while the transfers of these blocks are still there."""
    _derive(tx, orphaned, sign=-1)
    tx.execute("indexer/token_items_unwind", **orphaned.transfers)


def _derive(tx: Transaction, blocks: BlockRange, sign: int) -> list[Row]:
    types = {row[0] for row in tx.rows("indexer/token_items_list_types", **blocks.transfers)}
    if not types:
        return []
    grown = tx.rows("indexer/token_items_derive", span=blocks.span, sign=sign)
    if "BEP1155" in types:
        tx.execute("indexer/item_balances_derive", span=blocks.span, sign=sign)
    return grown
