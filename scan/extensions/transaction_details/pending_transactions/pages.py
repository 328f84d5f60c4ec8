"""The page of a transaction that is not indexed, as the node has it or what became of it; and the
tab of an address with its pending transactions."""

from collections.abc import Mapping
from typing import Any

from flask import Response, request

from scan import parameters
from scan.errors import Unavailable, UpstreamFailed
from scan.extensions.transaction_details import method_names
from scan.extensions.transaction_details.clear_signing import ClearSigning
from scan.extensions.transaction_details.pending_transactions import queries as pending_transactions
from scan.extensions.transaction_details.pending_transactions.node_transaction import MAX_UINT64
from scan.extensions.transaction_details.pending_transactions.queries import Fate
from scan.hex import to_hex
from scan.http.requests import query_arguments, reader
from scan.pages import transaction_tabs
from scan.pages.argument_values import addresses_in
from scan.pages.hooks import AddressTab, Pages
from scan.pages.records import address_of, names_of
from scan.pages.site import page


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
        tab=transaction_tabs.requested(),
        hash=to_hex(transaction_hash),
        sent=sent,
        method=method,
        replaced_by=replaced_by,
        missing_nonce=missing_nonce,
        may_describe=reader().sources.get(ClearSigning).may_describe(reader()),
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
    listed = pending_transactions.of_sender(reader(), key)
    method_names.add_methods(reader(), listed.records)
    return None, {"pending": listed, "names": names_of(listed.records, to_hex(key))}


def sends_transactions(head: Mapping[str, Any]) -> bool:
    """Return whether an address can send transactions, which a contract can only by EIP-7702."""
    account = head["account"]
    return not account.balance.is_contract or "delegate" in account.more


HOOKS = Pages(
    page_of_missing=page_of_missing,
    tabs=(
        AddressTab(
            "pending",
            "Pending",
            58,
            is_linked=sends_transactions,
            template="address_pending.html",
            read=_pending_tab,
        ),
    ),
)
