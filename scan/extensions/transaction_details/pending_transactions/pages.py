"""The page of a transaction that is not indexed, as the node has it or what became of it; and the
tab of an address with its pending transactions."""

from collections.abc import Mapping
from typing import Any

from flask import Response, request

from scan import hooks, parameters
from scan.extensions.transaction_details import method_names
from scan.extensions.transaction_details.clear_signing import ClearSigning
from scan.extensions.transaction_details.pending_transactions import queries as pending_transactions
from scan.extensions.transaction_details.pending_transactions.node_transaction import MAX_UINT64
from scan.hex import to_hex
from scan.http.requests import query_arguments, reader
from scan.pages import transaction_tabs
from scan.pages.argument_values import addresses_in
from scan.pages.records import address_of, names_of
from scan.pages.site import page
from scan.pages.tabs import AddressTab


def page_of_missing(transaction_hash: bytes) -> Response | None:
    """Return the page; None where the node does not know the transaction either, and the request
    does not name its sender and nonce, as links on the page of a pending one do."""
    pending = pending_transactions.get(reader(), transaction_hash)
    if pending is None:
        return _page_of_gone(transaction_hash) if "nonce" in request.args else None
    sent, method, replaced_by = pending
    parties = [address for address in (sent.from_address, sent.to_address) if address is not None]
    return page(
        "pending_transaction.html",
        tab=transaction_tabs.requested(),
        hash=to_hex(transaction_hash),
        sent=sent,
        method=method,
        replaced_by=replaced_by,
        may_describe=reader().sources.get(ClearSigning).may_describe(reader()),
        names=names_of((), *map(to_hex, parties), *addresses_in(method)),
    )


def _page_of_gone(transaction_hash: bytes) -> Response:
    sender = address_of(request.args.get("from", ""))
    nonce = parameters.integer_text(request.args, "nonce", default=0, least=0, most=MAX_UINT64)
    return page(
        "gone_transaction.html",
        404,
        hash=to_hex(transaction_hash),
        sender=to_hex(sender),
        nonce=nonce,
        gone=pending_transactions.gone(reader(), sender, nonce),
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


HOOKS = hooks.Pages(
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
