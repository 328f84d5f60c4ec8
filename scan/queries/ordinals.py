"""The ordinal of a row by its place in the chain, after which a list goes on."""

from scan.queries.reader import Reader


def ordinal_at(
    reader: Reader,
    entity: str,
    block_number: int,
    row_index: int,
    *,
    transaction_index: int = 0,
    batch_index: int = 0,
) -> int:
    """Return the ordinal of a row, or of the next one where there is none; `row_index` is that of
    the transaction or log in its block, or of the internal transfer in its transaction."""
    (ordinal,) = reader.row(
        "queries/ordinals_get",
        entity=entity,
        block_number=block_number,
        transaction_index=transaction_index,
        row_index=row_index,
        batch_index=batch_index,
    )
    return int(ordinal)
