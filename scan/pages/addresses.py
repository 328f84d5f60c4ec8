"""/address/:address: what it holds and what it did, and its contract."""

import json
from typing import Any, NamedTuple

from flask import Blueprint, Response, request

from scan.errors import NotFound, Unavailable
from scan.ethereum.client import Call, NodeError, RpcError
from scan.hex import BadHex, quantity, to_hex
from scan.http import chain_lists
from scan.http.chain_lists import Page, PageRequest
from scan.http.chain_reads import do_not_cache, read_chain
from scan.http.services import services
from scan.pages.charts import Chart, Point, line_chart
from scan.pages.contract_source import ShownContract, read_contract
from scan.pages.formatting import amount
from scan.pages.method_names import add_methods
from scan.pages.records import PAGE_SIZE, Listing, address_of, listing, names_of, page_request
from scan.pages.site import page, site

TABS = ("transactions", "transfers", "internal", "trades", "tokens", "items", "chart", "contract")
HELD = {"tokens": "api/addresses_list_tokens", "items": "api/addresses_list_items"}
CHART_POINTS = 40
CHART_TIMEOUT_S = 2.0

blueprint = Blueprint("pages_addresses", __name__)


class Account(NamedTuple):
    """An address as the index has it; balance in wei, None where nobody could say."""

    address: str
    transaction_count: int
    label: str | None
    first_seen: str
    last_seen: str
    balance: int | None
    balance_block: int | None
    is_contract: bool


@blueprint.get("/address/<address>")
def get_address(address: str) -> Response:
    key = address_of(address)
    account = read_account(key)
    tab = request.args.get("tab")
    tab = tab if tab in TABS else TABS[0]
    if tab == "contract":
        return contract_page(account, read_contract(key))
    shown = _list(tab, key)
    return page(
        "address.html",
        account=account,
        tab=tab,
        shown=shown,
        names=names_of(shown.records if shown else [], account.address),
        chart=_balance_chart(key) if tab == "chart" else None,
    )


def contract_page(
    account: Account, contract: ShownContract, status: int = 200, **more: Any
) -> Response:
    """The contract tab; `more` is what a form brought."""
    names = names_of([], account.address, contract.implementation, contract.verified_by)
    values = {"form": {}, "error": None, "call": None, **more}
    return page(
        "contract.html",
        status,
        account=account,
        tab="contract",
        contract=contract,
        names=names,
        **values,
    )


def read_account(key: bytes) -> Account:
    """Raises NotFound for an address never seen."""
    *row, number, hash_, is_unchanged = read_chain("api/addresses_get", address=key)
    count, label, first_seen, last_seen, _, balance, block, is_contract = row
    if count is None:
        raise NotFound("This address has not been seen in any indexed block.")
    if block != number:
        state = services().account_states.at(key, number, bytes(hash_))
        if state is not None:
            balance, block, is_contract = state.balance, number, state.is_contract
        else:
            do_not_cache()  # the node may answer the next request
            block = number if is_unchanged else block
    return Account(
        to_hex(key),
        count,
        label,
        first_seen,
        last_seen,
        None if balance is None else int(balance),
        block,
        is_contract,
    )


def _list(tab: str, key: bytes) -> Listing | None:
    wanted = page_request()
    if tab == "transactions":
        found = listing(chain_lists.transactions(wanted, address=key))
        add_methods(found.records)
        return found
    if tab == "transfers":
        return listing(chain_lists.token_transfers(wanted, address=key))
    if tab == "internal":
        return _internal_transfers(key, wanted)
    if tab == "trades":
        return listing(chain_lists.dex_trades(wanted, maker=key))
    if tab in HELD:
        row = read_chain(HELD[tab], address=key, limit=PAGE_SIZE, offset=wanted.offset)
        return listing(Page(*row))
    return None


def _internal_transfers(key: bytes, wanted: PageRequest) -> Listing | None:
    """None where no traces were read."""
    try:
        return listing(chain_lists.internal_transfers(wanted, address=key))
    except NotFound:
        return None


def _balance_chart(key: bytes) -> Chart | None:
    """At blocks evenly spread from the first it was seen in; None where the node has no such
    state: only archive nodes keep all of it."""
    (body,) = read_chain("pages/addresses_list_sample_blocks", address=key, points=CHART_POINTS)
    blocks = json.loads(body)
    found = _balances(to_hex(key), [block["number"] for block in blocks])
    if found is None:
        do_not_cache()
        return None
    points = [
        Point(block["time"], wei, amount(wei)) for block, wei in zip(blocks, found, strict=True)
    ]
    return line_chart(points, title="Balance")


def _balances(address: str, numbers: list[int]) -> list[int] | None:
    calls = [Call("eth_getBalance", (address, hex(number))) for number in numbers]
    try:
        with site().node_reads.place():
            found = services().node.once(calls, CHART_TIMEOUT_S)
        return (
            None if any(isinstance(each, RpcError) for each in found) else [*map(quantity, found)]
        )
    except (NodeError, BadHex, Unavailable):
        return None
