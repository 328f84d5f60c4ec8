"""What derives of authorizations: the nonce of their account, and whether they took effect."""

from scan.database.transaction import Row, Transaction
from scan.indexer.hooks import BlockRange, Derived, DerivedTable


def derive(tx: Transaction, written: BlockRange) -> list[Row]:
    if "authorizations" in written.listed:
        tx.defer("indexer/authorizations_derive", span=written.span)
    return []


def unwind(tx: Transaction, orphaned: BlockRange) -> None:
    """Change nothing: no authorization depends on later blocks."""


HOOKS = Derived(
    tables={
        "authorizations": DerivedTable(
            "authorization {authorization_index} of block {block_number}, transaction"
            " {transaction_index}",
            bulk_accept="bulk/authorizations_accept",
        )
    },
    derive=derive,
    unwind=unwind,
)
