"""The selection of a block's logs that are stored, or extracted for webhooks."""

import json
from pathlib import Path
from typing import NamedTuple

from eth_hash.auto import keccak

from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.ethereum.blocks import EventLog


class LogSelection(NamedTuple):
    """The stored logs, in the words of SCAN_LOGS, and the watched emitters. With "standard", logs
    are stored whose first topic is in `topics`."""

    stored: str
    topics: frozenset[bytes]
    watched: frozenset[bytes]  # emitters that webhooks watch

    def stores(self, log: EventLog) -> bool:
        if self.stored == "standard":
            return bool(log.topics) and log.topics[0] in self.topics
        return self.stored == "all"


NO_LOGS = LogSelection("none", frozenset(), frozenset())


def read_stored(database: Database | Transaction) -> LogSelection:
    """Return the selection of this database, which is fixed with its first block."""
    row = database.row("indexer/chain_get")
    stored = row[3] if row else "none"
    topics = database.rows("indexer/event_topics_list") if stored == "standard" else []
    return NO_LOGS._replace(stored=stored, topics=frozenset(bytes(topic) for (topic,) in topics))


def with_watched(selection: LogSelection, database: Database) -> LogSelection:
    """Return the selection with the emitters that webhooks watch now.

    The caller reads the node's head before and the blocks up to it after this call, so that a
    webhook gets the logs of every block that is mined after its registration.
    """
    rows = database.prepared_rows("indexer/webhooks_list_log_addresses")
    return selection._replace(watched=frozenset(bytes(address) for (address,) in rows))


def lacks_watched(selection: LogSelection, database: Database) -> bool:
    """Return whether webhooks watch emitters by now that the selection does not have."""
    return not with_watched(selection, database).watched <= selection.watched


def load_standard_topics() -> list[bytes]:
    """Return the first topics of the events in standard_events.json."""
    text = Path(__file__).with_name("standard_events.json").read_text(encoding="utf-8")
    return [
        keccak(signature.encode()) for group in json.loads(text).values() for signature in group
    ]
