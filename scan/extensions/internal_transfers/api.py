"""GET /api/v1/internal-transfers, those of an address and of a transaction."""

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.errors import NotFound
from scan.extensions.internal_transfers import queries
from scan.extensions.internal_transfers import queries as internal_transfers
from scan.extensions.internal_transfers.transaction_traces import TransactionTraces
from scan.http.hooks import Service
from scan.http.list_responses import LISTED, add_list, list_response
from scan.http.requests import Response, query_arguments, reader
from scan.queries.hooks import Entities
from scan.queries.pages import Page, Window

blueprint = Blueprint("internal_transfers", __name__)
add_list(blueprint, "/internal-transfers", "internal_transfers")
add_list(blueprint, "/addresses/<address>/internal", "internal_transfers")


@blueprint.get("/transactions/<transaction_hash>/internal")
def list_internal_transfers_of_transaction(transaction_hash: str) -> Response:
    key = parameters.hash32(transaction_hash)

    def read(window: Window) -> Page:
        page, is_traced = internal_transfers.transaction_page(reader(), key, window)
        if is_traced is None:
            raise reader().not_indexed("This transaction is not indexed.")
        if not is_traced:
            reason = internal_transfers.without_traces(reader())
            raise NotFound(f"This transaction's block was indexed without traces. {reason}")
        return page

    return list_response("internalTransfers", query_arguments(*LISTED), read, direction="asc")


HOOKS = (
    Api(blueprints=(blueprint,)),
    Service(make=lambda core: TransactionTraces(core.settings.traces)),
    Entities(pages={"internal_transfers": queries.page}),
)
