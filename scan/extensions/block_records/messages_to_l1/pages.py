"""The messages of a transaction and of an address, on their pages."""

from scan import hooks
from scan.pages.records import Record
from scan.pages.tabs import Tab, list_of_address
from scan.pages.transaction_tabs import Shown


def transaction_head(transaction: Record) -> Shown:
    """Name the messages of a transaction, whose senders its section shows."""
    return Shown({}, records=transaction.get("messagesToL1", ()))


HOOKS = hooks.Pages(
    transaction_head=transaction_head,
    sections={"transaction_events": "transaction_messages.html"},
    address_tabs=(
        Tab(
            *("messages", "Messages to L1", 90),
            template="address_messages.html",
            read=list_of_address(
                *("messages_to_l1", "sender", "/messages-to-l1?sender={address}"), "messages"
            ),
            list="messages_to_l1_by_sender",
        ),
    ),
)
