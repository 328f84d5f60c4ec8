"""A sender's pending transactions, in the API and as a tab of its page; the page of a transaction
that is not indexed, as the node has it or what became of it."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from scan import parameters
from scan.api.hooks import Api
from scan.errors import Unavailable, UpstreamFailed
from scan.extensions.decoding import decoding
from scan.extensions.pending_transactions import queries as pending_transactions
from scan.extensions.pending_transactions.queries import MAX_UINT64, Fate
from scan.hex import to_hex
from scan.http import json_responses
from scan.http.current_request import query_arguments, reader
from scan.http.prerequisites import Prerequisite, requires
from scan.pages import hooks, tabs
from scan.pages.records import address_of, addresses_in, names_of
from scan.pages.site import page

blueprint = Blueprint("pending_transactions", __name__)


@blueprint.get("/addresses/<address>/pending-transactions")
@requires(Prerequisite.NODE)
def list_pending(address: str) -> json_responses.Response:
    query_arguments()
    sender = parameters.address(address)
    listed = pending_transactions.sender_transactions(reader(), sender)
    value = {"pendingTransactions": listed.records, "total": listed.total, "reason": listed.reason}
    return json_responses.json_value({**value, "unproven": ("pendingTransactions", "total")})


def page_of_missing(transaction_hash: bytes) -> Response | None:
    """Return the page; None where the node does not know the transaction either, and the request
    does not name its sender and nonce, as links on the page of a pending one do. Raises
    UpstreamFailed or Unavailable where the node does not say, and the request does not either."""
    try:
        pending = pending_transactions.get(reader(), transaction_hash)
    except (UpstreamFailed, Unavailable) as error:
        if "nonce" not in request.args:
            raise
        return _page_of_gone(transaction_hash, error.message)
    if pending is None:
        return _page_of_gone(transaction_hash) if "nonce" in request.args else None
    sent, method, replaced_by, missing_nonce = pending
    parties = [address for address in (sent.from_address, sent.to_address) if address is not None]
    return page(
        "pending_transaction.html",
        tab=tabs.requested(tabs.tabs()),
        hash=to_hex(transaction_hash),
        sent=sent,
        method=method,
        replaced_by=replaced_by,
        missing_nonce=missing_nonce,
        names=names_of((), *map(to_hex, parties), *addresses_in(method)),
    )


def _page_of_gone(transaction_hash: bytes, failure: str | None = None) -> Response:
    """Return the page of what became of a transaction; `failure` is why the node did not say
    whether it has it."""
    sender = address_of(request.args.get("from", ""))
    nonce = parameters.integer_text(request.args, "nonce", default=0, least=0, most=MAX_UINT64)
    gone = pending_transactions.gone(reader(), transaction_hash, sender, nonce, failure)
    return page(
        "gone_transaction.html",
        503 if failure is not None and gone.fate is Fate.UNKNOWN else 404,
        hash=to_hex(transaction_hash),
        sender=to_hex(sender),
        nonce=nonce,
        gone=gone,
        names=names_of((), to_hex(sender)),
    )


def _pending_tab(key: bytes) -> tuple[None, Mapping[str, Any]]:
    """Return the values of address_pending.html."""
    query_arguments("tab")
    listed = pending_transactions.sender_transactions(reader(), key)
    decoding.add_methods(reader(), listed.records)
    return None, {"pending": listed, "names": names_of(listed.records, to_hex(key))}


def sends_transactions(head: Mapping[str, Any]) -> bool:
    """Return whether an address can send transactions, which a contract can only by EIP-7702."""
    account = head["account"]
    return not account.balance.is_contract or "delegate" in account.more


pending_tab = hooks.AddressTab(
    "pending", "Pending", 58, sends_transactions, template="address_pending.html", read=_pending_tab
)
HOOKS = (
    Api(blueprints=(blueprint,)),
    hooks.Pages(tabs=(pending_tab,), page_of_missing=page_of_missing),
)
