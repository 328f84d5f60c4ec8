"""Balances of marked tokens, whose balances and supplies are the node's.

Some mint, burn, rebase or take a fee without an event, what holders of others had before the first
block of an index that begins late is in no row, and those of a development node, where anything may
change without an event, are all reported. Where the node does not give a balance, the record says
that it is a sum of events, and so does a header (`notes` of the Reader), also in forms whose
records have no field for it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import orjson

from scan.contracts.account_state import ViewAt, ViewCall
from scan.ethereum import served_chain, token_metadata
from scan.hex import BadHex, data, to_hex
from scan.queries import blocks
from scan.queries.list_pages import Page
from scan.queries.reader import Reader

MOST_READ = 300  # of one page; further balances are marked
MOST_HELD = 1_000  # by an address, that are looked through for such tokens
LARGEST, SMALLEST = 300, 100  # holders by events, that are ranked by what they hold
MOST_UNNAMED = 500  # who may have a balance without any event
MOST_RANKED = LARGEST + SMALLEST + 1 + MOST_UNNAMED
# totalSupply(), balanceOf(address), ownerOf(uint256), balanceOf(address,uint256)
DRAWING = (token_metadata.TOTAL_SUPPLY, "0x70a08231", "0x6352211e", "0x00fdd58e")
MOST_NOTED = 1_000  # holders of a token that no event names
MARK = '"inconsistentSince":'
INCONSISTENT = "X-Scan-Inconsistent-Since"


class RankingBounds:
    """How many holders are ranked, of the largest and the smallest by events."""

    largest, smallest = LARGEST, SMALLEST


P = TypeVar("P", bound=Page)
Record = dict[str, Any]
Read = dict[str, Any]


@dataclass
class HolderPage(Page):
    """A page of holders; of a ranking also how many are `ranked`, and what they have together."""

    ranked: int = field(default=0, kw_only=True)
    ranked_balance: int = field(default=0, kw_only=True)


class Ranking(NamedTuple):
    """Records of those who hold most of a token by its balanceOf() at the newest block, of the
    `largest` by events, and of those for whom it has no answer; `is_whole` where these are all that
    events name."""

    records: Sequence[Record]
    is_whole: bool
    largest: int


def mark_tokens(reader: Reader, records: Sequence[Record]) -> None:
    """Set the supply at the newest block, and its block, of marked tokens, where they return one;
    and of those that are older than the index, not the supply but `balancesSince`: the block that
    the holders are known from. Nobody knows whether the events of these add up."""
    marked = []
    for record in records:
        if is_older(reader, record.get("inconsistentSince")):
            since = record.pop("inconsistentSince")
            record["balancesSince"] = reader.notes["X-Scan-Balances-Since"] = since
        elif "inconsistentSince" in record:
            marked.append(record)
    _, head = _inconsistent(reader, [_bytes(record["address"]) for record in marked])
    views = [(_bytes(record["address"]), token_metadata.TOTAL_SUPPLY) for record in marked]
    supplies = _words(reader, views, head)
    for record, view in zip(marked, views, strict=True):
        if record["inconsistentSince"] is None:
            del record["inconsistentSince"]
        if head is not None and view in supplies:
            record |= {"totalSupply": str(supplies[view]), "supplyBlock": head.number}
        elif record["supplyBlock"] is None and "inconsistentSince" in record:
            reader.notes[INCONSISTENT] = record["inconsistentSince"]


def is_older(reader: Reader, since: int | None) -> bool:
    """Return whether a token is older than the index, by the block since which it is marked."""
    return since is not None and since <= reader.first_block


def marked(reader: Reader, text: str) -> str:
    """Return the JSON text of a token, or of several, as mark_tokens() has them."""
    if MARK not in text:
        return text
    tokens = orjson.loads(text)
    mark_tokens(reader, tokens if isinstance(tokens, list) else [tokens])
    return orjson.dumps(tokens).decode()


def held(
    reader: Reader,
    address: bytes,
    block: served_chain.BlockId | None = None,
    tokens: Sequence[bytes] | None = None,
) -> Read:
    """Return what an address holds of such `tokens` after a block, by default the newest, as
    parameters, as far as it is given; by default of marked ones among the first MOST_HELD, and of
    those that are reported."""
    if tokens is None:
        (tokens,) = reader.row(
            "queries/addresses_list_inconsistent", address=address, most_compared=MOST_HELD
        )
    balances, _ = read(reader, [(bytes(token), address) for token in tokens or ()], block)
    if tokens:  # their answers decide what is listed
        reader.reported |= {"tokens", "total"}
    return {"read_tokens": [t for t, _ in balances], "read_balances": [*balances.values()]}


def completed(
    reader: Reader,
    page: P,
    token: bytes | None = None,
    holder: bytes | None = None,
    block: served_chain.BlockId | None = None,
) -> P:
    """Return a page of balances with those corrected that events do not tell, and marked."""
    if MARK not in page.data and token is None:
        return page
    records = orjson.loads(page.data)
    correct(reader, records, token, holder, block)
    return replace(page, data=orjson.dumps(records).decode())


def correct(
    reader: Reader,
    records: Sequence[Record],
    token: bytes | None = None,
    holder: bytes | None = None,
    block: served_chain.BlockId | None = None,
    item: int | None = None,
) -> None:
    """Set the balances of such tokens to those that balanceOf() has after a block, by default the
    newest, in one batch, with `balanceBlock`.

    A record is of `token`, or names its own; of `holder`, or of its own `address`; of `item`, or of
    its own `tokenId`, if any. One whose balance the token or the node does not give gets
    `inconsistentSince`; or `balancesSince`, the block that it is known from, where the token is
    older than the index, of which no items are read. Of a BEP721's item ownerOf() is read.
    """
    tokens = [token or _bytes(record["tokenAddress"]) for record in records]
    since_of, head = _inconsistent(reader, tokens)
    block = block or head
    marked, views = [], []
    for record, address in zip(records, tokens, strict=True):
        if address not in since_of:
            continue
        since = since_of[address]
        text = record.get("tokenId") if item is None else item
        id_, owner = None if text is None else int(text), holder or _bytes(record["address"])
        is_single = id_ is not None and record.get("type") == "BEP721"
        call = token_metadata.balance_of(owner, id_)
        view = address, token_metadata.owner_of(id_ or 0) if is_single else call
        marked.append((record, since, view, owner if is_single else b""))
        if id_ is None or not is_older(reader, since):
            views.append(view)
    balances = _words(reader, views[:MOST_READ], block)
    for record, since, view, owner in marked:
        record.pop("inconsistentSince", None)
        if block is not None and view in balances:
            word = balances[view]
            balance = int(word == int.from_bytes(owner)) if owner else word
            record |= {"balance": str(balance), "balanceBlock": block.number}
            record["unproven"] = [*record.get("unproven", ()), "balance"]
        elif since is None:
            continue
        elif is_older(reader, since):
            record["balancesSince"] = reader.notes["X-Scan-Balances-Since"] = since
        else:
            record["inconsistentSince"] = reader.notes[INCONSISTENT] = since


def note_sums(reader: Reader, token: bytes) -> None:
    """Have the response say where a token's events do not add up."""
    since_of, _ = _inconsistent(reader, [token])
    if (since := since_of.get(token)) is not None and not is_older(reader, since):
        reader.notes[INCONSISTENT] = since


