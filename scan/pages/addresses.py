"""/address/:address: its transactions, transfers, holdings and contract."""

import json
from io import BytesIO

import segno
from flask import Blueprint, Response

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.checksums import checksummed
from scan.ethereum.client import Call
from scan.ethereum.units import COIN_DECIMALS
from scan.hex import BadHex, quantity, to_hex
from scan.http.requests import reader
from scan.pages.address_head import address_head
from scan.pages.bytecode_and_events import bytecode_page, events_page
from scan.pages.contract_page import contract_page, read_contract_view
from scan.pages.filtered_lists import (
    RANGES,
    UNORDERED,
    Field,
    FilteredList,
    entity_list,
    filtered_list,
)
from scan.pages.records import (
    address_of,
    names_of,
    requested_tab,
)
from scan.pages.site import HEADERS, page
from scan.pages.svg_charts import Chart, Point, line_chart
from scan.queries import (
    addresses,
    history,
)
from scan.queries.method_names import add_methods

TABS = (
    *("transactions", "history", "transfers", "internal", "trades", "tokens", "items", "chart"),
    *("messages", "delegations", "contract", "events", "bytecode"),
)
# By tab: the entity, the filter that has the address, and the list in the API.
LISTS = {
    "transactions": ("transactions", "address", "/addresses/{address}/transactions"),
    "transfers": ("token_transfers", "address", "/addresses/{address}/transfers"),
    "internal": ("internal_transfers", "address", "/addresses/{address}/internal"),
    "trades": ("dex_trades", "address", "/addresses/{address}/trades"),
    "messages": ("messages_to_l1", "sender", "/messages-to-l1?sender={address}"),
    "delegations": ("authorizations", "authority", "/authorizations?authority={address}"),
}
HISTORY_FIELDS = (
    Field("types", "Kind", "choice", {name: name.replace("_", " ") for name in history.TYPES}),
    Field("direction", "Direction", "choice", {name: name for name in history.DIRECTIONS}),
    Field("token", "Token", "address"),
    Field("counterparty", "Counterparty", "address"),
    *RANGES,
)
CHART_POINTS = 40
CHART_TIMEOUT_S = 2.0

blueprint = Blueprint("pages_addresses", __name__)


@blueprint.get("/address/<address>")
def get_address(address: str) -> Response:
    key = address_of(address)
    tab = requested_tab(TABS)
    if tab == "contract":
        return contract_page(key, read_contract_view(key))
    if tab == "events":
        return events_page(key)
    if tab == "bytecode":
        return bytecode_page(key)
    shown = _list(tab, key)
    respond = page if shown is None else shown.response
    return respond(
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


def _list(tab: str, key: bytes) -> FilteredList | None:
    path, own = f"/address/{to_hex(key)}", to_hex(key)
    if tab in LISTS:
        entity, role, api_path = LISTS[tab]
        shown = entity_list(
            entity,
            path,
            api_path.format(address=own),
            tab=tab,
            left_out=("maker",),
            fixed={role: own},
        )
        if tab == "transactions":
            add_methods(reader(), shown.records)
        return shown
    held = {"tokens": addresses.tokens_held, "items": addresses.items_held}
    if tab in held:
        read = held[tab]
        return filtered_list(
            path,
            f"/addresses/{own}/{tab}",
            (),
            lambda window, _: read(reader(), key, window),
            tab=tab,
            place=UNORDERED,
        )
    if tab == "history":
        return filtered_list(
            path,
            f"/addresses/{own}/{tab}",
            HISTORY_FIELDS,
            lambda window, filters: history.page(
                reader(), key, window, history.read_filter(filters)
            ),
            tab=tab,
            place=("limit", "cursor", "orderBy"),
        )
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
