"""GET /api/v1/addresses/:address/pending-transactions."""

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.transaction_details.pending_transactions import queries as pending_transactions
from scan.http.prerequisites import Prerequisite, requires
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response, json_value

blueprint = Blueprint("pending_transactions", __name__)


@blueprint.get("/addresses/<address>/pending-transactions")
@requires(Prerequisite.NODE)
def list_pending(address: str) -> Response:
    query_arguments()
    listed = pending_transactions.of_sender(reader(), parameters.address(address))
    return json_value(
        {
            "pendingTransactions": listed.records,
            "total": listed.total,
            "reason": listed.reason,
        }
    )


HOOKS = Api(blueprints=(blueprint,))
