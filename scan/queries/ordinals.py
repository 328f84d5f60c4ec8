"""The ordinal of a row by its place in the chain, at which a list begins."""

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
    """Return the ordinal of a row, or of the next one where there is none; `row_index` is the index
    of a transaction or log in its block, of an internal transfer in its transaction."""
    (ordinal,) = reader.row(
        "queries/ordinals_get",
        entity=entity,
        block_number=block_number,
        transaction_index=transaction_index,
        row_index=row_index,
        batch_index=batch_index,
    )
    return int(ordinal)


def position_before(ordinal: int, direction: str) -> tuple[int]:
    """Return the position in a list after which the row with an ordinal comes first."""
    return (ordinal + 1 if direction == "desc" else ordinal - 1,)
