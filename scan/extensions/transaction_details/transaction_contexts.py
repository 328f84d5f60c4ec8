"""Values that lists of transactions and of their transfers show beside the records."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import orjson

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.transaction_reader import Content, TransactionUnavailable
from scan.hex import data
from scan.queries.reader import Reader
from scan.queries.transactions import indexed

Record = dict[str, Any]


def contexts(reader: Reader, hashes: Iterable[str]) -> dict[str, Record]:
    """Return the places, called functions and base fees of transactions, by hash.

    Raises Unavailable where a transaction is missing, since a reorganisation has removed it.
    """
    distinct = [*dict.fromkeys(hashes)]
    if not distinct:
        return {}
    keys = [data(transaction_hash) for transaction_hash in distinct]
    (rows,) = reader.row("queries/transactions_list_contexts", hashes=keys)
    known = cast("dict[str, Record]", orjson.loads(rows))
    if len(known) < len(distinct):
        raise Unavailable("The chain is being reorganised.", retry_after_s=1)
    return known


def inputs(reader: Reader, records: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """Return the inputs of transactions by hash, from the node; none where it does not answer."""
    keys = [indexed(record) for record in records]
    try:
        read = reader.sources.node_transactions.read(
            reader.node, [(key, Content.INPUT) for key in keys]
        )
    except (TransactionUnavailable, UpstreamFailed, Unavailable):
        reader.do_not_cache()
        return {}
    return {key.hash: read[key.hash].input for key in keys}
