"""The balance of an address over time, from its newest balance and all that changed it since."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from scan.errors import InvalidParameter, NotFound
from scan.ethereum.units import COIN_DECIMALS
from scan.parameters import BIGINT_MAX
from scan.queries import addresses, history, tokens
from scan.queries.cursors import HASH, INVALID, ORDINAL, Kind, Traversal
from scan.queries.history import HistoryFilter, HistoryPage
from scan.queries.network import coin_symbol
from scan.queries.pages import Window
from scan.queries.reader import Reader

# Of each of an address's lists; PostgreSQL takes up to a microsecond a row that is in memory.
MAX_ROWS_READ = 10_000
WEI = Kind(bytes, 40)  # signed: where blocks lack traces a sum may be below zero
POSITION = (ORDINAL, HASH, WEI)


class BalanceHistory(NamedTuple):
    """`points` are records of blocks, oldest first, with the balance after each in the smallest
    unit. `check` has why they may be wrong, `next` leads to the balances before these."""

    points: list[dict[str, Any]]
    symbol: str
    decimals: int
    check: HistoryPage
    next: str | None


def page(
    reader: Reader,
    address: bytes,
    points: int,
    token: bytes | None = None,
    cursor: str | None = None,
) -> BalanceHistory:
    """Return balances after so many evenly spaced blocks, from the first change to the newest one.
    No state of an older block is read from the node. Raises InvalidParameter for a cursor of
    another list or of blocks that a fork took, NotFound for an unknown token, UpstreamFailed."""
    symbol, decimals = _unit(reader, token)
    check = history.page(reader, address, Window(1, 0), HistoryFilter(token=token))
    scope = {"address": address, "token": token, "points": points}
    traversal = Traversal.of("balances", scope, "desc", cursor, POSITION, has_blocks=False)
    if token is not None and not any(address):
        return BalanceHistory([], symbol, decimals, check, None)  # the zero address holds nothing
    newest = _newest(reader, address, token, traversal)
    most = MAX_ROWS_READ
    while True:
        balances, blocks, has_more, before, before_hash, before_balance = reader.row(
            "queries/balances_list",
            is_unbounded=token is not None,
            address=address,
            token=token,
            has_token=token is not None,
            read_by=history.read_by(reader, address, Window(1, 0), HistoryFilter(token=token)),
            block_from=reader.kept_from.number if reader.kept_from else 0,
            **newest,
            most=most,
            points=points,
        )
        if before_balance is not None or not has_more:
            break
        most *= 4  # one block has more of its rows
    following = None
    if has_more and before is not None:
        wei = int(before_balance).to_bytes(WEI.most, signed=True)
        following = traversal.next((before, bytes(before_hash), wei))
    return BalanceHistory(_filled(balances, blocks), symbol, decimals, check, following)


def _unit(reader: Reader, token: bytes | None) -> tuple[str, int]:
    if token is None:
        return coin_symbol(reader), COIN_DECIMALS
    for record in tokens.by_addresses(reader, [token]).values():
        return record["symbol"], record["decimals"]
    raise NotFound("Token not found.")


def _newest(
    reader: Reader, address: bytes, token: bytes | None, traversal: Traversal
) -> Mapping[str, Any]:
    """Return the balance that older ones are computed from, and the block that it was after."""
    if traversal.cursor is not None:
        number, hash_, wei = traversal.cursor.position
        [current] = reader.row("queries/blocks_get_hash", number=number)
        if current is None or bytes(current) != hash_:
            raise InvalidParameter(INVALID, field="cursor")
        return {"block_to": number, "balance": int.from_bytes(bytes(wei), signed=True)}
    if token is not None:
        return {"block_to": BIGINT_MAX, "balance": None}
    balance = addresses.get(reader, address).balance
    return {"block_to": balance.block, "balance": int(balance.required_wei())}


def _filled(balances: str, blocks: str) -> list[dict[str, Any]]:
    """Return a record for each block: a balance holds until the next change."""
    changed = {record["point"]: record["balance"] for record in orjson.loads(balances)}
    points: dict[int, dict[str, Any]] = {}
    balance = "0"
    for block in orjson.loads(blocks):
        balance = changed.get(block.pop("point"), balance)
        points.setdefault(block["blockNumber"], {**block, "balance": balance})
    return [*points.values()]