def correct_owners(reader: Reader, records: Sequence[Record], token: bytes) -> None:
    """Set the owners of items of such a BEP721 to those by ownerOf() at the newest block, with
    `ownerBlock`; others are the last recipients, with `inconsistentSince`."""
    since_of, head = _inconsistent(reader, [token] if records else [])
    since = since_of.get(token)
    if token in since_of and not is_older(reader, since) and head is not None:
        for record in read_owners(reader, records, token, head):
            if since is not None:
                record["inconsistentSince"] = reader.notes[INCONSISTENT] = since


def read_owners(
    reader: Reader, records: Sequence[Record], token: bytes, head: served_chain.BlockId
) -> list[Record]:
    """Set the owners of items to those by ownerOf() at the newest block; return the records of
    which there is no answer."""
    unread = []
    views = [(token, token_metadata.owner_of(int(record["tokenId"]))) for record in records]
    owners = _words(reader, views[:MOST_READ], head)
    for record, view in zip(records, views, strict=True):
        owner = owners.get(view)
        if owner is None or owner >> 160:
            unread.append(record)
        else:
            address = to_hex(owner.to_bytes(20)) if owner else None
            record |= {"owner": address, "ownerCount": int(owner > 0), "ownerBlock": head.number}
            record["unproven"] += ["owner", "ownerCount"]
    return unread


