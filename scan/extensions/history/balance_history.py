"""The balance of an address over time: after each block that changed it, computed backwards from
its newest balance and its history.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from scan.errors import HistoryUnavailable, InvalidParameter, NotFound, Unavailable, UpstreamFailed
from scan.ethereum import client, state_proofs
from scan.ethereum.served_chain import BlockId
from scan.ethereum.units import COIN_DECIMALS
from scan.extensions.history import queries as history
from scan.hex import BadHex, data, quantity, to_hex
from scan.parameters import BIGINT_MAX
from scan.queries import addresses, balances, blocks, network, tokens
from scan.queries.cursors import HASH, INVALID, ORDINAL, Kind, Traversal
from scan.queries.list_pages import Window, in_blocks
from scan.queries.reader import Reader

# In each list of an address; PostgreSQL takes up to a microsecond a row that is in memory.
MAX_ROWS_READ = 10_000


class BalanceBounds:
    """The bound of the rows of one page."""

    rows_read = MAX_ROWS_READ


INTEGER_MAX = 2**31 - 1
WHOLE = Window(1, 0)
WEI = Kind(bytes, 40)  # signed: where blocks lack traces a sum may be below zero
POSITION = (ORDINAL, HASH, WEI)


class BalanceHistory(NamedTuple):
    """`points` are records of blocks, oldest first, with the balance after each in the smallest
    unit. `check` says why they may be wrong, `next` is the cursor of older balances. `at` is the
    record of the block at the end of a window."""

    points: list[dict[str, Any]]
    symbol: str
    decimals: int | None
    check: history.HistoryPage
    next: str | None
    at: dict[str, Any] | None = None
    unproven: Sequence[str] = ()


OF_TOKEN = ("symbol", "decimals", *history.COMPARED)
# A trace may have made up an internal transfer between two proven balances.
REPORTED = ("balances", "at")
PROOF_S = 0.5


def page(
    reader: Reader, address: bytes, points: int, token: bytes | None = None, window: Window = WHOLE
) -> BalanceHistory:
    """Return the balances after `points` evenly spaced blocks, from the first change to the newest
    one, or to the end of the window. State of older blocks is read from the node only for a token
    whose events do not add up.

    Raises InvalidParameter for a cursor of another list or of orphaned blocks, NotFound for an
    unknown token and where no block is indexed at the window's end, HistoryUnavailable where its
    rows are not kept, UpstreamFailed.
    """
    symbol, decimals, is_consistent = _unit(reader, token)
    of_token = history.HistoryFilter((*history.TYPES,), token=token)
    check = history.page(reader, address, WHOLE, of_token)
    scope = {"address": address, "token": token, "points": points, "time_to": window.time_to}
    if window.block_to < BIGINT_MAX:
        scope["block_to"] = window.block_to
    traversal = Traversal.of("balances", "desc", scope)
    if window.cursor is not None:
        traversal = traversal.at(window.cursor, POSITION, has_blocks=False)
    last = None if window.cursor else _last_block(reader, address, window)
    if token is not None and not any(address):  # the zero address holds nothing
        at = next(iter(_records(reader, address, None, _end(last, 0))), None)
        return BalanceHistory([], symbol, decimals, check, None, at, OF_TOKEN)
    newest = _newest(reader, address, token, traversal)
    read = partial(
        reader.row,
        "queries/balances_list",
        address=address,
        token=token,
        has_token=token is not None,
        read_by=history.read_by(reader, address, WHOLE, of_token),
    )
    if last is not None and last["number"] < newest["block_to"]:
        *_, balance = read(
            **newest, is_unbounded=True, block_from=last["number"] + 1, most=INTEGER_MAX, points=1
        )
        newest = {"block_to": last["number"], "balance": int(balance)}
    most, kept_from = reader.sources.get(BalanceBounds).rows_read, reader.kept_from_of(address)
    while True:
        changed, spaced, has_more, before, before_hash, before_balance = read(
            is_unbounded=token is not None,
            block_from=kept_from.number if kept_from else 0,
            **newest,
            most=most,
            points=points,
        )
        if before is not None or not has_more:
            break
        most *= 4  # a single block has more rows than that
    following = None
    if has_more and before is not None:
        wei = int(before_balance).to_bytes(WEI.most, signed=True)
        following = traversal.next((before, bytes(before_hash), wei))
    filled = _filled(changed, spaced)
    end = filled[-1:] if filled and last is not None else _end(last, newest["balance"] or 0)
    records = partial(_records, reader, address, None if is_consistent else token)
    at = next(iter(records(end)), None)
    unproven = history.COMPARED if token is None else OF_TOKEN
    if token is None or not is_consistent:
        unproven = (*unproven, *(REPORTED if at else REPORTED[:1]))
    return BalanceHistory(records(filled), symbol, decimals, check, following, at, unproven)


def _records(
    reader: Reader, address: bytes, token: bytes | None, points: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the records of points, of a `token` with the balances that it answers there. Points
    without an answer are missing, and so are those with a sum below zero, which is no balance."""
    answers: Mapping[int, int] = {}
    if token is not None:
        ids = [BlockId(point["blockNumber"], data(point["hash"])) for point in points]
        answers = balances.over_time(reader, token, address, ids)
    records = []
    for point in points:
        number, sum_ = point["blockNumber"], int(point["balance"])
        balance = sum_ if token is None else answers.get(number, -1)
        if balance >= 0:
            at = {"blockNumber": number, "timestamp": point["timestamp"]}
            records.append({**at, "balance": str(balance)})
    return records


