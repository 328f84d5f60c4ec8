"""The contract tab of an address and of a token, with its own tabs Code, Read and Write."""

from collections.abc import Mapping
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
from scan.extensions.transaction_details.clear_signing import ClearSigning
from scan.hex import to_hex
from scan.http.requests import reader
from scan.http.services import services
from scan.pages.address_head import address_head
from scan.pages.argument_values import ERC20_RESULTS
from scan.pages.records import Names, names_of
from scan.pages.site import page, site
from scan.verification.compiler_releases import dotted
from scan.verification.languages.vyper import VYPER

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
    """Return the contract tab of an address; `more` are the values of a form."""
    head = address_head(key, "contract")
    values = _values(key, contract, "/address", **more)
    return page("contract.html", status, **head, **values)


def token_tab(key: bytes) -> tuple[None, Mapping[str, Any]]:
    """Return the values of the contract tab of a token."""
    values = _values(key, read_contract_view(key), "/token")
    del values["token"]  # the page has the token's record
    return None, {"address": to_hex(key), **values}


def _values(key: bytes, contract: ShownContract, pages: str, **more: Any) -> dict[str, Any]:
    """Return the values of contract_body.html on the page of `key` below the path `pages`."""
    address = to_hex(key)
    names = names_of([], address, *contract.addresses)
    token = token_units((names.get(address) or {}).get("token"))
    shows_form = contract.view == "code" and contract.can_match_better
    compilers = services().verifier.compilers
    solidity = compilers.releases() if shows_form else {}
    vyper = compilers.of(VYPER.kind).releases() if shows_form else {}
    return {
        "contract": contract,
        "may_describe": reader().sources.get(ClearSigning).may_describe(reader()),
        "contract_path": f"{pages}/{address}",
        "names": names,
        "token": token,
        "token_results": ERC20_RESULTS if token else (),
        "units": units_of(key, contract, names),
        "compilers": [*map(dotted, solidity), *(f"vyper:{dotted(v)}" for v in vyper)],
        "form": {},
        "error": None,
        "call": None,
        **more,
    }
