"""Blocks: their list, one by number, hash or time, blocks of a producer, the pace of the chain, and
withdrawals of validators (EIP-4895) and builders (EIP-7732)."""

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple, cast

import orjson

from scan.errors import NotFound, Unavailable, UpstreamFailed
from scan.ethereum import client, request_node, served_chain
from scan.hex import BadHex, data
from scan.parameters import BIGINT_MAX
from scan.queries.list_pages import Page, Window, in_blocks, in_kept_blocks
from scan.queries.reader import Reader

FINALITY = ("finalized", "safe", "latest")


class Countdown(NamedTuple):
    """The newest block's number, how many blocks remain to a later one (0 where it is indexed), and
    the seconds that these take at the pace of the newest hundred."""

    newest: int
    remaining: int
    seconds: str


class NearestBlocks(NamedTuple):
    """Numbers of the newest block at or before a moment and of the oldest at or after it."""

    before: int | None
    after: int | None


def page(reader: Reader, window: Window) -> Page:
    traversal = window.traversal("blocks", {})
    row = reader.row("queries/blocks_list", **in_blocks(reader, window).params(traversal))
    return Page.from_row(reader, "blocks", traversal, row)


def get(reader: Reader, block: int | bytes | None) -> str | None:
    """Return a block by its number or hash, or the newest, as JSON text; None if not indexed."""
    is_number, is_hash = isinstance(block, int), isinstance(block, bytes)
    record: str | None
    (record,) = reader.row(
        "queries/blocks_get",
        number=block if is_number else None,
        hash=block if is_hash else None,
        has_number=is_number,
        has_hash=is_hash,
    )
    return reader.with_incomplete(record, "number")


def record(reader: Reader, block: int | bytes | None) -> str:
    """Return a block as get() does; raises NotFound."""
    text = get(reader, block)
    if text is None:
        raise not_indexed(reader, block)
    return text


def nearest(reader: Reader, time_s: int) -> NearestBlocks:
    """Return the blocks nearest to a Unix time in seconds."""
    return NearestBlocks(*reader.row("queries/blocks_get_by_time", time_s=time_s))


def at_time(reader: Reader, time_s: int) -> str | None:
    """Return the newest block at or before a Unix time as JSON text; None before the first."""
    number = nearest(reader, time_s).before
    return None if number is None else get(reader, number)


def find(reader: Reader, block: int | bytes) -> served_chain.BlockId:
    """Return a block by its number or its hash; raises NotFound."""
    is_number = isinstance(block, int)
    number, block_hash = reader.row(
        "queries/blocks_find",
        number=block if is_number else None,
        hash=None if is_number else block,
    )
    if number is None:
        raise not_indexed(reader, block, "block")
    return served_chain.BlockId(number, bytes(block_hash))


def newest(reader: Reader) -> served_chain.BlockId | None:
    """Return the newest block; before the first one that which a development node forks, else
    None."""
    block = served_chain.BlockId.of(*reader.row("queries/blocks_find", number=None, hash=None))
    return block or forked(reader)


def forked(reader: Reader) -> served_chain.BlockId | None:
    """Return the block that a development node forks, whose state it has before its own first
    block; None of others, and where it does not respond."""
    number = reader.sources.database.value("queries/chain_get_forked")
    with suppress(TypeError, KeyError, BadHex, UpstreamFailed, Unavailable, client.RpcError):
        if number is not None:
            header = reader.node.call("eth_getBlockByNumber", hex(number), False)
            return served_chain.BlockId(number, data(header["hash"], 32))
    return None


def or_newest(reader: Reader, block: served_chain.BlockId | None) -> served_chain.BlockId:
    """Return the block, or the newest where it is None; raises NotFound before the first one."""
    block = block or reader.once(newest)
    if block is None:
        raise not_indexed(reader, None)
    return block


def not_indexed(reader: Reader, block: int | bytes | None, field: str | None = None) -> NotFound:
    """Return the error for a block that is not indexed: not yet, no longer, or older than it."""
    number = block if isinstance(block, int) else None
    return reader.not_indexed("This block is not indexed.", number, field)


def newest_number(reader: Reader) -> int | None:
    _, newest = reader.row("queries/blocks_get_ends")
    return None if newest is None else int(newest)