def _end(block: Mapping[str, Any] | None, balance: int) -> list[dict[str, Any]]:
    """Return the only point of a window's last block, if it has an end."""
    if block is None:
        return []
    at = {"blockNumber": block["number"], "hash": block["hash"], "timestamp": block["timestamp"]}
    return [{**at, "balance": str(balance)}]


def _last_block(reader: Reader, address: bytes, window: Window) -> Mapping[str, Any] | None:
    """Return the record of a window's last block; None where the window has no end."""
    if window.block_to == BIGINT_MAX and window.time_to is None:
        return None
    last = in_blocks(reader, window).block_to
    newest = blocks.newest_number(reader)
    record = None if newest is None else blocks.get(reader, min(last, newest))
    if record is None:
        raise NotFound("No block is indexed at or before this block or time.")
    kept_from = reader.kept_from_of(address)
    if kept_from is not None and last < kept_from.number - 1:
        raise HistoryUnavailable(
            f"The balance then is not known: rows before block {kept_from.number} are not kept."
        )
    block: Mapping[str, Any] = orjson.loads(record)
    return block


def _unit(reader: Reader, token: bytes | None) -> tuple[str, int | None, bool]:
    """Return symbol and decimals, and whether events add up to balances."""
    if token is None:
        return network.coin_symbol(reader), COIN_DECIMALS, True
    for record in tokens.records_of(reader, [token]).values():
        return record["symbol"], record["decimals"], "inconsistentSince" not in record
    raise NotFound("Token not found.")


def _newest(
    reader: Reader, address: bytes, token: bytes | None, traversal: Traversal
) -> Mapping[str, Any]:
    """Return the balance that older ones are computed from, and its block, as parameters."""
    if traversal.cursor is not None:
        number, hash_, wei = traversal.cursor.position
        assert isinstance(number, int)
        if blocks.hash_at(reader, number) != hash_:
            raise InvalidParameter(INVALID, field="cursor")
        return {"block_to": number, "balance": int.from_bytes(bytes(wei), signed=True)}
    if token is not None:
        return {"block_to": BIGINT_MAX, "balance": None}
    newest = addresses.get(reader, address).balance.required()
    proven = _proven_balance(reader, address, newest.block)
    return {"block_to": newest.block, "balance": int(newest.wei) if proven is None else proven}


def _proven_balance(reader: Reader, address: bytes, number: int) -> int | None:
    """Return the balance after a block that the node proves; None where it proves none."""
    proofs, node = reader.sources.get(state_proofs.AccountProofs), reader.node.within(PROOF_S)
    try:
        return proofs.read(node, address, blocks.find(reader, number)).balance
    except (HistoryUnavailable, NotFound, Unavailable, UpstreamFailed):
        return None


