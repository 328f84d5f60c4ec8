"""Forms of blocks beyond Ethereum's: which fields, fees and types a chain adds.

What enters is a block's JSON with its receipts, what leaves is the chain's own fields, parts of
fees, and who got them. A form is one file, listed in FORMS; begin with form.py. docs/chains.md says
which chains have which form, and how to add one.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from scan.ethereum.forms.arbitrum import ARBITRUM
from scan.ethereum.forms.celo import CELO
from scan.ethereum.forms.form import Form, Values
from scan.ethereum.forms.mantle import MANTLE
from scan.ethereum.forms.op_stack import OP_STACK
from scan.ethereum.forms.scroll import SCROLL
from scan.ethereum.forms.zksync import ZKSYNC
from scan.hex import quantity

# The first that a block is of is taken: those that add to another come before it.
FORMS: tuple[Form, ...] = (MANTLE, CELO, ARBITRUM, ZKSYNC, OP_STACK, SCROLL)
# Mainnet, Holesky, Hoodi, Sepolia. No root covers what forms add: a node that adds it is wrong.
ETHEREUM_CHAIN_IDS = frozenset((1, 17_000, 560_048, 11_155_111))

# The fields of JSON that some form reads.
TRANSACTION_FIELDS = frozenset(
    name for form in FORMS for name in (*form.transaction_fields, *form.signs)
) | {"chainId"}
RECEIPT_FIELDS = frozenset(
    name for form in FORMS for name in (*form.receipt_fields, *form.shared_fields, *form.signs)
) | {"l1Fee"}
BLOCK_FIELDS = frozenset(name for form in FORMS for name in form.block_fields)


def form_of(block: Any, sent: Values, received: Values) -> Form | None:
    """The form of a block; None: Ethereum's, or one that nobody has named."""
    present = {
        name
        for fields in (sent, received)
        for name, values in fields.items()
        if values.count(None) < len(values)
    }
    present |= {name for name in BLOCK_FIELDS if getattr(block, name) is not None}
    chain_ids = {quantity(value) for value in set(sent.get("chainId", ())) if value is not None}
    if not ETHEREUM_CHAIN_IDS.isdisjoint(chain_ids):
        return None
    for form in FORMS:
        if not form.chain_ids.isdisjoint(chain_ids) or not form.signs.isdisjoint(present):
            return form
    return None


def form_of_records(block: Any, receipts: Sequence[Any]) -> Form | None:
    """As form_of(), of a block and receipts as structs, of which some have no field of forms."""

    def values(names: Iterable[str], records: Sequence[Any]) -> Values:
        return {name: [getattr(record, name, None) for record in records] for name in names}

    sent = values(TRANSACTION_FIELDS, block.transactions)
    return form_of(block, sent, values(RECEIPT_FIELDS, receipts))
