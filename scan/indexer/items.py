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
    moved = tx.rows("indexer/token_items_list_tokens", **blocks.transfers)
    if not moved:
        return []
    tokens = {kind: [bytes(a) for a, type_ in moved if type_ == kind] for _, kind in moved}
    grown = tx.rows(
        "indexer/token_items_derive",
        sign=sign,
        single_owner=tokens.get("BEP721", []),
        **blocks.transfers,
    )
    if "BEP1155" in tokens:
        tx.execute(
            "indexer/item_balances_derive", sign=sign, tokens=tokens["BEP1155"], **blocks.transfers
        )
    return grown
