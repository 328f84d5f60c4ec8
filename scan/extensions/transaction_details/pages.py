"""The call, the input and the events on a transaction's page, and the methods in lists."""

from collections.abc import Iterable, Iterator, Sequence

from scan.contracts.abi_decoding import Decoded
from scan.extensions.transaction_details import method_names
from scan.extensions.transaction_details.details import DecodedLog, LogWindow
from scan.extensions.transaction_details.explanations import transaction_explanation
from scan.extensions.transaction_details.queries import details
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.argument_values import addresses_in
from scan.pages.hooks import Pages, Shown, TransactionSection, TransactionTab
from scan.pages.records import Record

MAX_LOGS = 100
TEMPLATES = {
    "transaction_call": "transaction_call.html",
    "transaction_end": "transaction_input.html",
}


def add_to_transactions(records: Iterable[Record]) -> None:
    method_names.add_methods(reader(), records)


def transaction_head(transaction: Record) -> Shown:
    """Return the details, and what explains them."""
    of_node = details(reader(), transaction, LogWindow(most=MAX_LOGS))
    logs = None if of_node.logs is None else of_node.decoded_logs
    explanation = transaction_explanation.head(transaction, of_node)
    return Shown(
        {"details": of_node, "logs": logs, **explanation.values},
        [*_addresses(of_node.method, logs), *explanation.addresses],
        {} if of_node.log_count is None else {"events": of_node.log_count},
    )


def _addresses(method: Decoded | None, logs: Sequence[DecodedLog] | None) -> Iterator[str]:
    """Yield the addresses in calls and logs that the page shows by their names."""
    for log, event in logs or ():
        yield to_hex(log.address)
        yield from addresses_in(event)
    yield from addresses_in(method)


HOOKS = Pages(
    sections=(TransactionSection(TEMPLATES, transaction_head),),
    tabs=(TransactionTab("events", "Events", opens=True),),
    add_to_transactions=add_to_transactions,
)
