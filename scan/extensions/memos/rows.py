"""Memos in the inputs of a block's transactions. Pure.

A transaction with logs called a contract, whatever its input looks like. Of others only the state
tells, so that texts to a contract are memos, too.
"""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from scan import hooks
from scan.contracts.visible_text import text_hash, text_start
from scan.ethereum.blocks import DecodedBlock
from scan.ethereum.column_types import (
    BIGINT,
    COMPUTED,
    HASH,
    INTEGER,
    PROVEN,
    TEXT,
    Column,
)
from scan.ethereum.forms.form import PLACE_BITS
from scan.ethereum.sparse_tables import SparseTable


class Memo(NamedTuple):
    """A memo; a row of the table memos. Its text is in one line, without invisible characters."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    transaction_index: Annotated[int, Column(INTEGER, PROVEN)]
    text_hash: Annotated[bytes, Column(HASH, COMPUTED)]
    text: Annotated[str, Column(TEXT, COMPUTED)]


def memos(block: DecodedBlock) -> Iterator[Memo]:
    if not block.text_inputs:
        return
    calls = {log.transaction_index for log in block.contract_logs}
    ordinal = block.number << PLACE_BITS
    for transaction_index, content in block.text_inputs:
        text = "" if transaction_index in calls else text_start(content)
        if text:
            yield Memo(ordinal, block.number, transaction_index, text_hash(text), text)
            ordinal += 1


HOOKS = hooks.Rows(tables={"memos": SparseTable(Memo, lambda block, _: memos(block))})
