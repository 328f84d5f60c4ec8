"""What proves parts of forms that this version of Scan does not know: parts of blocks as consensus
encodes them, of a node with the debug namespace, and the schedule of blobs (EIP-7910).
"""

from contextlib import suppress
from typing import Any

from scan.ethereum.client import MAX_ANSWER_BYTES, Node, NodeError, RpcError
from scan.ethereum.rlp import item_content, split_list
from scan.hex import BadHex, data

MOST_TRANSACTIONS = 100_000
_HEADER, _TRANSACTIONS = 0, 1  # items of a block


class NoBytes:
    """The bytes of a block's parts, of a node that has none."""

    def header(self) -> bytes | None:
        return None

    def transaction(self, index: int, hash_: str) -> bytes | None:
        return None

    def receipts(self) -> list[bytes] | None:
        return None

    def blob_fraction(self, timestamp_s: int) -> int | None:
        """Return the update fraction of the price of blobs at this time, as the node has it."""
        return None


class RawBlocks:
    """Reads bytes from a node, and remembers which methods it does not offer."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._missing: set[str] = set()

    def block(self, number: int) -> "RawBlock":
        return RawBlock(self, number)

    def read(self, method: str, *parameters: str) -> Any:
        """Return the method's result, None where the node has none, or fails: the block is checked
        without it, and a block that is refused is read again."""
        if method in self._missing:
            return None
        try:
            return self._node.call(method, *parameters, most_bytes=MAX_ANSWER_BYTES)
        except RpcError as error:
            if error.is_missing_method:
                self._missing.add(method)
            return None
        except NodeError:
            return None


class RawBlock(NoBytes):
    """The bytes of a block's parts, each read when it is first needed. Answers that are no DATA are
    None: they prove nothing."""

    def __init__(self, node: RawBlocks, number: int) -> None:
        self._node = node
        self._number = hex(number)
        self._items: list[bytes] | None = None

    def header(self) -> bytes | None:
        return self._read("debug_getRawHeader", self._number) or self._item(_HEADER)

    def transaction(self, index: int, hash_: str) -> bytes | None:
        encoded = self._read("debug_getRawTransaction", hash_)
        if encoded is None and (items := self._item(_TRANSACTIONS)) is not None:
            listed = split_list(items, MOST_TRANSACTIONS)
            encoded = item_content(listed[index]) if index < len(listed) else None
        return encoded

    def receipts(self) -> list[bytes] | None:
        results = self._node.read("debug_getRawReceipts", self._number)
        try:
            return [data(result) for result in results] if isinstance(results, list) else None
        except BadHex:
            return None

    def blob_fraction(self, timestamp_s: int) -> int | None:
        forks = self._node.read("eth_config")
        with suppress(KeyError, TypeError, AttributeError, ValueError):
            begun = [
                (int(fork["activationTime"]), int(fork["blobSchedule"]["baseFeeUpdateFraction"]))
                for fork in (forks["current"], forks["next"], forks["last"])
                if fork is not None and int(fork["activationTime"]) <= timestamp_s
            ]
            return max(begun)[1]
        return None

    def _item(self, position: int) -> bytes | None:
        if self._items is None:
            encoded = self._read("debug_getRawBlock", self._number)
            self._items = split_list(encoded, 16) if encoded else []
        return self._items[position] if position < len(self._items) else None

    def _read(self, method: str, parameter: str) -> bytes | None:
        result = self._node.read(method, parameter)
        try:
            return None if result is None else data(result)
        except BadHex:
            return None
