"""Tokens and their holders; transfers of tokens, in lists and as counts over time; and trades on
exchanges: side and price of one, and the exchanges to choose from."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple, Protocol, cast

import orjson

from scan import parameters
from scan.database.lists import all_entities
from scan.errors import InvalidParameter, NotFound, Unavailable, UpstreamFailed
from scan.ethereum import client, events, token_metadata
from scan.ethereum.events import ZERO_ADDRESS
from scan.ethereum.token_metadata import TOKEN_CALLS
from scan.hex import BadHex, data, quantity, to_hex
from scan.parameters import BIGINT_MAX
from scan.queries import balances, blocks, contracts, filter_values, filtered_pages
from scan.queries.cursors import ADDRESS, AMOUNT, ORDINAL, SORTED_TEXT, Kind, ordinal_at
from scan.queries.filter_values import Value
from scan.queries.filtered_pages import Form
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

UNKNOWN = "No token is known at this address."
CHANGE_DAYS = 30
MAX_CHANGES = 20_000  # transfers by which a change is counted: 5 microseconds each


class TokenOrder(NamedTuple):
    """An order of all tokens: its statement, the `keys` of its cursors before the address, with
    their kinds, and the direction that it has by default."""

    statement: str
    keys: Mapping[str, Kind]
    direction: str = "desc"


ORDERS = {
    "holders": TokenOrder("queries/tokens_list", {"holders": ORDINAL}),
    "transfers": TokenOrder("queries/tokens_list_by_transfers", {"transfers": ORDINAL}),
    "name": TokenOrder("queries/tokens_list_by_name", {"name": SORTED_TEXT}, "asc"),
    "symbol": TokenOrder("queries/tokens_list_by_symbol", {"symbol": SORTED_TEXT}, "asc"),
    "type": TokenOrder(
        "queries/tokens_list_by_type", {"type": SORTED_TEXT, "holders": ORDINAL}, "asc"
    ),
}
MAX_SEARCHED = 100  # characters
_FIRST_DIGITS = re.compile(r"0[xX]([0-9a-fA-F]{1,40})\Z")


def page(
    reader: Reader,
    window: Window,
    order: str = "holders",
    *,
    token_type: str | None = None,
    text: str = "",
) -> Page:
    """Return tokens in one of ORDERS, all, those of a type, or those that a `text` finds, which is
    the beginning of a symbol, a name or an address; ranges of blocks do not apply. The total of a
    type alone is not known."""
    by = ORDERS[order]
    filters = {"order": order if order != "holders" else None, "type": token_type}
    traversal = window.traversal(
        "tokens", {**filters, "text": text or None}, (*by.keys.values(), ADDRESS), has_blocks=False
    )
    *after, after_address = traversal.position(len(by.keys) + 1)
    digits = _FIRST_DIGITS.match(text)
    keys: dict[str, Any] = {
        f"after_{key}": value.decode() if isinstance(value, bytes) else value
        for key, value in zip(by.keys, after, strict=True)
    }
    row = reader.row(
        by.statement,
        direction=window.direction,
        limit=window.limit,
        offset=window.offset,
        type=token_type,
        has_text=bool(text),
        text=text or None,
        first_address=bytes.fromhex(digits[1].ljust(40, "0")) if digits else None,
        last_address=bytes.fromhex(digits[1].ljust(40, "f")) if digits else None,
        **keys,
        after_address=after_address,
    )
    token_page = Page.keyed(traversal, row)
    return replace(token_page, data=balances.marked(reader, token_page.data))


class TokenListing(NamedTuple):
    """What a request asks of the list of tokens: its order and direction, a type and a text."""

    order: str
    direction: str
    token_type: str | None
    text: str

    def page(self, reader: Reader, window: Window) -> Page:
        """Return a page in this direction, whatever the window's is."""
        window = window._replace(direction=self.direction)
        return page(reader, window, self.order, token_type=self.token_type, text=self.text)


LISTING = ("sort", "orderBy", "tokenType", "q")


