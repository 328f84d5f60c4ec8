"""The decoded input and events of a transaction, in its record and on its page, with what other
extensions explain of it; methods in lists. ABIs live as long as the process."""

from collections.abc import Mapping
from typing import Any

from scan import registry
from scan.api.hooks import Api
from scan.extensions.decoding import decoding
from scan.extensions.decoding.contract_abis import ContractAbis
from scan.extensions.decoding.details import ALL_LOGS, LogWindow, details
from scan.extensions.decoding.hooks import Explanation
from scan.hex import to_hex
from scan.http.current_request import reader
from scan.http.hooks import Service
from scan.pages import hooks
from scan.pages.records import Record, addresses_in

MAX_LOGS = 100
TEMPLATES = {
    "transaction_call": "transaction_call.html",
    "transaction_end": "transaction_input.html",
}


def transaction_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the node's details, decoded, and what explains them."""
    of_node = details(reader(), record, ALL_LOGS)
    explained = registry.merged(p.fields(record, of_node) for p in registry.parts(Explanation))
    unproven = [*of_node.unproven, *explained.get("unproven", ())]
    return of_node.record() | explained | {"unproven": unproven}


def transaction_head(transaction: Record) -> hooks.Shown:
    """Return the details, and what explains them."""
    of_node = details(reader(), transaction, LogWindow(most=MAX_LOGS))
    logs = None if of_node.logs is None else of_node.decoded_logs
    values: dict[str, Any] = {"details": of_node, "logs": logs}
    addresses = [*addresses_in(of_node.method)]
    for log, event in logs or ():
        addresses += [to_hex(log.address), *addresses_in(event)]
    for explanation in registry.parts(Explanation):
        shown = explanation.head(transaction, of_node)
        values |= shown.values
        addresses += shown.addresses
    lengths = {} if of_node.log_count is None else {"events": of_node.log_count}
    return hooks.Shown(values, addresses, lengths)


HOOKS = (
    Api(transaction_fields=transaction_fields),
    Service(make=lambda core: ContractAbis(core.reads)),
    hooks.Pages(
        sections=(hooks.TransactionSection(TEMPLATES, transaction_head),),
        tabs=(hooks.TransactionTab("events", "Events", opens=True),),
        add_to_transactions=decoding.add_methods,
        add_to_transfers=decoding.add_calls,
    ),
)
