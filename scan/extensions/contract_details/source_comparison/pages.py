"""The page of two sources side by side."""

from flask import Blueprint, Response, request

from scan.extensions.contract_details.source_comparison import comparison
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.hooks import Pages
from scan.pages.records import address_of, names_of
from scan.pages.site import page

blueprint = Blueprint("pages_source_comparison", __name__)


@blueprint.get("/address/<address>/compare")
def choose_other(address: str) -> Response:
    """Redirect to the comparison with the address of a form."""
    key, other = address_of(address), address_of(request.args.get("with", "").strip())
    target = f"/address/{to_hex(key)}/compare/{to_hex(other)}"
    return Response(status=303, headers={"Location": target})


@blueprint.get("/address/<address>/compare/<other>")
def compare_sources(address: str, other: str) -> Response:
    key, other_key = address_of(address), address_of(other)
    pairs = comparison.of(reader(), key, other_key)
    own, others = to_hex(key), to_hex(other_key)
    return page(
        "source_comparison.html",
        address=own,
        other=others,
        pairs=pairs,
        names=names_of([], own, others),
    )


HOOKS = Pages(blueprints=(blueprint,))
