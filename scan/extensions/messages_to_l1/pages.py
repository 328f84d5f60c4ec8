"""The messages of a transaction and of an address, on their pages."""

from collections.abc import Sequence

from scan.pages.records import Record
from scan.pages.tabs import Tab, list_of_address

SECTIONS = {"transaction_events": "transaction_messages.html"}


def transaction_records(transaction: Record) -> Sequence[Record]:
    """Return the messages of a transaction, whose senders are named."""
    messages: Sequence[Record] = transaction.get("messagesToL1", ())
    return messages


ADDRESS_TABS = (
    Tab(
        *("messages", "Messages to L1", 90),
        template="address_messages.html",
        read=list_of_address(
            *("messages_to_l1", "sender", "/messages-to-l1?sender={address}"), "messages"
        ),
        list="messages_to_l1_by_sender",
    ),
)