def listing(arguments: Mapping[str, str]) -> TokenListing:
    """Return what the parameters LISTING ask for; raises InvalidParameter."""
    order = parameters.one_of(arguments.get("sort", "holders"), "sort", ORDERS)
    direction = ORDERS[order].direction
    if "orderBy" in arguments:
        direction = parameters.one_of(arguments["orderBy"], "orderBy", ("asc", "desc"))
    given = arguments.get("tokenType")
    token_type = None if given is None else filter_values.token_type(given, "tokenType")
    text = parameters.text(arguments.get("q", ""), "q", most=MAX_SEARCHED).strip()
    return TokenListing(order, direction, token_type, text)


def get(reader: Reader, address: bytes) -> str:
    """Return the token's record as JSON text; raises NotFound."""
    return balances.marked(reader, _indexed(reader, address))


def _indexed(reader: Reader, address: bytes) -> str:
    """Return a token's record as it is indexed; raises NotFound. A contract that no block showed is
    indexed by this; one of a development node that answers as a token is one shortly after, and has
    a record of its answers meanwhile."""
    record: str | None
    (record,) = reader.row("queries/tokens_get", address=address)
    if record is None:
        contracts.get_or_index(reader, address, ["code"])
        record = _unindexed(reader, address) if reader.is_development else None
    if record is None:
        raise NotFound(UNKNOWN)
    return record


def _unindexed(reader: Reader, address: bytes) -> str | None:
    """Return the record of a token by its answers at the newest block; None where it has none."""
    if (head := reader.once(blocks.newest)) is None:
        return None
    to = to_hex(address)
    calls = [
        *(client.Call("eth_call", ({"to": to, "data": call}, head)) for call in TOKEN_CALLS),
        client.Call("eth_getBlockByNumber", (hex(head.number), False)),
    ]
    with suppress(UpstreamFailed, Unavailable, BadHex, TypeError, KeyError):
        *answers, header = reader.node.results(calls)
        results = [None if isinstance(a, client.RpcError) else data(a) for a in answers]
        metadata = token_metadata.decode_token_metadata(results)
        if (type_ := token_metadata.eventless_type(metadata)) is not None:
            token = metadata._asdict() | {
                "address": rf"\x{address.hex()}",
                "read_block": head.number,
            }
            token["type"] = events.token_type(events.SHAPES[type_], metadata)
            (record,) = reader.row(
                "queries/tokens_get_unindexed",
                token=orjson.dumps(token).decode(),
                timestamp_s=quantity(header["timestamp"]),
            )
            return str(record)
    return None


def detail(reader: Reader, address: bytes) -> str:
    """Return the record as get() does, but with as many holders as their list has, and of a marked
    token with what those have together that are ranked by its answers."""
    record = _indexed(reader, address)
    text = balances.marked(reader, record)
    if balances.MARK not in record:
        return text
    token, page = orjson.loads(text), holders(reader, address, Window(1, 0))
    token["holderCount"] = page.total
    if page.ranked and "inconsistentSince" in token:
        ranked = {"rankedHolders": page.ranked, "rankedSupply": str(page.ranked_balance)}
        token |= {**ranked, "unproven": [*token["unproven"], *ranked]}
    return orjson.dumps(token).decode()


def holder_count(reader: Reader, address: bytes) -> int:
    """Return how many holders the list of a token has; raises NotFound for an unknown token."""
    return cast(int, holders(reader, address, Window(1, 0)).total)


def holder_change(reader: Reader, address: bytes) -> dict[str, Any]:
    """Return how a token's holders changed in the newest days; `since` is the first of them (UTC).

    The numbers are null where the transfers of these days are not all known, are more than
    MAX_CHANGES, or contradict balances; of an address that is no known token they are 0."""
    most = 0 if reader.first_block else MAX_CHANGES
    is_contradicted, day, first_block, moved, added, removed = reader.row(
        "queries/tokens_get_holder_change", address=address, days=CHANGE_DAYS, most=most
    )
    kept_from = reader.kept_from_of(address)
    is_whole = not reader.first_block and (kept_from is None or kept_from.number <= first_block)
    is_known = is_whole and not is_contradicted and moved <= MAX_CHANGES
    return {
        "days": CHANGE_DAYS,
        "since": day,
        "added": added if is_known else None,
        "removed": removed if is_known else None,
        "change": added - removed if is_known else None,
    }


