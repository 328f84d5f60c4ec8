"""Logs as Blockscout shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from scan.contracts.abi_decoding import Decoded
from scan.ethereum.blocks import MAX_TOPICS
from scan.extensions.blockscout.address_objects import AddressObjects
from scan.extensions.blockscout.decoded_objects import event_object
from scan.extensions.blockscout.lists import Record
from scan.extensions.blockscout.objects import renamed
from scan.hex import data

NO_TOPICS = (None,) * MAX_TOPICS


def log_objects(
    records: Sequence[Record],
    events: Sequence[Decoded | None],
    block_hashes: Mapping[str, str],
    recipients: Mapping[str, str | None] = {},
) -> list[dict[str, Any]]:
    """Return the objects of logs; `block_hashes`, and `recipients` of the transactions where they
    are shown, are by the hash of the transaction."""
    emitters = [record["address"] for record in records]
    objects = AddressObjects([*emitters, *recipients.values()])
    return [
        {
            **renamed("log", record, address=objects.of_optional),
            "smart_contract": objects.of_optional(recipients.get(record["transactionHash"])),
            "topics": [*record["topics"], *NO_TOPICS][:MAX_TOPICS],
            "decoded": event_object(event, data(record["topics"][0]) if record["topics"] else b""),
            "block_hash": block_hashes[record["transactionHash"]],
        }
        for record, event in zip(records, events, strict=True)
    ]
