"""/user-operations, of all or by one address, and /user-operation/:hash with its calls."""

from flask import Blueprint, Response, request

from scan import parameters
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.records import address_of, listing, names_of, window
from scan.pages.site import page
from scan.pages.transaction_traces import addresses_in
from scan.queries import user_operations

ROLES = {
    "sender": "sender",
    "paymaster": "paymaster",
    "bundler": "bundler",
    "entryPoint": "entry_point",
}
SHOWN_INPUT = 2000  # characters

blueprint = Blueprint("pages_user_operations", __name__)


@blueprint.get("/user-operations")
def list_user_operations() -> Response:
    """Those that an address has one part in, where the query string names it."""
    given = {key: address_of(request.args[key]) for key in ROLES if key in request.args}
    chosen = dict(list(given.items())[:1])
    filters = {ROLES[key]: address for key, address in chosen.items()}
    shown = listing(user_operations.page(reader(), window(), **filters))
    texts = {key: to_hex(address) for key, address in chosen.items()}
    return page(
        "user_operations.html",
        operations=shown,
        chosen=texts,
        filter="&".join(f"{key}={address}" for key, address in texts.items()),
        names=names_of(shown.records, *texts.values()),
    )


@blueprint.get("/user-operation/<operation_hash>")
def get_user_operation(operation_hash: str) -> Response:
    records = user_operations.with_hash(reader(), parameters.hash32(operation_hash))
    if not records:
        raise reader().not_indexed("No user operation with this hash is indexed.")
    record, *others = records
    details = user_operations.details(reader(), record)
    decoded = [function for _, function in details.calls]
    reason = details.error and details.error.decoded
    return page(
        "user_operation.html",
        operation=record,
        version=user_operations.version(record),
        others=others,
        details=details,
        shown_input=SHOWN_INPUT,
        names=names_of(
            records,
            *(to_hex(call.to) for call, _ in details.calls),
            *(address for each in (*decoded, reason) for address in addresses_in(each)),
        ),
    )