def records_of(reader: Reader, keys: Sequence[bytes], *, ended: bool = False) -> dict[str, Any]:
    """Return the records of the addresses that are tokens, by address; those of `ended` ones too,
    as they were before their end, which transfers still name."""
    if not keys:
        return {}
    (records,) = reader.row("queries/tokens_list_by_addresses", addresses=keys, ended=ended)
    by_address = cast("dict[str, dict[str, Any]]", orjson.loads(records))
    for record in by_address.values():
        if not record.pop("isMarked"):
            del record["inconsistentSince"]
    balances.mark_tokens(reader, [*by_address.values()])
    return by_address


def type_of(reader: Reader, address: bytes) -> str | None:
    """Return one of TOKEN_TYPES; None for an unknown token."""
    (record,) = reader.row("queries/tokens_get", address=address)
    return None if record is None else str(orjson.loads(record)["type"])


def holders(reader: Reader, address: bytes, window: Window) -> balances.HolderPage:
    """Return a token's holders, the largest first; raises NotFound for an unknown token.

    Where it is marked, these are first those of balances.ranking(); the cursor of such a page has
    its end, beside the zero address, which is no holder."""
    traversal = window.traversal("holders", {"token": address}, (AMOUNT, ADDRESS), has_blocks=False)
    after = traversal.position(2)
    if after[1] == ZERO_ADDRESS:
        # Halved, as a client may name any number.
        offset = min(cast(int, after[0]), BIGINT_MAX // 2)
        window, after = window._replace(offset=offset), (None, None)

    def by_events(limit: int, offset: int) -> tuple[balances.HolderPage, bool, int | None]:
        data, count, total, is_marked, since, balance, holder = reader.row(
            "queries/tokens_list_holders",
            address=address,
            limit=limit,
            offset=offset,
            after_balance=after[0],
            after_holder=after[1],
        )
        if data is None:
            _indexed(reader, address)
            data, count, total, is_marked = "[]", 0, 0, True
        row = data, count, total, balance, holder
        return balances.HolderPage.keyed(traversal, row), is_marked, since

    page, is_marked, since = by_events(window.limit, window.offset)
    if not is_marked:
        return page
    is_older = balances.is_older(reader, since)
    ranking = None if is_older else balances.ranking(reader, address, since)
    if ranking is None:
        return balances.completed(reader, page, token=address)
    ranked, largest = ranking.records, ranking.largest
    start = window.offset
    if isinstance(after[1], bytes):  # where the holder is not in the ranking, after all of it
        ranked_holders = [record["address"] for record in ranked]
        last = to_hex(after[1])
        start = ranked_holders.index(last) + 1 if last in ranked_holders else len(ranked)
    records = [*ranked[start : start + window.limit]]
    if any("inconsistentSince" in record for record in records):
        reader.notes[balances.INCONSISTENT] = cast(int, since)
    total = len(ranked) + (0 if ranking.is_whole else cast(int, page.total) - largest)
    missing = window.limit - len(records)
    if missing and not ranking.is_whole and after[1] is None:
        others, *_ = by_events(missing, largest + max(start - len(ranked), 0))
        following = orjson.loads(others.data)
        balances.correct(reader, following, address)
        records += following
    end = start + len(records)
    cursor = traversal.next((end, ZERO_ADDRESS) if records and end < total else None)
    return balances.HolderPage(
        orjson.dumps(records).decode(),
        len(records),
        total,
        cursor,
        ranked=len(ranked),
        ranked_balance=sum(int(record["balance"]) for record in ranked),
    )


class Past(NamedTuple):
    """The block after which holders are asked for, by its number or hash, or by a time, at which it
    is the newest."""

    block: int | bytes | None
    time_s: int | None


def past(block: str | None, time_s: int | None) -> Past | None:
    """Return which block is asked for, by the text of its number or hash, or by a time; None for
    the newest."""
    if time_s is None:
        is_newest = block in (None, "latest")
        return None if is_newest else Past(parameters.block_number_or_hash(str(block)), None)
    parameters.require(block is None, "block", "block: give a time or a block, not both.")
    return Past(None, time_s)


class PastHolderList(Protocol):
    """The holders of a token after a block. Pages are of holders, or of rows: where the list
    `has_ids`, one for each id that a holder has. Those of a file are read in its transaction."""

    has_ids: bool

    def page(self, window: Window) -> Page: ...
    def page_of_file(self, window: Window) -> Page: ...
    def page_of_rows(self, window: Window) -> Page: ...


class PastHolders:
    """Lists of holders after older blocks, where an extension has them."""

    is_there = False

    def open(self, reader: Reader, token: bytes, past: Past, cursor: str | None) -> PastHolderList:
        """Return the list, of whose pages that after the `cursor` will be read.

        Raises NotFound for an unknown token or block, HistoryUnavailable where events do not tell
        the holders then, Reorganised, and Unavailable."""
        raise InvalidParameter("Holders are those of the newest block here.", field="block")


def transfers_page(
    reader: Reader, window: Window, *, form: Form = "api", **filters: Value | None
) -> Page:
    """Return a page of transfers. A type beside a token matches all its transfers, or none, unless
    it moves items too, or has lived as another type.

    A type beside another key is a second key: an address has one list of all types, so that rows
    before the page are read, too, and the total is not known.
    """
    token, token_type = filters.get("token"), filters.get("type")
    if isinstance(token, bytes) and token_type is not None:
        (types,) = reader.row("queries/tokens_list_types", address=token)
        if types is None or token_type not in types:
            del filters["type"]
            window.traversal("token_transfers", filters)
            return Page("[]", 0, 0)
        if len(types) == 1:
            del filters["type"]
    return filtered_pages.filtered_page(reader, "token_transfers", filters, window, form=form)


def transfers_in(
    reader: Reader, record: Mapping[str, Any], limit: int, after: tuple[int, int] = (0, -1)
) -> tuple[list[dict[str, Any]], bool]:
    """Return the transfers of a transaction in the order of their logs, and whether more follow;
    they begin `after` a log index and an index in its batch."""
    number = record["blockNumber"]
    first = ordinal_at(
        reader,
        "token_transfers",
        number,
        after[0],
        transaction_index=record["transactionIndex"],
        batch_index=after[1] + 1,
    )
    forms: dict[str, Any] = {"form": "api"} if all_entities()["token_transfers"].forms else {}
    rows, _, _, last, *_ = reader.row(
        "queries/token_transfers_list_by_transaction",
        hash=data(record["hash"]),
        **forms,
        direction="asc",
        limit=limit,
        offset=0,
        after=first - 1,
        seen_block=None,
    )
    return orjson.loads(rows or "[]"), last is not None


MAX_EXCHANGES = 30  # to choose from


class ExchangeBounds:
    """The bound of one form."""

    shown = MAX_EXCHANGES


class PricedTrade(NamedTuple):
    """A trade's `side` is buy where the maker got token0, else sell; its `price` is the amount of
    token1 for one token0, as that of candles, None where an amount is 0."""

    side: str
    price: Decimal | None


class Exchanges(NamedTuple):
    """Names of exchanges, those with most trades first; `are_all` says that none was left out."""

    names: list[str]
    are_all: bool


def exchanges(reader: Reader) -> Exchanges:
    most = reader.sources.get(ExchangeBounds).shown
    names, count = reader.row("queries/dexes_list", most=most)
    return Exchanges(json.loads(names), count <= most)


def priced(trade: Mapping[str, Any], pool: Mapping[str, Any]) -> PricedTrade:
    """Return the side and the price of the record of a trade in a pool."""
    is_sell = trade["tokenIn"] == pool["token0"]
    amount_in, got = Decimal(trade["amountIn"]), Decimal(trade["amountOut"])
    amount0, amount1 = (amount_in, got) if is_sell else (got, amount_in)
    price = None
    if amount0 and amount1:  # decimals that are not known count as 0
        price = (amount1 / amount0).scaleb(
            (pool["token0Decimals"] or 0) - (pool["token1Decimals"] or 0)
        )
    return PricedTrade("sell" if is_sell else "buy", price)


BNB_CHAINS = ("56", "97", "204", "5611")  # BNB Smart Chain and opBNB, with their test networks


def token_standard(token_type: str, chain_id: str | None = None) -> str:
    """Return the usual name of a record's type: BEP-20 on chains of BNB, elsewhere ERC-20, which
    compatible APIs show on all chains."""
    return f"{'BEP' if chain_id in BNB_CHAINS else 'ERC'}-{token_type.removeprefix('BEP')}"