def _filled(sums: str, spaced: str) -> list[dict[str, Any]]:
    """Return a record for each block, with the balance of the newest change up to it."""
    changed = {record["point"]: record["balance"] for record in orjson.loads(sums)}
    points: dict[int, dict[str, Any]] = {}
    balance = "0"
    for block in orjson.loads(spaced):
        balance = changed.get(block.pop("point"), balance)
        points.setdefault(block["blockNumber"], {**block, "balance": balance})
    return [*points.values()]


ROWS_AT_ONCE = 100
MAX_ROWS = 1000


class CoinBalance(NamedTuple):
    """`value` is the balance after a block in wei, None where the node does not give the balance
    that it is computed from, or the changes do not add up to it; `delta` is the block's change.
    `transaction_hash` is None where several transactions moved coin, or none."""

    block_number: int
    timestamp: str
    delta: int
    value: int | None
    transaction_hash: str | None


def coin_balances_page(
    reader: Reader, address: bytes, limit: int, block_to: int = BIGINT_MAX
) -> tuple[list[CoinBalance], bool]:
    """Return the newest changes up to a block, and whether older ones follow. The node is asked for
    the balances after the newest and the oldest of them: where these do not differ by the changes
    between, only the newest has a value. Without state, the newest is the address's own balance."""
    rows, has_more, adds_up = _rows(reader, address, limit, block_to)
    grouped = [(number, [*of]) for number, of in groupby(rows, lambda row: row["blockNumber"])]
    if has_more and len(grouped) > 1:
        grouped.pop()  # the rest of the block may not have been read
    entries = grouped[:limit]
    if not entries:
        return [], False
    ends = (entries[0][0], entries[-1][0])
    value, oldest = _balances(reader, address, ends)
    if value is None and block_to == BIGINT_MAX:
        value = int(addresses.get(reader, address).balance.required(ends[0]).wei)
    changes: list[CoinBalance] = []
    for number, of_block in entries:
        delta = sum(history.SIGNS[row["direction"]] * int(row["amount"]) for row in of_block)
        hashes = {row["transactionHash"] for row in of_block}
        hash_ = hashes.pop() if len(hashes) == 1 else None
        changes.append(CoinBalance(number, of_block[0]["timestamp"], delta, value, hash_))
        value = None if value is None else value - delta
    adds_up = adds_up if oldest is None else changes[-1].value == oldest
    changes[1:] = [change if adds_up else change._replace(value=None) for change in changes[1:]]
    return changes, has_more or len(grouped) > limit


def _rows(
    reader: Reader, address: bytes, limit: int, block_to: int
) -> tuple[Sequence[Mapping[str, Any]], bool, bool]:
    """Return rows of more blocks than a page has, up to MAX_ROWS, whether older ones follow, and
    False where all rows are known not to add up to the balance."""
    rows: list[Mapping[str, Any]] = []
    cursor = None
    of_coin = history.HistoryFilter(
        tuple(name for name in history.TYPES if name != "token_transfer")
    )
    while True:
        window = Window(ROWS_AT_ONCE, 0, block_to=block_to, cursor=cursor)
        read = history.page(reader, address, window, of_coin)
        rows += orjson.loads(read.data)
        cursor = read.next
        is_enough = len({row["blockNumber"] for row in rows}) > limit or len(rows) >= MAX_ROWS
        if cursor is None or is_enough:
            adds_up = read.reason not in ("untraced_blocks", "unexplained_balance")
            return rows, cursor is not None, adds_up


def _balances(reader: Reader, address: bytes, numbers: Sequence[int]) -> list[int | None]:
    """Return the node's balances after blocks; None where it does not give one."""
    calls = [
        client.Call("eth_getBalance", (to_hex(address), blocks.find(reader, number)))
        for number in numbers
    ]
    try:
        results = reader.node.results(calls)
        balances_ = [None if isinstance(wei, client.RpcError) else quantity(wei) for wei in results]
    except (BadHex, UpstreamFailed, Unavailable):
        balances_ = [None for _ in numbers]
    if None in balances_:
        reader.do_not_cache()
    return balances_
