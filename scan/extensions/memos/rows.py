"""Memos in the inputs of a block's transactions. Pure.

A transaction that failed or has logs called a contract, whatever its input looks like, and so did
one whose input is a selector alone if it took more gas than four letters do. Of others only the
state tells, so that texts to a contract are memos, too.
"""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

from scan.ethereum import blocks, sparse_tables
from scan.ethereum.column_types import BIGINT, COMPUTED, HASH, INTEGER, PROVEN, TEXT, Column
from scan.ethereum.display_text import text_hash, text_start
from scan.ethereum.forms.form import PLACE_BITS
from scan.indexer.hooks import Rows

SELECTOR_BYTES = 4
MOST_GAS_OF_LETTERS = blocks.PLAIN_TRANSFER_GAS + 40 * SELECTOR_BYTES  # by EIP-7623


class Memo(NamedTuple):
    """A memo; a row of the table memos. Its text is in one line, without invisible characters."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    transaction_index: Annotated[int, Column(INTEGER, PROVEN)]
    text_hash: Annotated[bytes, Column(HASH, COMPUTED)]
    text: Annotated[str, Column(TEXT, COMPUTED)]


def memos(block: blocks.DecodedBlock) -> Iterator[Memo]:
    if not block.text_inputs:
        return
    with_logs = {log.transaction_index for log in block.contract_logs}
    ordinal = block.number << PLACE_BITS
    for index, content in block.text_inputs:
        transaction = block.transactions[index]
        has_failed = block.has_statuses and not transaction.status
        ran_code = len(content) == SELECTOR_BYTES and transaction.gas_used > MOST_GAS_OF_LETTERS
        is_call = index in with_logs or has_failed or ran_code
        text = "" if is_call else text_start(content)
        if text:
            yield Memo(ordinal, block.number, index, text_hash(text), text)
            ordinal += 1


HOOKS = Rows(tables={"memos": sparse_tables.SparseTable(Memo, lambda block, _: memos(block))})
