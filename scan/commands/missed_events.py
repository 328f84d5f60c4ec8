"""Events of restored webhooks: of blocks that were indexed after the file of owners' data was
written, and before it is restored. They are made of the rows of these blocks, and of the logs that
are stored with them, in the transaction that restores the webhooks.
"""

from collections.abc import Collection, Iterator, Sequence

from scan.audit.stored_source import StoredSource
from scan.database.owners_file import OwnersFileError
from scan.database.transaction import Transaction
from scan.ethereum.stored_blocks import DamagedBody
from scan.indexer import block_rows, derivation

MOST_BLOCKS = 100_000  # the indexer waits meanwhile
RANGE_BLOCKS = 1000
WAY_OUT = (
    "Nothing was restored; restore the file into a database that has not been indexed, or have"
    " webhooks go on with the next block: --without-past-events"
)


def insert(tx: Transaction) -> None:
    """Insert the events of the webhooks that this transaction has restored. Raises OwnersFileError
    where the database no longer has what they are made of, or they are of too many blocks."""
    ids, first, newest, kept_from, emitters = tx.rows("commands/webhooks_list_restored")[0]
    if ids is None or newest is None or first > newest:
        return
    if newest - first >= MOST_BLOCKS or (kept_from is not None and first < kept_from):
        reason = f"more than {MOST_BLOCKS:,}" if kept_from is None else "rows of them are removed"
        raise OwnersFileError(
            f"webhooks of this file have events in blocks {first} to {newest}, which are indexed"
            f" already: {reason}. {WAY_OUT}"
        )
    for start in range(first, newest + 1, RANGE_BLOCKS):
        end = min(start + RANGE_BLOCKS - 1, newest)
        logs = [*_logs(tx, {bytes(address) for address in emitters}, start, end)]
        derivation.insert(tx, derivation.read_block_range(tx, start, end), logs, only=ids)


def skip(tx: Transaction) -> None:
    """Have the webhooks that this transaction has restored go on with the next block."""
    tx.execute("commands/webhooks_begin_restored")


def _logs(
    tx: Transaction, emitters: Collection[bytes], first: int, last: int
) -> Iterator[block_rows.WatchedLog]:
    """Yield the logs of emitters in a range of blocks."""
    if not emitters:
        return
    selection = block_rows.NO_LOGS._replace(watched=frozenset(emitters))
    source = StoredSource(tx)
    numbers: Sequence[tuple[int]] = tx.rows(
        "commands/log_blocks_list", addresses=[*emitters], block_from=first, block_to=last
    )
    for (number,) in numbers:
        try:
            [fetched] = source.blocks(number, number)
        except DamagedBody as error:
            raise OwnersFileError(
                f"webhooks of this file have logs in the block {number}, which is indexed already"
                f" and not stored: {error.message}. {WAY_OUT}"
            ) from None
        yield from block_rows.make_block_rows(fetched, selection).watched_logs
