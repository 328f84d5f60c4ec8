"""The messages of a transaction and of an address, on their pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from scan.hex import to_hex
from scan.pages.filtered_lists import FilteredList, entity_list
from scan.pages.records import Record, names_of
from scan.pages.tabs import Tab

SECTIONS = {"transaction_events": "transaction_messages.html"}


def transaction_records(transaction: Record) -> Sequence[Record]:
    """Return the messages of a transaction, whose senders are named."""
    messages: Sequence[Record] = transaction.get("messagesToL1", ())
    return messages


def messages_of(key: bytes) -> tuple[FilteredList, Mapping[str, Any]]:
    own = to_hex(key)
    shown = entity_list(
        *("messages_to_l1", f"/address/{own}", f"/messages-to-l1?sender={own}"),
        tab="messages",
        fixed={"sender": own},
    )
    return shown, {"names": names_of(shown.records, own)}


ADDRESS_TABS = (
    Tab(
        *("messages", "Messages to L1", 90),
        template="address_messages.html",
        read=messages_of,
        list="messages_to_l1_by_sender",
    ),
)
