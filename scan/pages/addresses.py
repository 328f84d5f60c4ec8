"""/address/:address: its transactions, transfers, holdings and contract."""

from functools import partial
from io import BytesIO

import segno
from flask import Blueprint, Response

from scan.ethereum.checksums import checksummed
from scan.hex import to_hex
from scan.http.prerequisites import Prerequisite, requires
from scan.pages.address_head import MAX_HOLDINGS, address_head, address_tabs
from scan.pages.filtered_lists import FilteredList, entity_list
from scan.pages.holdings import first_page
from scan.pages.hooks import TabList, complete_transactions
from scan.pages.records import address_of, is_pool, names_of
from scan.pages.site import HEADERS, page
from scan.pages.tabs import list_of_address, requested

LISTS = {
    tab: list_of_address(entity, "address", f"/addresses/{{address}}/{tab}", tab)
    for tab, entity in (
        ("transactions", "transactions"),
        ("transfers", "token_transfers"),
        ("trades", "dex_trades"),
    )
}

blueprint = Blueprint("pages_addresses", __name__)


@blueprint.get("/address/<address>")
@requires(Prerequisite.NODE_FIELDS)
def get_address(address: str) -> Response:
    key = address_of(address)
    tab = requested(address_tabs())
    if tab.respond:
        return tab.respond(key)
    shown: TabList | None
    shown, values = tab.read(key) if tab.template else (_list(tab.name, key), {})
    if shown and "names" not in values:
        values = {**values, "names": names_of(shown.records, to_hex(key))}
    first = first_page(shown, values, MAX_HOLDINGS) if shown and tab.name == "tokens" else None
    error = values.get("error")
    respond = shown.response if shown else partial(page, status_code=error.status if error else 200)
    return respond(
        "address.html",
        **address_head(key, tab.name, first),
        **values,
        tab_template=tab.template or "address_list.html",
        shown=shown,
    )


@blueprint.get("/address/<address>/qr.svg")
def get_qr_code(address: str) -> Response:
    """Return a QR code of the address itself, which wallets scan; it is black on white in both
    themes."""
    code = segno.make(checksummed(to_hex(address_of(address))), error="m", micro=False)
    image = BytesIO()
    code.save(image, kind="svg", scale=6, border=4, light="#fff", xmldecl=False, nl=False)
    return Response(image.getvalue(), headers={**dict(HEADERS), "Content-Type": "image/svg+xml"})


def _list(tab: str, key: bytes) -> FilteredList:
    path, own = f"/address/{to_hex(key)}", to_hex(key)
    if tab == "trades" and is_pool(own):
        return entity_list(
            "dex_trades",
            path,
            f"/dex-trades?pool={own}",
            tab=tab,
            left_out=("dex", "tokenAddress"),
            fixed={"pool": own},
        )
    shown, _ = LISTS[tab](key)
    if tab == "transactions":
        complete_transactions(shown.records)
    return shown
