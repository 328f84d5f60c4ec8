"""The contract tab of an address, with its own tabs Code, Read and Write."""

from typing import Any

from flask import Response, request

from scan import parameters
from scan.extensions.contract_details.contract_functions import (
    AmountUnits,
    amount_units,
    token_units,
)
from scan.extensions.contract_details.contract_source import VIEWS, ShownContract, read_contract
from scan.extensions.contract_details.source_files import Shown
from scan.hex import to_hex
from scan.http.services import services
from scan.pages.address_head import address_head
from scan.pages.argument_values import ERC20_RESULTS
from scan.pages.records import Names, names_of
from scan.pages.site import page, site
from scan.verification.compiler_releases import dotted

BLOCKSCOUT_VIEWS = {"read_contract": "read", "write_contract": "write"}


def read_contract_view(key: bytes) -> ShownContract:
    """Return the contract as the requested view shows it; raises InvalidParameter, NotFound."""
    default = BLOCKSCOUT_VIEWS.get(request.args.get("tab", ""), VIEWS[0])
    view = parameters.one_of(request.args.get("view", default), "view", VIEWS)
    shown = Shown(request.args.get("file", ""), request.args.get("find", ""))
    return read_contract(key, view, shown=shown)


def units_of(key: bytes, contract: ShownContract, names: Names) -> AmountUnits:
    """Return the units in which a contract's page takes amounts: of the coin, of the contract if it
    is a token, and of tokens whose addresses the contract returns."""
    addresses = dict.fromkeys([to_hex(key), *contract.returned_addresses])
    tokens = [token_units((names.get(address) or {}).get("token")) for address in addresses]
    return amount_units(site().chain().symbol, [token for token in tokens if token])


def contract_page(key: bytes, contract: ShownContract, status: int = 200, **more: Any) -> Response:
    """Return the contract tab; `more` are the values of a form."""
    address = to_hex(key)
    names = names_of([], address, *contract.addresses)
    token = token_units((names.get(address) or {}).get("token"))
    values = {"form": {}, "error": None, "call": None, **more}
    shows_form = contract.view == "code" and contract.can_match_better
    releases = services().verifier.installer.releases() if shows_form else {}
    return page(
        "contract.html",
        status,
        **address_head(key, "contract"),
        contract=contract,
        names=names,
        token=token,
        token_results=ERC20_RESULTS if token else (),
        units=units_of(key, contract, names),
        compilers=[*map(dotted, releases)],
        **values,
    )
