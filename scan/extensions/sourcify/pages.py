"""The page of a contract that clients name after a verification."""

from flask import Blueprint, Response

from scan.errors import NotFound
from scan.extensions.sourcify.fields import canonical_id
from scan.hex import to_hex
from scan.http.current_request import reader
from scan.pages import hooks
from scan.pages.records import address_of
from scan.queries import contracts

views = Blueprint("pages_sourcify", __name__)


@views.get("/repo-ui/<chain_id>/<address>")
@views.get("/server/repo-ui/<chain_id>/<address>")
@views.get("/repo-ui/contracts/<match>/<chain_id>/<address>/")  # as Hardhat 2 prints it
@views.get("/server/repo-ui/contracts/<match>/<chain_id>/<address>/")
def show_contract(chain_id: str, address: str, match: str = "") -> Response:
    contract = address_of(address)
    if canonical_id(chain_id) != reader().sources.chain_id.read():
        raise NotFound(f"This is not the explorer of chain {chain_id}.")
    stored, _ = contracts.get_with_proxy(reader(), contract, ())
    if not stored.has_source:
        raise NotFound(stored.not_verified)
    location = f"/address/{to_hex(contract)}?tab=contract"
    return Response(status=303, headers={"Location": location})


HOOKS = hooks.Pages(blueprints=(views,))
