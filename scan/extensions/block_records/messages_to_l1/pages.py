"""The messages of a transaction and of an address, on their pages."""

from scan import hooks
from scan.pages.records import Record
from scan.pages.sections import Shown, TransactionSection
from scan.pages.tabs import AddressTab, list_of_address


def transaction_head(transaction: Record) -> Shown:
    """Name the messages of a transaction, whose senders its section shows."""
    return Shown({}, records=transaction.get("messagesToL1", ()))


HOOKS = hooks.Pages(
    sections=(
        TransactionSection({"transaction_events": "transaction_messages.html"}, transaction_head),
    ),
    tabs=(
        AddressTab(
            "messages",
            "Messages to L1",
            90,
            template="address_messages.html",
            read=list_of_address(
                "messages_to_l1", "sender", "/messages-to-l1?sender={address}", tab="messages"
            ),
            list="messages_to_l1_by_sender",
        ),
    ),
)
