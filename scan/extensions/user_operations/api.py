"""GET /api/v1/user-operations, /user-operations/:hash, /transactions/:hash/user-operations."""

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.user_operations import queries as user_operations
from scan.http.list_responses import LISTED, add_list, list_response
from scan.http.requests import Response, json_value, query_arguments, reader
from scan.queries.pages import Page, Window

blueprint = Blueprint("user_operations", __name__)
add_list(blueprint, "/user-operations", "user_operations")


@blueprint.get("/user-operations/<operation_hash>")
def get_user_operation(operation_hash: str) -> Response:
    """Return the newest user operation with the hash, and as `others` the older ones."""
    query_arguments()
    records = user_operations.operations_with_hash(reader(), parameters.hash32(operation_hash))
    if not records:
        raise reader().not_indexed("No user operation with this hash is indexed.")
    record, *others = records
    return json_value(
        {
            **record,
            "entryPointVersion": user_operations.version(record),
            **user_operations.details(reader(), record).record(),
            "others": others,
        }
    )


@blueprint.get("/transactions/<transaction_hash>/user-operations")
def list_user_operations_of_transaction(transaction_hash: str) -> Response:
    key = parameters.hash32(transaction_hash)

    def read(window: Window) -> Page:
        page = user_operations.transaction_page(reader(), key, window)
        if page is None:
            raise reader().not_indexed("This transaction is not indexed.")
        return page

    return list_response("userOperations", query_arguments(*LISTED), read, direction="asc")


HOOKS = Api(blueprints=(blueprint,))
