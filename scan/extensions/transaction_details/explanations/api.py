"""GET /api/v1/transactions/:hash/trace and /state-changes."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint

from scan.api.hooks import Api
from scan.api.transactions import indexed_transaction
from scan.extensions.transaction_details.explanations import queries as explanations
from scan.http.prerequisites import Prerequisite, requires
from scan.http.requests import reader
from scan.http.responses import Response, json_value

blueprint = Blueprint("explanations", __name__)


@blueprint.get("/transactions/<transaction_hash>/trace")
@requires(Prerequisite.NODE)
def get_trace(transaction_hash: str) -> Response:
    record, _ = indexed_transaction(transaction_hash)
    trace, frames = explanations.calls(reader(), record)
    return _traced(
        record,
        frames=[frame.record() for frame in frames],
        frameCount=trace.frame_count,
        truncated=trace.is_truncated,
        unproven=["frames", "frameCount"],
    )


@blueprint.get("/transactions/<transaction_hash>/state-changes")
@requires(Prerequisite.NODE)
def get_state_changes(transaction_hash: str) -> Response:
    record, _ = indexed_transaction(transaction_hash)
    changes = explanations.state_changes(reader(), record)
    return _traced(
        record,
        accounts=[account.record() for account in changes.accounts],
        accountCount=changes.account_count,
        slotCount=changes.slot_count,
        truncated=changes.is_truncated,
        unproven=["accounts", "accountCount", "slotCount"],
    )


def _traced(record: Mapping[str, Any], **read: object) -> Response:
    transaction = {"transactionHash": record["hash"], "blockNumber": record["blockNumber"]}
    return json_value({**transaction, "blockHash": record["blockHash"], **read})


HOOKS = Api(blueprints=(blueprint,))
