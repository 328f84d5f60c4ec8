"""The history of an address: all rows that moved value to or from it, in the chain's order.

The amounts that came in less those that went out are the address's balance: of the coin, or of a
token by its events. Where they are not, `reason` says why.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.cached_values import LazyMapping, LazySequence
from scan.database.lists import all_credit_types
from scan.ethereum.forms.form import PLACE_BITS
from scan.ethereum.forms.matching import FORM_OF_CHAIN
from scan.ethereum.served_chain import BlockId
from scan.ethereum.token_metadata import balance_of
from scan.extensions.history import genesis_balances, sql_values
from scan.queries import addresses, cursors, list_pages, network
from scan.queries.addresses import Balance
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

TYPES = LazySequence(
    lambda: (
        *(type_.name for type_ in sql_values.all_history_types()),
        "block_reward",
        "withdrawal",
        *(type_.name for type_ in all_credit_types()),
        "genesis",
    )
)
SIGNS = {"in": 1, "out": -1, "self": 0}
DIRECTIONS = tuple(SIGNS)
GROUPS = ("transaction",)
# The fields that all rows of a transaction have in common.
OF_ENTRY = ("transactionHash", "methodId", "blockNumber", "timestamp", "transactionIndex")
# Ordinals of coin, fees, internal transfers, tokens, blocks produced; block and index of
# withdrawals; ordinals of credits by type; genesis.
POSITION = LazySequence(lambda: (cursors.ORDINAL,) * (8 + len(all_credit_types())))
# A list of what an address sent has what it sent to itself, too: where these rows are more, a
# history by direction runs among the few statements that no index bounds.
MAX_TO_SELF = 1000
# Rows of lists without checkpoints; each takes PostgreSQL up to a microsecond.
MAX_COUNTED = 100_000
# Rows that a page of transactions reads at once: most transactions have two or three.
LEAST_ROWS_READ = 256
ROWS_READ_PER_ENTRY = 4


class HistoryBounds:
    """The bounds of one page."""

    to_self, counted = MAX_TO_SELF, MAX_COUNTED
    least_rows_read, rows_read_per_entry = LEAST_ROWS_READ, ROWS_READ_PER_ENTRY


def _unbounded() -> Mapping[str, Any]:
    lists = len(sql_values.history_numbers()) + 1  # whose bounds queries/history_get_bounds returns
    highest = [parameters.BIGINT_MAX] * lists
    return {"has_bounds": False, "lowest": [0] * lists, "highest": highest}


UNBOUNDED: Mapping[str, Any] = LazyMapping(_unbounded)
_STORED: Mapping[str, Any] = {"genesis": None, "is_genesis_proven": None}
_GENESIS = 16  # the place in the row of whether the balance at genesis is proven
REASONS = tuple(
    """
    not_kept start_block untraced_blocks unexplained_balance balance_unknown inconsistent_events
    """.split()
)


# The fields that compare rows with a balance, which the node reports.
COMPARED = ("complete", "reason", "unexplained")


class HistoryFilter(NamedTuple):
    """A filter of rows, of which None matches all; a token selects its transfers alone."""

    types: tuple[str, ...]
    direction: str | None = None
    token: bytes | None = None
    counterparty: bytes | None = None


@dataclass
class HistoryPage(Page):
    """`reason` says why all rows together are not the whole history: None where they are.

    The rows are those of the coin, or of the token in the filter. `unexplained` is the balance less
    the sum of these rows, in the smallest unit; None where the balance is not known. `explanation`
    says how this chain moves coin without a row, where that may be the reason.
    """

    reason: str | None = None
    unexplained: int | None = None
    explanation: str = ""

    @property
    def more(self) -> Mapping[str, object]:
        more = {
            "complete": self.reason is None,
            "reason": self.reason,
            "unexplained": None if self.unexplained is None else str(self.unexplained),
            "unproven": COMPARED,
        }
        return {**more, "explanation": self.explanation} if self.explanation else more

    @property
    def file_headers(self) -> Mapping[str, str]:
        return {"X-Scan-History-Complete": "false" if self.reason else "true"}


def read_filter(arguments: Mapping[str, str]) -> HistoryFilter:
    """Return the filter of a query string; several types are separated by commas."""
    types: Collection[str] = TYPES
    if "types" in arguments:
        names = [text.strip() for text in arguments["types"].split(",")]
        types = tuple(parameters.one_of(text, "types", TYPES) for text in names)
    direction = arguments.get("direction")
    if direction is not None:
        parameters.one_of(direction, "direction", DIRECTIONS)
    return HistoryFilter(
        tuple(sorted(set(types))),
        direction,
        parameters.optional_address(arguments, "token"),
        parameters.optional_address(arguments, "counterparty"),
    )


def page(
    reader: Reader,
    address: bytes,
    window: Window,
    filters: HistoryFilter,
    *,
    is_grouped: bool = False,
) -> HistoryPage:
    """Return a page of the history; the offset of the window does not apply. With `is_grouped` the
    rows of a transaction are one entry, and so are a block's rows of no transaction.

    Raises InvalidParameter for a cursor of another list, Reorganised.
    """
    scope = {"address": address, **filters._asdict(), "is_grouped": is_grouped or None}
    traversal = window.traversal("history", scope, POSITION)
    window = list_pages.in_kept_blocks(reader, window, address)
    entries, limits = window.limit, reader.sources.get(HistoryBounds)
    if is_grouped:
        rows_read = max(limits.least_rows_read, limits.rows_read_per_entry * entries)
        window = window._replace(limit=rows_read)
    has_total = filters.token is None and filters.counterparty is None and not is_grouped
    filters = _direction_filters(address, filters)
    of_page = {
        "address": address,
        "types": list(filters.types),
        "block_from": window.block_from,
        "block_to": window.block_to,
        "after": list(traversal.cursor.position) if traversal.cursor else None,
        "seen_block": traversal.seen_block,
        "direction": window.direction,
        "limit": window.limit,
    }
    read = partial(
        reader.row,
        f"queries/history_list{'_by_counterparty' if filters.counterparty else ''}",
        is_unbounded=filters.token is not None
        or filters.counterparty is not None
        or (
            filters.direction in ("out", "self")
            and reader.row("queries/history_count_to_self", address=address)[0] > limits.to_self
        ),
        **of_page,
        flow=filters.direction or "all",
        token=filters.token,
        has_token=filters.token is not None,
        read_by=read_by(reader, address, window, filters),
        counterparty=filters.counterparty,
        has_range=window.block_from > 0 or window.block_to < parameters.BIGINT_MAX,
        symbol=network.coin_symbol(reader),
        most_counted=limits.counted,
        is_grouped=is_grouped,
        entries=entries,
    )
    bounds = _bounds(reader, of_page, is_filtered=filters[1:] != (None, None, None))
    row = read(**bounds, **_STORED)
    if bounds is not UNBOUNDED and len(reader.versions) > 1:  # the index changed in between
        bounds = UNBOUNDED
        row = read(**bounds, **_STORED)
    is_genesis_unknown = False
    if filters.token is None and _needs_genesis(reader, address, row):
        genesis = reader.sources.get(genesis_balances.GenesisBalances).read(reader, address)
        is_genesis_unknown = genesis is None and row[_GENESIS] is None
        if genesis is not None:
            row = read(**bounds, genesis=genesis.balance, is_genesis_proven=genesis.is_proven)
    data, count, is_cut, counted, position, newest, seen, *state = row
    cursors.require_same_chain(
        reader, traversal, cursors.read_reference(seen), lambda ends: _position_at(traversal, ends)
    )
    following = traversal.next(position, cursors.read_reference(newest))
    total = counted if has_total else None
    if is_grouped:
        data, count = _entries(data, has_more=is_cut)
    page = HistoryPage(data, count, total, following, kept_from=reader.kept_from_of(address))
    stored, head = addresses.stored_balance(*state[:4]), BlockId.of(*state[4:6])
    net, start_block, untraced, _, *token = state[6:]
    if filters.token is not None:
        reason, unexplained = _check_token(
            reader, page, address, filters.token, head, start_block, *token
        )
        return replace(page, reason=reason, unexplained=unexplained)
    unexplained = None if is_genesis_unknown else _unexplained(reader, address, stored, head, net)
    reason = _reason(page, start_block, untraced, unexplained)
    explanation = ""
    if reason == "unexplained_balance":
        form = FORM_OF_CHAIN.get(int(reader.sources.chain_id.read() or 0))
        explanation = form.unseen if form else ""
    return replace(page, reason=reason, unexplained=unexplained, explanation=explanation)


def _entries(data: str, *, has_more: bool) -> tuple[str, int]:
    """Return rows grouped into entries of their transactions, and the number of entries."""
    rows_of = groupby(orjson.loads(data), lambda row: (row["blockNumber"], row["transactionHash"]))
    entries = []
    for rows in ([*rows] for _, rows in rows_of):
        coin = (row for row in rows if row["tokenAddress"] is None)
        change = str(sum(SIGNS[row["direction"]] * int(row["amount"]) for row in coin))
        entry = {name: rows[0][name] for name in OF_ENTRY}
        entries.append({**entry, "coinChange": change, "hasMore": has_more, "rows": rows})
    return orjson.dumps(entries).decode(), len(entries)


def _unexplained(
    reader: Reader, address: bytes, stored: Balance, head: BlockId | None, net: str
) -> int | None:
    """Return the balance less the sum of all rows of the coin; None where it is not known now."""
    [balance] = addresses.at_head(reader, [address], [stored], head)
    state = balance.known
    return int(state.wei) - int(net) if balance.is_current and state is not None else None


def _needs_genesis(reader: Reader, address: bytes, row: Sequence[Any]) -> bool:
    """Return whether the balance before the first block, which no row has, is to be read: where the
    present balance differs from the sum of all rows, and no proven one is stored."""
    *_, wei, block, is_contract, is_current, number, hash_ = row[:13]
    net, start_block, untraced, is_proven, *_ = row[13:]
    if start_block or untraced != 0 or is_proven:
        return False
    stored = addresses.stored_balance(wei, block, is_contract, is_current)
    return bool(_unexplained(reader, address, stored, BlockId.of(number, hash_), net))


def _bounds(reader: Reader, of_page: Mapping[str, Any], *, is_filtered: bool) -> Mapping[str, Any]:
    """Return the ordinals that bound the page; they are read only for tables of several
    partitions, of which most are then not read."""
    if "transactions" not in reader.sources.index_state.partitioned_tables.get():
        return UNBOUNDED
    lowest, highest = reader.row("queries/history_get_bounds", is_filtered=is_filtered, **of_page)
    return {"has_bounds": True, "lowest": lowest, "highest": highest}


def read_by(reader: Reader, address: bytes, window: Window, filters: HistoryFilter) -> str:
    """Return the list that rows are read from: `token` where that is the shorter one, `address`, or
    `any` for a history by counterparty."""
    if filters.counterparty is not None:
        return "any"
    if filters.token is None:
        return "address"
    [shortest, *_] = reader.row(
        "queries/token_transfers_get_bounds",
        names=[{"in": "to", None: "address"}.get(filters.direction, "from"), "token"],
        keys=[address, filters.token],
        block_from=window.block_from,
        block_to=window.block_to,
        direction=window.direction,
        after=None,
        max_entries=None,
    )
    return "token" if shortest == "token" else "address"


def _check_token(
    reader: Reader,
    page: Page,
    address: bytes,
    token: bytes,
    head: BlockId | None,
    start_block: int | None,
    are_consistent: bool | None,
    token_type: str | None,
    net: str | None,
) -> tuple[str | None, int | None]:
    """Return why a token's rows are incomplete, and by how many units balanceOf() differs.

    Events alone decide where balanceOf() has no answer: for items of a BEP1155, and for the zero
    address, which tokens are minted from and burnt to.
    """
    unexplained = None
    has_balance = token_type in ("BEP20", "BEP721") and any(address)
    if has_balance and head is not None and not reader.has_node_failed:
        view = token, balance_of(address)
        words = reader.sources.account_states.words_at(reader.node, [view], head)
        unexplained = words[view] - int(net or 0) if view in words else None
    if are_consistent is False and not start_block:
        return "inconsistent_events", unexplained
    untraced = 0  # events are complete without traces
    return _reason(page, start_block, untraced, unexplained if has_balance else 0), unexplained


def _direction_filters(address: bytes, filters: HistoryFilter) -> HistoryFilter:
    """Return filters that select by direction, which has an index, where the counterparty is the
    address itself."""
    if filters.counterparty != address:
        return filters
    types = filters.types if filters.direction in (None, "self") else ()
    return filters._replace(types=types, direction="self", counterparty=None)


def _position_at(traversal: cursors.Traversal, ends: cursors.RowEnds) -> Sequence[cursors.Value]:
    """Return the position of a client that has dropped the rows above the block of `ends`."""
    blocks, transactions = ends.blocks, ends.transactions
    lists = (transactions, transactions, ends.internal_transfers, ends.token_transfers, blocks)
    of_blocks = (*(blocks << PLACE_BITS for _ in all_credit_types()), blocks)
    if traversal.direction == "asc" or traversal.cursor is None:
        return (*lists, blocks, 0, *of_blocks)
    before = [int(value) for value in traversal.cursor.position]
    withdrawal = min((before[5], before[6]), (blocks, 0))
    return (*map(min, lists, before[:5]), *withdrawal, *map(min, of_blocks, before[7:]))


def _reason(
    page: Page, start_block: int | None, untraced_blocks: int | None, unexplained: int | None
) -> str | None:
    """Return why the rows are not the whole history; None where they are.

    A sum that equals the balance proves nothing where blocks were not read: an amount that came in
    there may have gone out there.
    """
    if page.kept_from is not None:
        return "not_kept"
    if start_block:
        return "start_block"
    if untraced_blocks != 0:
        return "untraced_blocks"
    if unexplained is None:
        return "balance_unknown"
    return "unexplained_balance" if unexplained else None
