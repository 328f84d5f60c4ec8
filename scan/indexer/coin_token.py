"""Removes the token that an earlier version made of logs of coin (EIP-7708)."""

import logging

from scan.database.connection import Database
from scan.ethereum.blocks import COIN_EMITTER
from scan.indexer.block_source import BlockSource
from scan.indexer.writer import Writer

log = logging.getLogger(__name__)

STEP_BLOCKS = 1000  # unwound in one transaction


def unwind_coin_token(database: Database, source: BlockSource, writer: Writer) -> None:
    """Unwind the index to the block before the first log of coin that was taken for a token's, so
    that these blocks are indexed anew. May be killed: the next call goes on. Raises NodeError."""
    first: int | None = database.value("indexer/tokens_get_first_block", address=COIN_EMITTER)
    if first is None or not source.blocks(first, first)[0].block.coin_logs:
        return
    oldest: int = database.value("indexer/retention_get_oldest") or 0
    if first < oldest:
        log.error(
            "transfers of coin were taken for a token's from block %d on, whose rows are removed:"
            " index anew into an empty database",
            first,
        )
        return
    log.warning(
        "transfers of coin were taken for a token's: indexing block %d and later anew", first
    )
    while (head := writer.head()) is not None and head.number >= first:
        writer.unwind(max(first - 1, head.number - STEP_BLOCKS))
