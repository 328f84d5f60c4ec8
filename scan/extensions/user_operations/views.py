"""User operations: GET /api/v1/user-operations, /user-operations/:hash and
/transactions/:hash/user-operations; the pages /user-operations, of all or by one address, and
/user-operation/:hash with its calls."""

from typing import Any

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.user_operations import queries as user_operations
from scan.hex import to_hex
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response, json_value
from scan.http.list_responses import LISTED, add_list, list_response
from scan.pages import filtered_lists, hooks
from scan.pages.records import Record, addresses_in, hash_of, names_of
from scan.pages.site import page
from scan.queries.list_pages import Page, Window

api_views = Blueprint("user_operations", __name__)
add_list(api_views, "/user-operations", "user_operations")


def _with_hash(operation_hash: bytes) -> list[dict[str, Any]]:
    records = user_operations.operations_with_hash(reader(), operation_hash)
    what = "No user operation with this hash is indexed."
    return reader().indexed(records or None, what)


@api_views.get("/user-operations/<operation_hash>")
def get_user_operation(operation_hash: str) -> Response:
    """Return the newest user operation with the hash, and as `others` the older ones."""
    query_arguments()
    record, *others = _with_hash(parameters.hash32(operation_hash))
    operation = {
        **record,
        "entryPointVersion": user_operations.version(record),
        **user_operations.details(reader(), record).record(),
        "others": others,
    }
    return json_value(operation)


@api_views.get("/transactions/<transaction_hash>/user-operations")
def list_user_operations_of_transaction(transaction_hash: str) -> Response:
    key = parameters.hash32(transaction_hash)

    def read(window: Window) -> Page:
        return reader().indexed(user_operations.transaction_page(reader(), key, window))

    return list_response("userOperations", query_arguments(*LISTED), read, direction="asc")


SHOWN_INPUT = 2000  # characters

page_views = Blueprint("pages_user_operations", __name__)


def transaction_head(transaction: Record) -> hooks.Shown:
    """Name the operations of a transaction, whose addresses its section shows."""
    return hooks.Shown({}, records=transaction.get("userOperations", ()))


@page_views.get("/user-operations")
def list_user_operations() -> Response:
    path = "/user-operations"
    return filtered_lists.entity_list("user_operations", path, path).show("user_operations.html")


@page_views.get("/user-operation/<operation_hash>")
def show_user_operation(operation_hash: str) -> Response:
    records = _with_hash(hash_of(operation_hash))
    record, *others = records
    details = user_operations.details(reader(), record)
    decoded = [function for _, function in details.calls]
    reason = details.error and details.error.decoded
    return page(
        "user_operation.html",
        operation=record,
        entry_point_version=user_operations.version(record),
        others=others,
        details=details,
        shown_input=SHOWN_INPUT,
        names=names_of(
            records,
            *(to_hex(call.to) for call, _ in details.calls),
            *(address for call in (*decoded, reason) for address in addresses_in(call)),
        ),
    )


HOOKS = (
    Api(blueprints=(api_views,)),
    hooks.Pages(
        blueprints=(page_views,),
        menu=(("Chain", "/user-operations", "User operations"),),
        sections=(
            hooks.TransactionSection(
                {"transaction": "transaction_user_operations.html"}, transaction_head
            ),
        ),
    ),
)
