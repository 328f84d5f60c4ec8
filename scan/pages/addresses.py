"""/address/:address: its transactions, transfers, holdings and contract."""

import json
from io import BytesIO
from typing import Any

import segno
from flask import Blueprint, Response, request

from scan.errors import NotFound, Unavailable, UpstreamFailed
from scan.ethereum.checksums import checksummed
from scan.ethereum.client import Call
from scan.ethereum.units import COIN_DECIMALS
from scan.hex import BadHex, quantity, to_hex
from scan.http.requests import reader
from scan.http.services import services
from scan.pages.address_head import address_head
from scan.pages.bytecode_and_events import bytecode_page, events_page
from scan.pages.contract_source import ShownContract, read_contract
from scan.pages.records import (
    PAGE_SIZE,
    Listing,
    address_of,
    listing,
    names_of,
    requested_tab,
    window,
)
from scan.pages.site import HEADERS, page
from scan.pages.svg_charts import Chart, Point, line_chart
from scan.queries import (
    addresses,
    authorizations,
    dex_trades,
    history,
    internal_transfers,
    messages_to_l1,
    token_transfers,
    transactions,
)
from scan.queries.history import HistoryFilter
from scan.queries.method_names import add_methods
from scan.queries.pages import Window
from scan.verification.compiler_releases import dotted

TABS = (
    *("transactions", "history", "transfers", "internal", "trades", "tokens", "items", "chart"),
    *("messages", "delegations", "contract", "events", "bytecode"),
)
CHART_POINTS = 40
CHART_TIMEOUT_S = 2.0

blueprint = Blueprint("pages_addresses", __name__)


@blueprint.get("/address/<address>")
def get_address(address: str) -> Response:
    key = address_of(address)
    tab = requested_tab(TABS)
    if tab == "contract":
        return contract_page(key, read_contract(key, with_values=True))
    if tab == "events":
        return events_page(key)
    if tab == "bytecode":
        return bytecode_page(key)
    shown = _list(tab, key)
    return page(
        "address.html",
        **address_head(key),
        tab=tab,
        shown=shown,
        names=names_of(shown.records if shown else [], to_hex(key)),
        chart=_balance_chart(key) if tab == "chart" else None,
    )


@blueprint.get("/address/<address>/qr.svg")
def get_qr_code(address: str) -> Response:
    """Return a QR code of the address itself, which every wallet's camera takes; black on white
    in both themes."""
    code = segno.make(checksummed(to_hex(address_of(address))), error="m", micro=False)
    image = BytesIO()
    code.save(image, kind="svg", scale=6, border=4, light="#fff", xmldecl=False, nl=False)
    return Response(image.getvalue(), headers={**dict(HEADERS), "Content-Type": "image/svg+xml"})


def contract_page(key: bytes, contract: ShownContract, status: int = 200, **more: Any) -> Response:
    """Return the contract tab; `more` are the values of a form."""
    names = names_of([], to_hex(key), *contract.addresses)
    values = {"form": {}, "error": None, "call": None, **more}
    releases = services().verifier.installer.releases() if contract.can_match_better else {}
    return page(
        "contract.html",
        status,
        **address_head(key),
        tab="contract",
        contract=contract,
        names=names,
        compilers=[*map(dotted, releases)],
        **values,
    )


def _list(tab: str, key: bytes) -> Listing | None:
    page_window = window()
    if tab == "transactions":
        sent = listing(transactions.page(reader(), page_window, address=key))
        add_methods(reader(), sent.records)
        return sent
    if tab == "history":
        cursor = request.args.get("cursor")
        return listing(
            history.page(reader(), key, Window(PAGE_SIZE, 0, cursor=cursor), HistoryFilter())
        )
    if tab == "transfers":
        return listing(token_transfers.page(reader(), page_window, address=key))
    if tab == "internal":
        return _internal_transfers(key, page_window)
    if tab == "messages":
        return listing(messages_to_l1.page(reader(), page_window, sender=key))
    if tab == "trades":
        return listing(dex_trades.page(reader(), page_window, maker=key))
    if tab == "delegations":
        return listing(authorizations.page(reader(), page_window, authority=key))
    if tab == "tokens":
        return listing(addresses.tokens_held(reader(), key, page_window))
    if tab == "items":
        return listing(addresses.items_held(reader(), key, page_window))
    return None


def _internal_transfers(key: bytes, page_window: Window) -> Listing | None:
    """Return None if no traces were read."""
    try:
        return listing(internal_transfers.page(reader(), page_window, address=key))
    except NotFound:
        return None


def _balance_chart(key: bytes) -> Chart | None:
    """Return the balance at evenly spaced blocks from the first that the address was seen in;
    None if the node does not have their state, which only archive nodes keep."""
    blocks = json.loads(addresses.sample_blocks(reader(), key, CHART_POINTS))
    calls = [Call("eth_getBalance", (to_hex(key), hex(block["number"]))) for block in blocks]
    try:
        balances = [*map(quantity, reader().node.within(CHART_TIMEOUT_S).results(calls))]
    except (UpstreamFailed, Unavailable, BadHex):  # BadHex also for an RpcError
        reader().do_not_cache()
        return None
    points = [Point(block["time"], wei) for block, wei in zip(blocks, balances, strict=True)]
    return line_chart(points, title="Balance", decimals=COIN_DECIMALS)
