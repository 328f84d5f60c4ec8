"""The messages of a transaction and of an address, on their pages."""

from scan.pages.hooks import AddressTab, Pages, Shown, TransactionSection
from scan.pages.records import Record
from scan.pages.tabs import list_of_address


def transaction_head(transaction: Record) -> Shown:
    """Name the messages of a transaction, whose senders its section shows."""
    return Shown({}, records=transaction.get("messagesToL1", ()))


HOOKS = Pages(
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
