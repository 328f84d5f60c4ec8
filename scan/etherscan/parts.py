"""What lives as long as the process: what reads from the node, and what it remembers."""

from collections.abc import Mapping
from typing import NamedTuple, cast

from flask import current_app

from scan.ethereum.sized_cache import SizedCache
from scan.ethereum.transaction_fields import TransactionFieldsReader
from scan.http.services import Services
from scan.rate_limits.concurrency import ConcurrencyLimit

NODE_CALLS_AT_ONCE = 4
NAMES_BYTES = 16 * 1024 * 1024


class Parts(NamedTuple):
    fields: TransactionFieldsReader
    node_calls: ConcurrencyLimit
    names: SizedCache[Mapping[str, str]]  # of functions, by verification
    chain_ids: list[str]  # the chain's id, once it is known


def parts_of(served: Services) -> Parts:
    return Parts(
        TransactionFieldsReader(served.sources.node),
        ConcurrencyLimit(
            NODE_CALLS_AT_ONCE, busy="Too many requests wait for the node; try again shortly."
        ),
        SizedCache(NAMES_BYTES),
        [],
    )


def parts() -> Parts:
    return cast(Parts, current_app.extensions["scan.etherscan"])
