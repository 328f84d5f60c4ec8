"""/user-operations, of all or by one address, and /user-operation/:hash with its calls."""

from flask import Blueprint, Response

from scan.extensions.user_operations import queries as user_operations
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.filtered_lists import entity_list
from scan.pages.hooks import Pages, Shown, TransactionSection
from scan.pages.records import Record, addresses_in, hash_of, names_of
from scan.pages.site import page

SHOWN_INPUT = 2000  # characters

blueprint = Blueprint("pages_user_operations", __name__)


def transaction_head(transaction: Record) -> Shown:
    """Name the operations of a transaction, whose addresses its section shows."""
    return Shown({}, records=transaction.get("userOperations", ()))


@blueprint.get("/user-operations")
def list_user_operations() -> Response:
    shown = entity_list("user_operations", "/user-operations", "/user-operations")
    return shown.response("user_operations.html", shown=shown, names=names_of(shown.records))


@blueprint.get("/user-operation/<operation_hash>")
def get_user_operation(operation_hash: str) -> Response:
    records = user_operations.operations_with_hash(reader(), hash_of(operation_hash))
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
            *(address for call in (*decoded, reason) for address in addresses_in(call)),
        ),
    )


HOOKS = Pages(
    blueprints=(blueprint,),
    menu=(("Chain", "/user-operations", "User operations"),),
    sections=(
        TransactionSection({"transaction": "transaction_user_operations.html"}, transaction_head),
    ),
)
