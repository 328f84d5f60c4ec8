"""Lists of records for pages, and names of the addresses in them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import request

from scan import parameters
from scan.errors import InvalidParameter
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages import formatting
from scan.queries import addresses, blocks
from scan.queries.address_names import AddressNames
from scan.queries.pages import Page
from scan.queries.reader import KeptFrom

PAGE_SIZE = 25
MAX_NAMED = 500  # addresses per page that are shown by name
# Fields of records that are addresses, those of user operations, authorizations, contracts and
# histories among them.
ADDRESS_FIELDS = tuple(
    """
    miner fromAddress toAddress contractAddress tokenAddress pairAddress
    maker tokenIn tokenOut address owner sender
    paymaster bundler entryPoint factory authority delegate creator counterparty
    """.split()
)

NAMELESS = dict.fromkeys(("name", "label", "token", "contract", "pool"))

Record = dict[str, Any]
Names = Mapping[str, Any]


@dataclass(frozen=True)
class Listing:
    """One page of a list."""

    records: list[Record]
    total: int
    number: int
    untraced_blocks: int | None = None
    next: str | None = None  # the cursor of the next page
    is_counted: bool = True  # else the list has at least `total`
    kept_from: KeptFrom | None = None  # the oldest kept block; None: the list has all rows
    complete_from: int | None = None  # the block from which on no row is missing; None: none is
    size: int = PAGE_SIZE

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.size))

    @property
    def first(self) -> int:
        """Return the position of the first record in the whole list, from 1."""
        return (self.number - 1) * self.size + 1


# Scan's tabs by their titles and by Blockscout's names; of several, the first that a page has.
OTHER_TABS = {
    "nfts": ("items",),
    "balance": ("chart",),
    "authorizations": ("delegations",),
    "index": ("transactions", "overview", "transfers"),
    "txs": ("transactions",),
    "token_transfers": ("transfers", "overview"),
    "internal_txns": ("internal",),
    "internal": ("internal", "calls"),
    "raw_trace": ("calls",),
    "coin_balance_history": ("chart",),
    "tokens_erc20": ("tokens",),
    "tokens_nfts": ("items",),
    "inventory": ("items",),
    "logs": ("events",),
    "user_ops": ("overview",),
    "contract_code": ("contract",),
    "read_contract": ("contract",),
    "write_contract": ("contract",),
}


def requested_tab(tabs: Sequence[str]) -> str:
    """Return the requested tab, the first by default, also by its title or Blockscout's name;
    raises InvalidParameter for an unknown one."""
    requested = request.args.get("tab", tabs[0])
    ours = (name for name in OTHER_TABS.get(requested, ()) if name in tabs)
    tab = next(ours, requested)
    if tab not in tabs:
        known = ", ".join(tabs)
        raise InvalidParameter(f"This page has no tab “{tab[:50]}”. It has: {known}.", field="tab")
    return tab


def page_number() -> int:
    return parameters.integer_text(request.args, "page", default=1, least=1, most=10**15)


def listing(page: Page, size: int = PAGE_SIZE) -> Listing:
    records = json.loads(page.data or "[]")
    number, following = page_number(), page.next
    if page.total is None:  # not counted: the rows up to here, and one more if more follow
        total = (number - 1) * size + page.count + (following is not None)
    else:
        total = page.total
    return Listing(
        records,
        total,
        number,
        page.untraced_blocks,
        following,
        is_counted=page.total is not None,
        kept_from=page.kept_from,
        complete_from=page.complete_from,
        size=size,
    )


def names_of(records: Iterable[Record], *more: str | None) -> Names:
    """Return names and labels of all addresses in records and of `more`. Links show `name`: the
    operator's label, else a pool's pair, else a token's own name, else that of the verified
    source. Beside addresses without one they show `claim`, a name that the address has chosen."""
    named = {record[field] for record in records for field in ADDRESS_FIELDS if record.get(field)}
    named |= {address for address in more if address}
    keys = [bytes.fromhex(address[2:]) for address in sorted(named)[:MAX_NAMED]]
    names = dict(json.loads(addresses.names(reader(), keys)))
    for name in names.values():
        token = name["token"] or {}
        for key in ("name", "symbol"):
            if formatting.is_blank(token.get(key)) and key in token:
                token[key] = ""  # its address identifies it better
        pair = formatting.pair_name(name["pool"]) if name["pool"] else None
        name["name"] = name["label"] or pair or token.get("name") or name["contract"]
    unnamed = [key for key in keys if not names.get(to_hex(key), {}).get("name")]
    for address, claim in reader().sources.get(AddressNames).in_list(reader(), unnamed).items():
        own = names.get(to_hex(address), NAMELESS)
        names[to_hex(address)] = {**own, "claim": claim}
    return names


def finality_of(number: int, confirmations: int) -> str:
    """Return `finalized`, `safe` or `not final` for a block; empty where the node's chain has no
    such blocks, or the node does not answer."""
    tag = blocks.finality_of(reader(), number, confirmations) or ""
    return "not final" if tag == "latest" else tag


def is_pool(address: str) -> bool:
    return bool(names_of((), address).get(address, {}).get("pool"))


def hash_of(text: str) -> bytes:
    """Return a hash in a path; raises InvalidParameter with a message for readers of pages."""
    try:
        return parameters.hash32(text)
    except InvalidParameter:
        raise InvalidParameter(
            "Not a hash: a hash is 0x followed by 64 hex digits.", field="hash"
        ) from None


def address_of(text: str) -> bytes:
    """Return an address in a path; raises InvalidParameter with a message for readers of pages."""
    try:
        return parameters.address(text)
    except InvalidParameter:
        raise InvalidParameter(
            "Not an address: an address is 0x followed by 40 hex digits.", field="address"
        ) from None
