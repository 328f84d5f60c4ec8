"""Rows of followed contracts' logs. Pure."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice, repeat
from typing import Annotated, NamedTuple

from scan.ethereum import blocks, column_types, sparse_tables
from scan.ethereum.forms.form import PLACE_BITS
from scan.indexer.hooks import Rows

TABLE = "contract_events"
_TOPIC = column_types.Column(column_types.HASH, column_types.PROVEN)


class ContractEvent(NamedTuple):
    """A log of a followed contract; a row of the table contract_events."""

    ordinal: Annotated[int, column_types.Column(column_types.BIGINT, column_types.COMPUTED)]
    block_number: Annotated[int, column_types.Column(column_types.BIGINT, column_types.COMPUTED)]
    transaction_index: Annotated[
        int, column_types.Column(column_types.INTEGER, column_types.PROVEN)
    ]
    log_index: Annotated[int, column_types.Column(column_types.INTEGER, column_types.PROVEN)]
    address: Annotated[bytes, column_types.Column(column_types.ADDRESS, column_types.PROVEN)]
    topic0: Annotated[bytes | None, _TOPIC]
    topic1: Annotated[bytes | None, _TOPIC]
    topic2: Annotated[bytes | None, _TOPIC]
    topic3: Annotated[bytes | None, _TOPIC]
    # None where the table of logs has it.
    data: Annotated[bytes | None, column_types.Column(column_types.BYTES, column_types.PROVEN)]


def contract_events(
    block: blocks.DecodedBlock, emitters: Collection[bytes], are_stored: bool
) -> Iterator[ContractEvent]:
    """Yield the logs of emitters in a block, as many as have ordinals; without their data where
    the table of logs has all."""
    for log in block.logs:
        if log.address in emitters and not log.log_index >> PLACE_BITS:
            places = block.number, log.transaction_index, log.log_index
            data = None if are_stored else log.data
            yield contract_event(*places, log.address, log.topics, data)


def contract_event(
    block_number: int,
    transaction_index: int,
    log_index: int,
    address: bytes,
    topics: Sequence[bytes],
    data: bytes | None,
) -> ContractEvent:
    topic0, topic1, topic2, topic3 = islice(chain(topics, repeat(None)), blocks.MAX_TOPICS)
    ordinal = (block_number << PLACE_BITS) + log_index
    places = ordinal, block_number, transaction_index, log_index
    return ContractEvent(*places, address, topic0, topic1, topic2, topic3, data)


HOOKS = Rows(
    tables={
        TABLE: sparse_tables.FollowedTable(
            ContractEvent,
            contract_events,
            emitters_list="indexer/followed_contracts_list",
            begin="indexer/followed_contracts_begin",
            named_insert="indexer/followed_children_insert",
            named_list="indexer/followed_children_list",
        )
    }
)
