"""Tokens that are older than an index that begins late, as SCAN_START_BLOCK says.

What their holders had before its first block is in no row, so balances by events alone are changes
since then: too small, or negative. `balances_since` of the Reader becomes a header of the response,
also in forms whose records have no field for it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from scan.queries.reader import Reader

MOST_READ = 100  # of one page; further balances are marked

Record = dict[str, Any]


class _Older(NamedTuple):
    tokens: frozenset[bytes]
    head_number: int | None
    head_hash: bytes | None


def mark_tokens(reader: Reader, records: Sequence[Record]) -> None:
    """Set `balancesSince` of the records of such tokens: the block that the holders are known
    from. Nobody knows whether the events of such a token add up."""
    older = _older(reader, [_bytes(record["address"]) for record in records])
    for record in records:
        if _bytes(record["address"]) in older.tokens:
            record["balancesSince"] = reader.balances_since = reader.first_block
            if "eventsConsistent" in record:
                record["eventsConsistent"] = True


def correct_balances(
    reader: Reader, records: Sequence[Record], token: str = "", holder: str = ""
) -> None:
    """Set the balances of such tokens to those that balanceOf() has at the head, in one batch.

    A record is of `token`, or names its own; of `holder`, or of its own `address`. One whose
    balance the token or the node does not give gets `balanceSince`, the block that it is known
    from.
    """
    pairs = [
        (_bytes(token or record["tokenAddress"]), _bytes(holder or record["address"]))
        for record in records
    ]
    older = _older(reader, [token for token, _ in pairs])
    of_older = [pair for pair in pairs if pair[0] in older.tokens]
    balances: dict[tuple[bytes, bytes], int] = {}
    if of_older and not reader.has_node_failed and older.head_number is not None:
        assert older.head_hash is not None
        balances = reader.sources.account_states.token_balances_at(
            reader.node, of_older[:MOST_READ], older.head_number, older.head_hash
        )
    for record, pair in zip(records, pairs, strict=True):
        if pair in balances:
            record["balance"] = str(balances[pair])
        elif pair[0] in older.tokens:
            record["balanceSince"] = reader.balances_since = reader.first_block


def mark_items(reader: Reader, records: str, token: str = "") -> str:
    """Return the records of balances of items as JSON text, with `balanceSince` those of such
    tokens whose items have several holders; of `token`, or of their own. The owner of other items
    is the last recipient."""
    if not reader.first_block:
        return records
    held = orjson.loads(records)
    older = _older(reader, [_bytes(token or record["tokenAddress"]) for record in held]).tokens
    for record in held:
        is_sum = record.get("type", "BEP1155") == "BEP1155"
        if is_sum and _bytes(token or record["tokenAddress"]) in older:
            record["balanceSince"] = reader.balances_since = reader.first_block
    return orjson.dumps(held).decode()


def _older(reader: Reader, tokens: Sequence[bytes]) -> _Older:
    if not tokens:
        return _Older(frozenset(), None, None)
    older, number, hash_ = reader.row("queries/tokens_list_older", tokens=[*set(tokens)])
    return _Older(frozenset(map(bytes, older)), number, None if hash_ is None else bytes(hash_))


def _bytes(address: str) -> bytes:
    return bytes.fromhex(address[2:])