def ranking(reader: Reader, token: bytes, since: int | None) -> Ranking | None:
    """Return the largest holders of a token that is marked `since` a block by its own answers;
    those without one follow, by events. None where it gives none, or the node fails."""
    bounds = reader.sources.get(RankingBounds)
    holders, sums, count, is_reported = reader.row(
        "queries/tokens_list_candidates",
        address=token,
        largest=bounds.largest,
        smallest=bounds.smallest,
    )
    accounts = reader.sources.account_states.of_node(reader.node) if is_reported else ()
    by_events = dict.fromkeys(accounts, 0)
    by_events |= zip(map(bytes, holders or ()), map(int, sums or ()), strict=True)
    balances, head = read(reader, [(token, holder) for holder in by_events])
    reader.reported |= {"holders", "total"}  # also where it has no answers
    if head is None or not balances or reader.has_node_failed:
        return None
    answered = {holder: n for (_, holder), n in balances.items()}
    unread = {holder: n for holder, n in by_events.items() if holder not in answered}
    of_events = {} if since is None else {"inconsistentSince": since}
    records = [
        {"address": holder, "balance": str(n), **mark}
        for sums, mark in (
            (answered, {"balanceBlock": head.number, "unproven": ["balance"]}),
            (unread, of_events),
        )
        for n, holder in sorted(((n, to_hex(h)) for h, n in sums.items() if n > 0), reverse=True)
    ]
    return Ranking(records, count <= bounds.largest, min(count, bounds.largest))


def read(
    reader: Reader, pairs: Sequence[tuple[bytes, bytes]], block: served_chain.BlockId | None = None
) -> tuple[Mapping[tuple[bytes, bytes], int], served_chain.BlockId | None]:
    """Return balances after a block, by default the newest, by token and holder, as far as they are
    given, and that block."""
    if block is None:
        _, block = _inconsistent(reader, [token for token, _ in pairs])
    views = {(token, token_metadata.balance_of(holder)): (token, holder) for token, holder in pairs}
    balances = _words(reader, [*views][:MOST_RANKED], block)
    return {views[view]: balance for view, balance in balances.items()}, block


def mark_contradicted(reader: Reader) -> bool:
    """Mark a token of which this request has drawn a balance or an owner that its events
    contradict, if they do at the head, or note a holder whom no event names: whatever door drew it,
    all show it from now on. Where a supply is another one than was read, the balance of who has
    most is drawn. Return whether anything was noted; raises ScanError."""
    drawn = []
    for call, word in reader.called:
        called: Any = call.params[0]
        with suppress(BadHex):
            if called.get("data", "").startswith(DRAWING):
                drawn.append((data(called.get("to", ""), 20), data(called["data"]), data(word)))
    if not drawn:
        return False
    tokens, calls, words = map(list, zip(*drawn, strict=True))
    contradiction = reader.sources.database.row(
        "queries/tokens_list_drawn", tokens=tokens, calls=calls, words=words
    )
    if contradiction is None:
        return False
    token, holder, item, balance, owner, number, hash_ = contradiction
    by_events = balance if owner is None else int.from_bytes(owner)
    id_ = None if item is None else int(item)
    view = bytes(token), token_metadata.owner_of(id_ or 0)
    if holder is not None:
        view = view[0], token_metadata.balance_of(bytes(holder), id_)
    answer = _words(reader, [view], served_chain.BlockId.of(number, hash_)).get(view)
    if answer in (None, by_events):
        return False
    is_holder = holder is not None and item is None and answer != 0
    noted = reader.sources.writes.rows(
        "queries/tokens_contradict",
        **{"token": token, "holder": holder, "item": item, "block": number},
        **{"is_holder": is_holder, "most": MOST_NOTED},
    )
    return bool(noted)


def over_time(
    reader: Reader, token: bytes, holder: bytes, blocks: Sequence[served_chain.BlockId]
) -> Mapping[int, int]:
    """Return balances by the number of the block, as far as they are given."""
    view = token, token_metadata.balance_of(holder)
    words = _words_at(reader, [(view, block) for block in blocks])
    return {block.number: balance for (_, block), balance in words.items()}


def _words(
    reader: Reader, views: Sequence[ViewCall], block: served_chain.BlockId | None
) -> Mapping[ViewCall, int]:
    words = _words_at(reader, [] if block is None else [(view, block) for view in views])
    return {view: word for (view, _), word in words.items()}


def _words_at(reader: Reader, views: Sequence[ViewAt]) -> Mapping[ViewAt, int]:
    if not views or reader.has_node_failed:
        return {}
    words = reader.sources.account_states.words(reader.node, views)
    if reader.has_node_failed:
        reader.do_not_cache()
    return words


def _inconsistent(
    reader: Reader, tokens: Sequence[bytes]
) -> tuple[Mapping[bytes, int | None], served_chain.BlockId | None]:
    """Return those tokens that are marked, since which block their events do not add up, None
    where nothing contradicts them, and the newest block."""
    if not tokens:
        return {}, None
    addresses, since, number, hash_ = reader.row(
        "queries/tokens_list_inconsistent", tokens=[*set(tokens)]
    )
    marked = {bytes(a): n for a, n in zip(addresses, since, strict=True) if a is not None}
    return marked, served_chain.BlockId.of(number, hash_) or blocks.forked(reader)


def _bytes(address: str) -> bytes:
    return bytes.fromhex(address[2:])
