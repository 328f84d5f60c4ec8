"""Pages of the five entities: which statement serves a filter, and where it may start."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from scan.database.connection import Database
from scan.parameters import BIGINT_MAX


class Window(NamedTuple):
    """What part of a list is wanted: `direction` is asc or desc."""

    limit: int
    offset: int
    direction: str = "desc"
    block_from: int = 0
    block_to: int = BIGINT_MAX

    @property
    def is_whole(self) -> bool:
        return self.block_from == 0 and self.block_to == BIGINT_MAX


@dataclass(frozen=True)
class Records:
    """`data` is a JSON array as text; `total` counts the rows that match the filter."""

    data: str
    count: int
    total: int


def page(name: str, found: Records) -> str:
    """A list's body: {name: [...], total}."""
    return f'{{"{name}":{found.data},"total":{found.total}}}'


def blocks(reads: Database, window: Window) -> Records:
    return _records(reads, "api/blocks_list", window)


def tokens(reads: Database, window: Window) -> Records:
    row = reads.prepared_row(
        "api/tokens_list",
        direction=window.direction,
        limit=window.limit,
        offset=window.offset,
    )
    assert row is not None
    return Records(*row)


def transactions(
    reads: Database,
    window: Window,
    *,
    address: bytes | None = None,
    sender: bytes | None = None,
    recipient: bytes | None = None,
) -> Records:
    filters = {"address": address, "from": sender, "to": recipient}
    return _filtered(reads, "transactions", filters, window)


def token_transfers(
    reads: Database,
    window: Window,
    *,
    address: bytes | None = None,
    sender: bytes | None = None,
    recipient: bytes | None = None,
    token: bytes | None = None,
) -> Records:
    filters = {"address": address, "from": sender, "to": recipient, "token": token}
    return _filtered(reads, "token_transfers", filters, window)


def dex_trades(
    reads: Database, window: Window, *, maker: bytes | None = None, dex: str | None = None
) -> Records:
    return _filtered(reads, "dex_trades", {"maker": maker, "dex": dex}, window)


def _filtered(
    reads: Database, entity: str, filters: Mapping[str, bytes | str | None], window: Window
) -> Records:
    """No filter: by ordinal. One: from its nearest checkpoint. Several: the narrowest index."""
    given = [name for name, value in filters.items() if value is not None]
    if not given:
        return _records(reads, f"api/{entity}_list", window)
    is_single = len(given) == 1 and window.is_whole
    key = filters[given[0]]
    checkpoints: dict[str, object] = {
        "list": f"{entity}_by_{given[0]}" if is_single else None,
        "key": (key.encode() if isinstance(key, str) else key) if is_single else None,
    }
    statement = f"api/{entity}_list_by_party"
    if filters.get("address") is not None:
        statement = f"api/{entity}_list_by_address"
    else:
        filters = {name: value for name, value in filters.items() if name != "address"}
    # Which index is the narrowest for a combination depends on the values themselves.
    return _records(reads, statement, window, is_prepared=is_single, **filters, **checkpoints)


def _records(
    reads: Database,
    statement: str,
    window: Window,
    *,
    is_prepared: bool = True,
    **filters: object,
) -> Records:
    read = reads.prepared_row if is_prepared else reads.row
    row = read(
        statement,
        limit=window.limit,
        offset=window.offset,
        direction=window.direction,
        block_from=window.block_from,
        block_to=window.block_to,
        **filters,
    )
    assert row is not None
    return Records(*row)
