"""Addresses: records of one or many, the balance at the newest indexed block or at another, the
tokens and items that they hold, names and counts.

Primary names are there where an extension reads them from a name service. A name is the claim of
whoever has the address: it is shown beside the address, never instead of it.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import orjson

from scan.contracts.account_state import state_of
from scan.errors import HistoryUnavailable, Unavailable, UpstreamFailed
from scan.ethereum import client, request_node
from scan.ethereum.served_chain import BlockId
from scan.hex import BadHex, to_hex
from scan.parameters import BIGINT_MAX
from scan.queries import balances, blocks, cursors
from scan.queries.contracts import IndexedCreation, creation_of, get_or_index
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

# Names of addresses that mean one thing on every chain: precompiled contracts, what tools call
# without code, and contracts at addresses that follow from their code.
KNOWN_ADDRESSES: dict[str, str] = orjson.loads(
    Path(__file__).with_name("known_addresses.json").read_bytes()
)
UNREAD = "The node does not respond, and this balance has not been read yet."
NOT_BEGUN = "No block is indexed yet; the index of a fork begins with the first block after it."


class KnownBalance(NamedTuple):
    """A balance in wei as text, with the block that it is of."""

    wei: str
    block: int


class Balance(NamedTuple):
    """The balance of an account, None where it was never read."""

    known: KnownBalance | None
    is_contract: bool
    is_current: bool = False  # whether it is the newest block's
    has_block: bool = True  # whether any is indexed, after which it could be read

    def required(self, least_block: int = 0) -> KnownBalance:
        """Return the balance; raises UpstreamFailed where none of `least_block` or later is
        known, Unavailable before the first block."""
        if not self.has_block:
            raise Unavailable(NOT_BEGUN)
        if self.known is None or self.known.block < least_block:
            raise UpstreamFailed(UNREAD)
        return self.known


def stored_balance(
    wei: str | None, block: int | None, is_contract: bool, is_current: bool
) -> Balance:
    """Return a balance as the index has it, where both are null or none is."""
    balance = None if wei is None or block is None else KnownBalance(wei, block)
    return Balance(balance, is_contract, is_current)


def at_head(
    reader: Reader, addresses: Sequence[bytes], indexed: Sequence[Balance], head: BlockId | None
) -> list[Balance]:
    """Return the node's balances at the head, which is None where nothing is indexed, else the
    indexed ones. These are the head's, too, where no indexed row has changed them since.
    """
    states = {}
    # A node that has failed this request once would cost each page of a file its time-out.
    if addresses and not reader.has_node_failed and head is not None:
        are_stored = all(balance.known is not None for balance in indexed)
        states = reader.sources.account_states.all_at(
            reader.node, addresses, head, are_stored=are_stored
        )
        contracts = {
            a
            for a, balance_read in zip(addresses, indexed, strict=True)
            if balance_read.is_contract
        }
        codes = {
            a: state.code_hash for a, state in states.items() if state.is_contract or a in contracts
        }
        reader.sources.replaced_codes.note(codes, head.number)
    if len(states) < len(set(addresses)):
        reader.do_not_cache()  # the node may return them to the next request
    balances = []
    for address, balance in zip(addresses, indexed, strict=True):
        state = states.get(address)
        balance_read, is_contract, is_current, _ = balance
        if head is not None and state is not None:
            balance_read = KnownBalance(str(state.balance), head.number)
            is_contract, is_current = state.is_contract, True
        elif head is not None and balance_read is not None and is_current:
            balance_read = balance_read._replace(block=head.number)
        balances.append(Balance(balance_read, is_contract, is_current, head is not None))
    return balances


def at_block(reader: Reader, address: bytes, block: BlockId) -> Balance:
    """Return the node's balance; raises HistoryUnavailable, UpstreamFailed, Unavailable."""
    account = to_hex(address)
    calls = [client.Call(method, (account, block)) for method in ("eth_getBalance", "eth_getCode")]
    balance, code = request_node.read(reader.node, block, calls)
    try:
        if isinstance(balance, client.RpcError) or isinstance(code, client.RpcError):
            raise BadHex
        state = state_of(balance, code)
    except BadHex:
        raise UpstreamFailed("The node did not return this balance.") from None
    return Balance(KnownBalance(str(state.balance), block.number), state.is_contract)


# What queries/addresses_list returns besides the fields that extensions add.
OF_SUMMARY = ("address", "balance", "balanceBlock", "isCurrent", "txCount", "isContract")


def tokens_held(
    reader: Reader, address: bytes, window: Window, token_type: str | None = None
) -> Page:
    """Return the tokens of one type, or of all; an address never seen holds none."""
    filters = {"address": address, "type": token_type}
    traversal = window.traversal("tokens held", filters, (cursors.ADDRESS,), has_blocks=False)
    read_page = partial(
        reader.row,
        "queries/addresses_list_tokens",
        address=address,
        type=token_type,
        has_type=token_type is not None,
        **window.page(traversal),
        most_compared=balances.MOST_HELD,
    )
    *row, inconsistent = read_page(**balances.held(reader, address, tokens=()))
    if inconsistent:
        *row, _ = read_page(**balances.held(reader, address, tokens=inconsistent))
    return balances.completed(reader, Page.keyed(traversal, row), holder=address)


