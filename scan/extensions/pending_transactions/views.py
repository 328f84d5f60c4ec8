"""A sender's pending transactions, in the API and as a tab of its page; a transaction that is not
indexed, as the node has it or what became of it, in the API and as a page."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from flask import Blueprint, Response, request

from scan import parameters
from scan.api.hooks import Api
from scan.errors import NotFound, Unavailable, UpstreamFailed
from scan.extensions.decoding import decoding
from scan.extensions.pending_transactions import queries as pending_transactions
from scan.extensions.pending_transactions.queries import (
    MAX_UINT64,
    SenderAndNonce,
    State,
    Unindexed,
)
from scan.hex import to_hex
from scan.http import json_responses
from scan.http.current_request import query_arguments, reader
from scan.http.prerequisites import Prerequisite, requires
from scan.pages import hooks, tabs
from scan.pages.records import address_of, addresses_in, names_of
from scan.pages.site import page
from scan.queries import blocks, transactions

blueprint = Blueprint("pending_transactions", __name__)


@blueprint.get("/addresses/<address>/pending-transactions")
@requires(Prerequisite.NODE)
def list_pending(address: str) -> json_responses.Response:
    query_arguments()
    sender = parameters.address(address)
    listed = pending_transactions.sender_transactions(reader(), sender)
    value = {"pendingTransactions": listed.records, "total": listed.total, "reason": listed.reason}
    return json_responses.json_value({**value, "unproven": ("pendingTransactions", "total")})


@blueprint.get("/transactions/<transaction_hash>/pending")
@requires(Prerequisite.NODE)
def get_pending(transaction_hash: str) -> json_responses.Response:
    query_arguments()
    key = parameters.hash32(transaction_hash)
    if transactions.get(reader(), key) is not None:
        indexed = Unindexed(State.MINED, reason="It is indexed.")
        return json_responses.json_value(indexed.record())
    known = reader().indexed(
        pending_transactions.get(reader(), key),
        "This transaction is not indexed, and the node does not have it.",
    )
    return json_responses.json_value(known.record())


def unmined_transaction(key: bytes) -> Mapping[str, Any] | None:
    """Return the record of a transaction that the node has and the index has not; None where nobody
    knows it. Raises NotFound where the node does not say, or with what became of it."""
    try:
        known = pending_transactions.get(reader(), key)
    except (UpstreamFailed, Unavailable) as error:
        if error.status == HTTPStatus.TOO_MANY_REQUESTS:  # by the client's own haste
            raise
        what = "This transaction is not indexed, and whether it is pending is not known:"
        raise reader().not_indexed(f"{what} {error.message}") from None
    if known is None:
        return None
    if known.sent is not None:
        # What the node reports in an indexed block is older than the index, or not kept.
        number = known.sent.block_number
        is_old = number is not None and number <= (blocks.newest_number(reader()) or 0)
        return None if is_old else known.as_transaction()
    by = f" by {known.replaced_by}" if known.replaced_by else ""
    raise NotFound(
        f"This transaction is not indexed. It was pending; now: {known.state}{by}."
        f" GET /api/v1/transactions/{to_hex(key)}/pending has more."
    )


def page_of_missing(transaction_hash: bytes) -> Response | None:
    """Return the page; None where neither the node nor this process knows the transaction, and the
    request does not name its sender and nonce, as links on the page of a pending one do. Raises
    UpstreamFailed or Unavailable of such a one where the node does not say."""
    named = None
    if "nonce" in request.args:
        nonce = parameters.integer_text(request.args, "nonce", default=0, least=0, most=MAX_UINT64)
        named = SenderAndNonce(address_of(request.args.get("from", "")), nonce)
    known = pending_transactions.get(reader(), transaction_hash, named)
    if known is None:
        return None
    if known.gone is not None:
        return page(
            "gone_transaction.html",
            503 if known.has_failed else 404,
            hash=to_hex(transaction_hash),
            gone=known,
            names=names_of((), to_hex(known.gone.sender)),
        )
    sent = known.sent
    assert sent is not None
    method = pending_transactions.method_of(reader(), sent)
    parties = [address for address in (sent.from_address, sent.to_address) if address is not None]
    return page(
        "pending_transaction.html",
        tab=tabs.requested(tabs.tabs()),
        hash=to_hex(transaction_hash),
        known=known,
        sent=sent,
        method=method,
        names=names_of((), *map(to_hex, parties), *addresses_in(method)),
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
    Api(
        blueprints=(blueprint,),
        unmined_transaction=unmined_transaction,
        advice_on_missing_transaction=(
            "GET /api/v1/transactions/:hash/pending says whether it waits or was replaced."
        ),
    ),
    hooks.Pages(tabs=(pending_tab,), page_of_missing=page_of_missing),
)
