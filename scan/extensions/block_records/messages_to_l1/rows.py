"""Messages to L1, by the event of a rollup's own contract. Pure.

Only L1 knows whether a message was proven or executed: here it is initiated.
"""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError

from scan.ethereum.blocks import DecodedBlock, EventLog
from scan.ethereum.column_types import (
    ADDRESS,
    BIGINT,
    BYTES,
    COMPUTED,
    HASH,
    INTEGER,
    PROVEN,
    UINT256,
    Column,
)
from scan.ethereum.forms.form import PLACE_BITS
from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.sparse_tables import SparseTable
from scan.hex import data
from scan.indexer.hooks import Rows

MAX_DATA_BYTES = 16_384  # stored of a message; longer data is in the transaction's log alone
_NO_FIELD = "_"


class MessageToL1(NamedTuple):
    """A message that a rollup passes on to L1; a row of the table messages_to_l1. Fields that the
    chain's event does not have are None."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    transaction_index: Annotated[int, Column(INTEGER, PROVEN)]
    log_index: Annotated[int, Column(INTEGER, PROVEN)]
    hash: Annotated[bytes, Column(HASH, PROVEN)]
    nonce: Annotated[int | None, Column(UINT256, PROVEN)]
    sender: Annotated[bytes, Column(ADDRESS, PROVEN)]
    target: Annotated[bytes | None, Column(ADDRESS, PROVEN)]  # on L1
    value: Annotated[int | None, Column(UINT256, PROVEN)]
    gas_limit: Annotated[int | None, Column(UINT256, PROVEN)]  # on L1
    data: Annotated[bytes | None, Column(BYTES, PROVEN)]  # None: longer than MAX_DATA_BYTES
    data_size: Annotated[int, Column(INTEGER, COMPUTED)]


class _Field(NamedTuple):
    name: str  # of MessageToL1; _NO_FIELD: not kept
    type: str


class MessageEvent:
    """The event by which a chain's own contract announces messages. The parameters in its signature
    have the names of MessageToL1's fields."""

    def __init__(self, emitter: str, signature: str) -> None:
        self.emitter = data(emitter, 20)
        name, _, parameters = signature.partition("(")
        words = [parameter.split() for parameter in parameters.rstrip(")").split(",")]
        self._topic = keccak256(f"{name}({','.join(type_ for type_, *_ in words)})".encode())
        self._indexed = [_Field(w[-1], w[0]) for w in words if "indexed" in w]
        self._unindexed = [_Field(w[-1], w[0]) for w in words if "indexed" not in w]

    def messages(self, block_number: int, logs: Sequence[EventLog]) -> tuple[MessageToL1, ...]:
        """Return the messages in a block's logs. The same event of another contract is none."""
        messages: list[MessageToL1] = []
        first = block_number << PLACE_BITS
        for log in logs:
            fields = self._fields(log) if log.address == self.emitter else None
            if fields is not None:
                position = block_number, log.transaction_index, log.log_index
                messages.append(MessageToL1(first + len(messages), *position, **fields))
        return tuple(messages)

    def _fields(self, log: EventLog) -> dict[str, Any] | None:
        """Return MessageToL1's fields from `hash` on; None where the log is another event, or does
        not decode."""
        if log.topics[:1] != (self._topic,) or len(log.topics) != len(self._indexed) + 1:
            return None
        fields = [*self._indexed, *self._unindexed]
        try:
            values = [
                *decode([field.type for field in self._indexed], b"".join(log.topics[1:])),
                *decode([field.type for field in self._unindexed], log.data),
            ]
        except (DecodingError, OverflowError):
            return None
        named = dict(zip([field.name for field in fields], values, strict=True))
        message: dict[str, Any] = dict.fromkeys(("nonce", "target", "value", "gas_limit"))
        message |= named
        message.pop(_NO_FIELD, None)
        for party in ("sender", "target"):
            message[party] = message[party] and data(message[party], 20)
        if isinstance(message["hash"], int):
            message["hash"] = message["hash"].to_bytes(32)
        message["data_size"] = len(message["data"])
        if message["data_size"] > MAX_DATA_BYTES:
            message["data"] = None
        return message


_event = cache(MessageEvent)


def messages_in(block: DecodedBlock) -> tuple[MessageToL1, ...]:
    """Return the messages of a block; none where its chain's form names no event."""
    announced_by = block.message_event
    return _event(*announced_by).messages(block.number, block.logs) if announced_by else ()


HOOKS = Rows(
    tables={"messages_to_l1": SparseTable(MessageToL1, lambda block, _: messages_in(block))},
)