class Address(NamedTuple):
    """An address's record; `first_seen` and `last_seen` (ISO 8601) are None if it was never seen.

    `recent` has its newest 25 transactions as JSON text, None where they were not asked for, `more`
    the fields that extensions add, `counts` the numbers of entries of the lists that were asked
    for, by name, without empty ones.
    """

    balance: Balance
    transaction_count: int
    label: str | None
    first_seen: str | None
    last_seen: str | None
    recent: str | None
    more: Mapping[str, Any]
    counts: Mapping[str, int]
    creation: IndexedCreation | None


class Summary(NamedTuple):
    """The values of an address that lists show; `more` has those of extensions."""

    balance: Balance
    transaction_count: int
    more: Mapping[str, Any]


def tokens_held_at(reader: Reader, address: bytes, window: Window, block: BlockId) -> Page:
    """Return the tokens held after a block, computed from transfers, or read where these do not add
    up; raises HistoryUnavailable where transfers are not kept."""
    kept_from = reader.kept_from_of(address)
    if kept_from is not None and block.number < kept_from.number - 1:
        raise HistoryUnavailable(
            f"The tokens held then are not known: transfers before block {kept_from.number}"
            " are not kept."
        )
    filters = {"address": address, "block": block.hash}
    traversal = window.traversal("tokens held", filters, (cursors.ADDRESS,), has_blocks=False)
    row = reader.row(
        "queries/addresses_list_tokens_at",
        is_unbounded=True,  # each reads all the transfers
        address=address,
        block_number=block.number,
        is_from_end=kept_from is not None,
        **balances.held(reader, address, block),
        **window.page(traversal),
    )
    return balances.completed(reader, Page.keyed(traversal, row), holder=address, block=block)


def get(
    reader: Reader,
    address: bytes,
    block: BlockId | None = None,
    *,
    has_recent: bool = False,
    lists: Collection[str] = (),
) -> Address:
    """Return an address, seen or not, with its balance after `block`, or at the head; `lists` are
    names of lists that addresses or list_counts count."""
    row = reader.row(
        "queries/addresses_get",
        address=address,
        state_block=block.number if block else BIGINT_MAX,
        has_recent=has_recent,
        lists=[*lists],
    )
    count, label, first_seen, last_seen, recent, more, counts, *stored = row[:11]
    head = BlockId.of(*row[11:13]) or blocks.forked(reader)
    creation = creation_of(*row[13:])
    reader.keep(blocks.newest, head)
    if block is None:
        indexed = stored_balance(*stored)
        [balance] = at_head(reader, [address], [indexed], head)
        if balance.is_contract and not indexed.is_contract:
            get_or_index(reader, address, ["code"])
    else:
        balance = at_block(reader, address, block)
    seen = count or 0, label, first_seen, last_seen, recent
    return Address(balance, *seen, orjson.loads(more), counts, creation)


def get_many(reader: Reader, addresses: Sequence[bytes]) -> list[Summary]:
    """Return the summaries of addresses, seen or not, in their order."""
    rows, *newest = reader.row("queries/addresses_list", addresses=addresses)
    records = orjson.loads(rows)
    of_index = [
        stored_balance(
            *(record[name] for name in ("balance", "balanceBlock", "isContract", "isCurrent"))
        )
        for record in records
    ]
    head = BlockId.of(*newest) or blocks.forked(reader)
    current = at_head(reader, addresses, of_index, head)
    return [
        Summary(
            balance,
            record["txCount"],
            {name: record[name] for name in record if name not in OF_SUMMARY},
        )
        for balance, record in zip(current, records, strict=True)
    ]


def names(reader: Reader, addresses: Sequence[bytes]) -> str:
    """Return {address: {label, token, contract, pool}} as JSON text, of addresses with a name."""
    names_text: str
    (names_text,) = reader.row("queries/addresses_list_names", addresses=list(addresses))
    return names_text


def parties(reader: Reader, addresses: Sequence[bytes]) -> dict[str, dict[str, Any]]:
    """Return {label, contract, isContract, token, pool} of each address, and what extensions
    add."""
    if not addresses:
        return {}
    # A tuple would be written as a record, not as an array.
    (parties_text,) = reader.row("queries/transactions_list_parties", addresses=list(addresses))
    return cast("dict[str, dict[str, Any]]", orjson.loads(parties_text))


def counts(reader: Reader, address: bytes, most: int) -> dict[str, Any]:
    """Return the lengths of an address's lists, some up to `most` + 1; see the statement."""
    (record,) = reader.row("queries/addresses_get_counts", address=address, most=most)
    return cast("dict[str, Any]", orjson.loads(record))


class AddressName(NamedTuple):
    """The primary name of an address; None without one, or where `problem` says why it is not
    known."""

    name: str | None = None
    problem: str | None = None


class AddressNames:
    """The primary names that a process knows; without an extension, none."""

    def of_addresses(
        self, reader: Reader, addresses: Sequence[bytes]
    ) -> Mapping[bytes, AddressName] | None:
        """Return the names of addresses that a request is about; None where the chain has no name
        service."""
        return None

    def in_list(self, reader: Reader, addresses: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return the names that are known soon enough for a list, by address."""
        return {}