def hash_at(reader: Reader, number: int) -> bytes | None:
    """Return a block's hash; None where it is not indexed."""
    [block_hash] = reader.row("queries/blocks_get_hash", number=number)
    return None if block_hash is None else bytes(block_hash)


def finality(reader: Reader) -> request_node.Finality:
    """Return the node's finality; nothing before the first block."""
    newest = newest_number(reader)
    if newest is None:
        return request_node.Finality()
    node_finality = reader.sources.finality.at(reader.node, newest, partial(hash_at, reader))
    if reader.sources.finality.is_paused:
        reader.do_not_cache()
    return node_finality


def finality_of(reader: Reader, number: int, confirmations: int) -> str | None:
    """Return the strongest of the node's tags whose block is not before this one, of FINALITY; None
    where the chain has no safe and finalized blocks, or the node does not answer. `confirmations`
    are those of a record, which tell the newest block of its version of the index. What else a
    response has may be cached without it where the node is slow."""
    node = reader.sources.gateway.session(reader.client)
    newest = reader.sources.finality.at(node, number + confirmations - 1, partial(hash_at, reader))
    if newest.finalized is not None and number <= newest.finalized:
        return "finalized"
    if node.failed and not reader.sources.finality.is_paused:
        reader.do_not_cache()
    if newest == (None, None):
        return None
    return "safe" if newest.safe is not None and number <= newest.safe else "latest"


def mined_by(
    reader: Reader,
    miner: bytes,
    limit: int,
    offset: int = 0,
    *,
    since: int = 0,
    before: int = BIGINT_MAX,
) -> tuple[list[dict[str, Any]], int | None]:
    """Return {number, seconds, block, reward} of blocks that an address produced, the newest first,
    and the number of the last one where more follow. Rewards are right only where the block's rows
    are kept; callers bound the offset."""
    rows, following = reader.row(
        "queries/blocks_list_by_miner",
        miner=miner,
        limit=limit,
        offset=offset,
        since=since,
        before=before,
    )
    return orjson.loads(rows), following


def amounts(reader: Reader, numbers: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Return sums of fees and counts of rows of blocks, by number as text; see the statement."""
    (rows,) = reader.row("queries/blocks_list_amounts", numbers=[*numbers])
    return cast("dict[str, dict[str, Any]]", orjson.loads(rows))


def countdown(reader: Reader, target: int) -> Countdown | None:
    """Return the countdown to a block; None where too few blocks are indexed to have a pace."""
    newest, interval_s = pace(reader)
    if newest is None or interval_s is None:
        return None
    remaining = max(target - newest, 0)
    return Countdown(newest, remaining, f"{Decimal(interval_s) * remaining:.1f}")


def confirmations(number: int, newest: int | None) -> int:
    """Return how many blocks confirm block `number`, itself included."""
    return 0 if newest is None else newest - number + 1


def pace(reader: Reader) -> tuple[int | None, float | None]:
    """Return the newest block's number, and the seconds between blocks; each may be None."""
    newest, interval_s = reader.row("queries/blocks_get_interval")
    return newest, interval_s


def withdrawals_page(
    reader: Reader, window: Window, *, address: bytes | None = None, before_index: int | None = None
) -> list[dict[str, Any]]:
    """Return withdrawals, to an address or all, before an index; the window should end at the block
    of that index, since the withdrawals of later blocks are read, too."""
    window = in_kept_blocks(reader, window, *filter(None, [address]))
    rows, _ = reader.row(
        "queries/withdrawals_list",
        is_unbounded=before_index is not None and window.block_to == BIGINT_MAX,
        address=address,
        has_address=address is not None,
        block_from=window.block_from,
        block_to=window.block_to,
        before_index=before_index,
        direction=window.direction,
        limit=window.limit,
        offset=window.offset,
    )
    records: list[dict[str, Any]] = orjson.loads(rows)
    return records


def count(reader: Reader) -> int:
    """Return the number of the chain's withdrawals, whose indexes begin with 0 (EIP-4895)."""
    newest = withdrawals_page(reader, Window(1, 0))
    return int(newest[0]["index"]) + 1 if newest else 0
