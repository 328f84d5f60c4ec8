"""Fields of transactions that the index lacks, read from the node for one page at a time.

That is the input, of which no more than four bytes are stored; the others where a row is older than
their columns, until `scan backfill fields` has filled it; and the status of a receipt where the row
leaves open whether it has one.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from scan.errors import UpstreamFailed
from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.ethereum.sized_cache import SizedCache
from scan.hex import BadHex, data, quantity, to_hex

TIMEOUT_S = 8.0
CACHE_BYTES = 64 * 1024 * 1024
ENTRY_BYTES = 760  # of a cached transaction without its input, measured
WHOLE_BLOCK_FROM = 20  # a block is read whole where so many of its transactions are needed


class NeededTransaction(NamedTuple):
    """A transaction in its block, both by their hashes in hex, and what is needed of it."""

    hash: str
    block_hash: str
    block_number: int
    is_needed_whole: bool  # not its input alone


class OtherFields(NamedTuple):
    """`receipt_status` is None before Byzantium."""

    nonce: int
    gas: int
    cumulative_gas_used: int
    receipt_status: int | None


class TransactionFields(NamedTuple):
    """`input` is hex; `others` is None where they were not needed."""

    input: str
    others: OtherFields | None


_Found = dict[str, TransactionFields]  # by hash


class TransactionFieldsReader:
    """Reads in batches, in bounded time; what was read stays true of its block's hash."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._cache: SizedCache[TransactionFields] = SizedCache(CACHE_BYTES)

    def cached(self, places: Iterable[NeededTransaction]) -> _Found:
        """Those that were read before."""
        found = ((place.hash, self._cache.get(place)) for place in places)
        return {transaction_hash: fields for transaction_hash, fields in found if fields}

    def read(self, places: Iterable[NeededTransaction]) -> _Found:
        """Raises UpstreamFailed, also where the node has another block there.

        What a read gets before its time is over is there for the next one.
        """
        places = list(dict.fromkeys(places))
        found = self.cached(places)
        try:
            return found | self._ask([place for place in places if place.hash not in found])
        except NodeError as error:
            reason = str(error)
        except (BadHex, KeyError, TypeError, AttributeError) as error:
            reason = f"it gave something else than a transaction ({error})"
        raise UpstreamFailed(
            f"The node did not give all transactions of this page: {reason}. Try again, or ask for"
            " smaller pages."
        )

    def _ask(self, missing: Sequence[NeededTransaction]) -> _Found:
        ends_at = time.monotonic() + TIMEOUT_S
        blocks = defaultdict(list)
        for place in missing:
            blocks[place.block_number].append(place)
        found: _Found = {}
        for number, places in blocks.items():
            if len(places) >= WHOLE_BLOCK_FROM:
                found |= self._ask_block(number, places, ends_at)
        return found | self._ask_each([p for p in missing if p.hash not in found], ends_at)

    def _ask_block(
        self, number: int, places: Sequence[NeededTransaction], ends_at: float
    ) -> _Found:
        """Nothing where the node does not give the block, or its receipts, as a whole."""
        calls = [Call("eth_getBlockByNumber", (hex(number), True))]
        if any(place.is_needed_whole for place in places):
            calls.append(Call("eth_getBlockReceipts", (hex(number),)))
        block, *receipts = self._node.batch(calls, _left_s(ends_at))
        if not isinstance(block, dict) or not all(isinstance(each, list) for each in receipts):
            return {}
        transactions = {each["hash"]: each for each in block["transactions"]}
        by_hash = {each["transactionHash"]: each for found in receipts for each in found}
        return {
            place.hash: self._keep(place, transactions[place.hash], by_hash.get(place.hash))
            for place in places
            if place.hash in transactions
        }

    def _ask_each(self, places: Sequence[NeededTransaction], ends_at: float) -> _Found:
        calls = []
        for place in places:
            calls.append(Call("eth_getTransactionByHash", (place.hash,)))
            if place.is_needed_whole:
                calls.append(Call("eth_getTransactionReceipt", (place.hash,)))
        results = self._node.results(calls, _left_s(ends_at))
        return {
            place.hash: self._keep(
                place, next(results), next(results) if place.is_needed_whole else None
            )
            for place in places
        }

    def _keep(self, place: NeededTransaction, transaction: Any, receipt: Any) -> TransactionFields:
        _check(place, transaction, "hash")
        others = None
        if place.is_needed_whole:
            _check(place, receipt, "transactionHash")
            others = _others(transaction, receipt)
        fields = TransactionFields(to_hex(data(transaction["input"])), others)
        self._cache.store(place, fields, ENTRY_BYTES + len(fields.input))
        return fields


def _left_s(ends_at: float) -> float:
    left_s = ends_at - time.monotonic()
    if left_s <= 0:
        raise NodeError("it takes too long")
    return left_s


def _check(place: NeededTransaction, answer: Any, hash_name: str) -> None:
    """Raises NodeError where this is not of the transaction in its block."""
    if isinstance(answer, RpcError):
        raise NodeError("it refused one")
    if answer is None:
        raise NodeError("it does not have one")
    if (answer[hash_name], answer["blockHash"]) != (place.hash, place.block_hash):
        raise NodeError("it has another block there")


def _others(transaction: Any, receipt: Any) -> OtherFields:
    status = receipt.get("status")
    return OtherFields(
        quantity(transaction["nonce"]),
        quantity(transaction["gas"]),
        quantity(receipt["cumulativeGasUsed"]),
        None if status is None else quantity(status),
    )
