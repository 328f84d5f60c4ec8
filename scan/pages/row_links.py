"""Links that name a row of a list by its id: the page begins at it, wherever it has moved."""

import json
import re

from scan.errors import InvalidParameter
from scan.http.requests import reader
from scan.queries import transactions
from scan.queries.ordinals import ordinal_at, position_before

# Lists whose rows have such ids, by what these begin with (row_id() of tables.html).
ENTITIES = {
    "tx": "transactions",
    "transfer": "token_transfers",
    "trade": "dex_trades",
    "internal": "internal_transfers",
}
# How many numbers follow: that of a log or an internal transfer, and that in a batch.
_NUMBERS = {"tx": (0,), "transfer": (1, 2), "trade": (1,), "internal": (1,)}
_ID = re.compile(r"([a-z]+)(?:-([0-9]{1,9}))?(?:-([0-9]{1,9}))?-([0-9a-f]{64})", re.ASCII)


def position_of(row: str, entity: str, direction: str) -> tuple[int]:
    """Return the position in an entity's lists after which the row with this id comes first.

    Raises InvalidParameter for another list's id, and NotFound where its transaction is not
    indexed."""
    parsed = _ID.fullmatch(row)
    kind, index, batch_index, transaction_hash = parsed.groups() if parsed else ("",) * 4
    numbers = [number for number in (index, batch_index) if number is not None]
    if ENTITIES.get(kind) != entity or len(numbers) not in _NUMBERS[kind]:
        raise InvalidParameter("row must be the id of a row of this list.", field="row")
    text = transactions.get(reader(), bytes.fromhex(transaction_hash))
    if text is None:
        raise reader().not_indexed("The transaction of this row is not indexed.")
    record = json.loads(text)
    ordinal = ordinal_at(
        reader(),
        entity,
        record["blockNumber"],
        record["transactionIndex"] if index is None else int(index),
        transaction_index=record["transactionIndex"],
        batch_index=int(batch_index or 0),
    )
    return position_before(ordinal, direction)
