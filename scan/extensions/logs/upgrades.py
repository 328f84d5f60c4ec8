"""The implementations that a proxy or a beacon has named in its events, over time."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.client import AnswerTooLarge, RpcError
from scan.ethereum.events import UPGRADED
from scan.extensions.logs import queries, unstored_logs
from scan.extensions.logs.log_filter import LogFilter, having_all
from scan.hex import data, to_hex
from scan.http.current_request import reader as current_reader
from scan.pages import hooks
from scan.queries import contracts
from scan.queries.addresses import Address
from scan.queries.list_pages import Window, in_kept_blocks
from scan.queries.reader import Reader

MOST_SHOWN = 10
MOST_BLOCKS = 256  # with logs of the contract, where these have no rows
BLOCKS_AT_ONCE = 16
READ_S = 0.25


class Upgrade(NamedTuple):
    """An implementation as hex, and the block from which on the event says that it is in use."""

    implementation: str
    block_number: int


class Upgrades(NamedTuple):
    """The newest upgrades, newest first; `is_whole`: there are no others."""

    newest: Sequence[Upgrade]
    is_whole: bool


def upgrades(reader: Reader, address: bytes) -> Upgrades:
    """Return the upgrades that the events of a contract name. Where its logs have no rows, they are
    read in its newest blocks, as far as MOST_BLOCKS and READ_S allow."""
    log_filter = having_all(address, (UPGRADED, *(None,) * (MAX_TOPICS - 1)))
    window = in_kept_blocks(reader, Window(MOST_SHOWN + 1, 0), address)
    is_whole = reader.kept_from_of(address) is None and not reader.first_block
    try:
        if queries.are_stored(reader, log_filter):
            records = queries.records(reader, window, log_filter).records
            logs = [
                (data(topic), record["blockNumber"])
                for record in records
                for topic in record["topics"][1:2]  # an event may have its address in its data
            ]
        else:
            logs, is_complete = _unstored(reader, log_filter, window)
            is_whole = is_whole and is_complete
    except (AnswerTooLarge, RpcError, Unavailable, UpstreamFailed):
        reader.do_not_cache()
        return Upgrades((), is_whole=False)
    newest = [Upgrade(to_hex(topic[12:]), number) for topic, number in logs[:MOST_SHOWN]]
    return Upgrades(newest, is_whole and len(logs) <= MOST_SHOWN)


def _unstored(
    reader: Reader, log_filter: LogFilter, window: Window
) -> tuple[list[tuple[bytes, int]], bool]:
    numbers: Sequence[int]
    [numbers] = reader.row(
        "queries/log_blocks_list",
        addresses=[*log_filter.addresses],
        block_from=window.block_from,
        block_to=window.block_to,
        direction="desc",
        limit=MOST_BLOCKS + 1,
    )
    logs: list[tuple[bytes, int]] = []
    ends_at = time.monotonic() + READ_S
    newest = numbers[:MOST_BLOCKS]
    for start in range(0, len(newest), BLOCKS_AT_ONCE):
        if time.monotonic() > ends_at or len(logs) > MOST_SHOWN:
            return logs, False
        of_blocks = sorted(newest[start : start + BLOCKS_AT_ONCE])
        node = reader.node.within(READ_S)
        found, is_of_node = unstored_logs.read_blocks(reader, node, log_filter, of_blocks)
        if is_of_node:
            reader.reported.add("upgrades")
        newest_first = sorted(found, reverse=True)
        logs += [(topic, log.block_number) for log in newest_first for topic in log.topics[1:2]]
    return logs, len(numbers) <= MOST_BLOCKS


def upgrades_head(key: bytes, account: Address) -> hooks.Shown:
    """Return the values of address_upgrades.html, of a proxy."""
    reader = current_reader()
    is_proxy = account.balance.is_contract and reader.once(contracts.ProxyAt(key))
    read = upgrades(reader, key) if is_proxy else None
    addresses = [upgrade.implementation for upgrade in read.newest] if read else ()
    return hooks.Shown({"upgrades": read}, addresses)
